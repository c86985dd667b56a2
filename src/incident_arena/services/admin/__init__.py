"""The admin interface: the typed verbs of an on-call engineer, in the pod `admin`, with an audit of its own.

Every verb is in one of the files `components`, `traffic`, `mariadb`, `redis_store`, `queue`, `connections`, `declare`;
each of these lists its routes. `server` checks the caller, refuses changes after the declaration, writes the audit
before an act takes effect and its result afterwards.
"""
