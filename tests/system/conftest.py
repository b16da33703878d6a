"""What tests of the system share."""

collect_ignore = ["additions"]
"""Tests that are added to a copy of the repository, where what they test is added too."""
