"""Images: plain Dockerfiles in `images/<name>/`, built without a daemon and keyed by everything that goes in."""

from incident_arena.images.build import BuiltImage, build_all, find_all, list_all

__all__ = ["BuiltImage", "build_all", "find_all", "list_all"]
