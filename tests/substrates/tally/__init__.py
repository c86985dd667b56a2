"""The smallest application: what docs/substrates.md walks through. One web server, one Redis."""
