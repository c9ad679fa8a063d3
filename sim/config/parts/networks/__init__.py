"""The kinds of network that a machine file can have: each module of this package is one.

It has the class of what the machine file says, with the name of the kind as its ``kind``. How such
a network is built stands in :mod:`xc40io.topology`, in the module of that name.
"""

from __future__ import annotations

from functools import reduce
from importlib import import_module
from operator import or_
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Annotated, get_args

from pydantic import Field

from xc40io.config.parts.interconnect import NetworkBase

for _module in iter_modules(__path__, f"{__name__}."):
    import_module(_module.name)

NETWORKS: dict[str, type[NetworkBase]] = {
    kind: model
    for model in NetworkBase.__subclasses__()
    for kind in get_args(model.model_fields["kind"].annotation)
}
"""What a machine file says of a network, by its kind."""

if TYPE_CHECKING:
    Network = NetworkBase
else:
    Network = Annotated[reduce(or_, NETWORKS.values()), Field(discriminator="kind")]
