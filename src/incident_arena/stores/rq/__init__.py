"""RQ: background jobs in a Redis (https://github.com/rq/rq)."""
