"""What holds for all tests."""

from hypothesis import settings

# How long an example takes says how busy the machine is, and nothing of the code.
settings.register_profile("arena", deadline=None)
settings.load_profile("arena")
