// Runs.
