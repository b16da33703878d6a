// Filters.
