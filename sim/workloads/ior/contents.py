"""What is in a file of IOR, as far as the library that wrote it must know to read it again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class Contents:
    """What a library keeps of the files that it wrote, so that it can read them again.

    Attributes
    ----------
    api
        The API that wrote them; empty if nobody did, and they are taken to have been there before.
    library
        Whatever the library keeps.
    """

    api: str = ""
    library: Any = None
