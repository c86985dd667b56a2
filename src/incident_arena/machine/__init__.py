"""The machine: what it has, what it lacks, and the remedy."""
