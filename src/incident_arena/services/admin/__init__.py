"""The admin interface: the typed verbs of an on-call engineer, in the pod `admin`, with an audit of its own.

Verbs on the application as a whole are in the files `components`, `traffic`, `connections`, `declare`; those on a store
in the module `admin` of its kind's folder. Each lists its routes. `server` checks the caller, refuses changes after the
declaration, writes the audit before an act takes effect and its result afterwards. Each route also says how the command
line offers it (`command`); the program `admin` in the agent's pod is made of that alone.
"""
