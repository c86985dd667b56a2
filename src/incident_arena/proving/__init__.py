"""What is played to prove a task."""
