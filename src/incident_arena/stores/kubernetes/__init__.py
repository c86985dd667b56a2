"""The cluster that the application runs in, as a thing that has a state of its own."""
