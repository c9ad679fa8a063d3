from __future__ import annotations

import dragonflies
import pytest

from xc40io.topology import Fabric


@pytest.fixture(scope="session")
def theta() -> Fabric:
    return dragonflies.theta()
