"""Harbor's names for the pods that it talks to."""

MAIN = "main"
"""The agent's, Harbor's main service."""
REFEREE = "referee"
