"""An application that nobody knows, by what it writes: as a command of IOR, or as a skeleton.

IOR writes what is contiguous, and small pieces of ranks in turn. What one call puts in many places
(pieces in turn in a collective call, blocks of an array) a skeleton says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from pydantic import model_validator

from xc40io.config.model import Model
from xc40io.config.units import SHORT_SIZES, Count, Size, format_bytes

Library = Literal["posix", "mpiio", "hdf5", "pnetcdf"]
LIBRARIES = get_args(Library)
_OF_IOR = {"posix": "POSIX", "mpiio": "MPIIO", "hdf5": "HDF5", "pnetcdf": "NCMPI"}


class Application(Model):
    """What an application does each time it writes.

    Attributes
    ----------
    size
        Bytes of each rank.
    files
        ``one`` for all ranks, or ``each`` rank its own.
    layout
        ``contiguous``: what a rank writes lies together. ``strided``: pieces of all ranks in turn.
        ``blocks``: of an array.
    piece
        Bytes of a piece, of what is strided.
    dims, ranks, element
        Of blocks: elements of the whole array along each dimension, blocks along each, bytes of an
        element.
    library, collective
        Through what, and whether all ranks call together.
    """

    size: Size | None = None
    files: Literal["one", "each"] = "one"
    layout: Literal["contiguous", "strided", "blocks"] = "contiguous"
    piece: Size | None = None
    dims: tuple[Count, ...] = ()
    ranks: tuple[Count, ...] = ()
    element: Size = 8
    library: Library = "posix"
    collective: bool = False

    @model_validator(mode="after")
    def _goes_together(self) -> Application:
        if self.layout == "blocks":
            if not self.dims or len(self.dims) != len(self.ranks):
                raise ValueError(
                    f"layout = blocks with {len(self.dims)} dims and {len(self.ranks)} ranks; "
                    "right would be one of both for each dimension, as in 512x512x512 and 4x4x4"
                )
        elif self.size is None:
            raise ValueError("size is missing; right would be the bytes of each rank, as in 93 MiB")
        if self.layout == "strided" and self.piece is None:
            raise ValueError("piece is missing; right would be its bytes, as in 64 KiB")
        if self.piece is not None and self.size is not None and self.size % self.piece:
            raise ValueError(
                f"size = {format_bytes(self.size)} is not a multiple of piece = "
                f"{format_bytes(self.piece)}"
            )
        if self.files == "each" and self.layout != "contiguous":
            raise ValueError(f"files = each with layout = {self.layout}; right would be contiguous")
        if self.collective and (self.library == "posix" or self.files == "each"):
            raise ValueError(
                "collective = true: ranks call together through MPI-IO, HDF5 or PnetCDF, and into "
                "one file"
            )
        return self

    @property
    def needs_skeleton(self) -> bool:
        """Whether one call of it goes to many places."""
        return self.layout == "blocks" or (self.layout == "strided" and self.collective)

    def ior(self) -> str:
        """Return the options of IOR that write so."""
        assert self.size is not None  # as of all that needs no skeleton
        words = ["-a", _OF_IOR[self.library], "-w"]
        words += ["-F"] if self.files == "each" else []
        words += ["-c"] if self.collective else []
        call = self.piece if self.layout == "strided" and self.piece else self.size
        words += ["-b", SHORT_SIZES.write(call), "-t", SHORT_SIZES.write(call)]
        words += ["-s", str(self.size // call)] if call != self.size else []
        return " ".join(words)

    def skeleton(self) -> dict[str, Any]:
        """Return the skeleton that writes so, as a file holds it."""
        where: dict[str, Any]
        if self.layout == "blocks":
            array = {"dims": list(self.dims), "ranks": list(self.ranks), "element": self.element}
            where = {"blocks": array}
        else:
            where = {"size": self.size, "pattern": "strided", "piece": self.piece}
        api = "posix" if self.library == "posix" else "mpiio"
        return {
            "summary": "an application that was described",
            "description": self._description(),
            "files": {"data": {"api": api}},
            "phases": [
                {"create": "data"},
                "barrier",
                {"write": {"file": "data", **where, "collective": self.collective}},
                "barrier",
                {"close": "data"},
            ],
        }

    def _description(self) -> str:
        if self.library in ("hdf5", "pnetcdf"):
            return (
                "The data of its library, as MPI-IO gets them; what that keeps beside is left out."
            )
        return ""

    def workload(self, skeleton: str) -> Mapping[str, Any]:
        """Return what stands in a scenario; ``skeleton`` is where the file of one stands."""
        return {"kernel": {"name": skeleton}} if self.needs_skeleton else {"ior": self.ior()}
