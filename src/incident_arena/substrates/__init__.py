"""Applications: one folder each, with all that is its own."""
