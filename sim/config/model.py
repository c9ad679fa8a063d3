"""What all descriptions have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """What all descriptions have in common: unchangeable, and no unknown field goes unnoticed.

    The check of a description is put together when it is first used: a part such as the network is
    only ever checked with its whole, and needs none of its own.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True
    )
