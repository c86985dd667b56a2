"""Results: what job folders say, and how sure one can be of it. Reads records; never writes into them."""
