"""The tests; a package, because an installed distribution ships a package of the same name."""
