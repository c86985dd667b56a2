"""The TLS gateway: where the agent's calls of its model arrive, are held against the allow-list, and are logged.

gate.py      what is let through, and where it goes
answers.py   what an answer's bytes say while they pass: refusals, and whether a stream came to its end
log.py       one line for each request: time, host, port, bytes, status; never a header or a body
__main__.py  mitmproxy with all that, in the pod `tls-gateway`
"""
