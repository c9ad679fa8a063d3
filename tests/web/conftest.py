"""A server of the explorer and a browser, one of each for a module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from explorers import Served, browsing, served

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def explorer() -> Iterator[Served]:
    """Serve the explorer."""
    with served("--at-once", "1", "--rpcs", "9000000") as one:
        yield one


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start the browser."""
    with browsing() as one:
        yield one
