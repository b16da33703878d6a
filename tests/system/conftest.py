collect_ignore = ["additions"]  # what they test is added, with them, to a copy of the repository
