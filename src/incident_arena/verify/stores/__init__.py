"""Stores as flat pictures: one file a store, each with `snapshot(...)` that reads meanings, live and persistent apart.

Paths are given here without the store's own name; a snapshot holds one picture under each name (records.Snapshot).
"""
