"""The node: a real, single-machine Kubernetes in namespaces of its own, started in seconds.

build.py      the node's binaries, from the Go module in go/
store.py      the prepared image store, so that no image is unpacked at start
spec.py       what one node is: names, addresses, folders
allocate.py   a free index and CPUs for a new node, under a lock
pki.py        its certificate authority and certificates
config.py     its components' configuration files and command lines
init.py       process 1 inside the node's namespaces (standard library only)
supervise.py  the detached process outside: owner watch, memory record, teardown (standard library only)
cgroups.py    control groups of version 1 and 2 (standard library only)
up.py         the stages of starting one
down.py       stopping one, and removing what dead ones left
"""
