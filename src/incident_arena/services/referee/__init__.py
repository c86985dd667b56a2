"""The referee: the program in the pod `referee` that plants, watches, challenges and gathers the evidence."""
