"""Tasks and what they build on: found, validated, exported."""
