from __future__ import annotations

from hypothesis import settings

# The first example of a test may have to compile or load the data plane.
settings.register_profile("xc40io", deadline=None)
settings.load_profile("xc40io")
