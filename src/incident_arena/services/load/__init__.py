"""The load: seeded arrivals on a fixed schedule against the application, and the ledger of what came of them.

schedule.py    when which kind of operation is due
generator.py   sends the operations when they are due, whatever the latency
api.py         what the referee asks it
__main__.py    the program in the pod `load`
"""
