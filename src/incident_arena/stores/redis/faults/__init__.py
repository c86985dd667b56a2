"""What can be broken in this kind of store: one file a fault, by the name of its aspect."""
