"""Random numbers that do not depend on the order in which anybody asks for them.

Every component draws from a stream of its own, addressed by the seed of the scenario and the name
of the component: adding a draw to one never shifts the numbers of another.
"""

from __future__ import annotations

import hashlib

import numpy as np


def stream(seed: int, *name: str | int) -> np.random.Generator:
    """Return the random stream of a component.

    Parameters
    ----------
    seed
        Seed of the scenario.
    name
        Path of the component, such as ``("ost speed",)`` or ``("jitter", repetition)``.
    """
    text = "/".join([str(seed), *map(str, name)])
    key = np.frombuffer(hashlib.sha256(text.encode()).digest()[:16], np.uint64)
    return np.random.Generator(np.random.Philox(key=key))
