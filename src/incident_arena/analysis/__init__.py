"""Results: what job folders say, and how sure one can be of it. Nothing here plays an episode or decides a reward."""
