"""The command line `arena`: one file a verb; errors become one message and an exit status in main.py alone."""
