"""Condense the wiring of Theta, tile by tile, to which routers are joined by how many links.

``python tests/topology/condense_wiring.py theta.interconnect.gz theta_wiring_2016.txt.gz`` made the
table beside this file. The wiring is in the repository codes-org/codes
(scripts/gen-cray-topo/theta.interconnect); its licence allows redistribution with its notice, which
the table carries at its head.
"""

from __future__ import annotations

import gzip
import re
import sys
from collections import Counter
from pathlib import Path

_TILE = r"(c\d+-\d+c\d+s\d+)a0l\d+\((\d+):(\d+):(\d+)\)"
_LINE = re.compile(rf"{_TILE} (green|black|blue) -> {_TILE}")
_LETTER = {"green": "g", "black": "k", "blue": "b"}

NOTICE = """\
# Theta, Cray XC40, in its stage of nine groups (2016): which Aries routers are joined. A line for
# each router: name, group:chassis:slot, then the routers after it in this list that it is joined
# with, as links x colour (g green, k black, b blue) x position of the other one in the list.
# Condensed from theta.interconnect of CODES (codes-org/codes) by condense_wiring.py.
#
# Copyright (c) 2019, UChicago Argonne, LLC. All rights reserved. Software name: CO-Design of
# Exascale Storage and Network Architectures (CODES). By Argonne National Laboratory, Rensselaer
# Polytechnic Institute, Lawrence Livermore National Laboratory, and Illinois Institute of
# Technology. Redistribution and use in source and binary forms, with or without modification, are
# permitted provided that the following conditions are met: 1. Redistributions of source code must
# retain the above copyright notice, this list of conditions and the following disclaimer. 2.
# Redistributions in binary form must reproduce the above copyright notice, this list of
# conditions and the following disclaimer in the documentation and/or other materials provided
# with the distribution. 3. Neither the name of the copyright holder nor the names of its
# contributors may be used to endorse or promote products derived from this software without
# specific prior written permission. THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND
# CONTRIBUTORS "AS IS" AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE
# IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO
# EVENT SHALL THE COPYRIGHT HOLDER OR CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL,
# SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF
# SUBSTITUTE GOODS OR SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER
# CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING
# NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS SOFTWARE, EVEN IF ADVISED OF
# THE POSSIBILITY OF SUCH DAMAGE.
"""


def condense(wiring: Path) -> str:
    """Return the table of a wiring.

    Raises
    ------
    ValueError
        If a cable has other links in one direction than in the other.
    """
    links: Counter[tuple[str, str, str]] = Counter()
    place: dict[str, tuple[int, ...]] = {}
    with gzip.open(wiring, "rt") as lines:
        for match in filter(None, map(_LINE.match, lines)):
            links[match[5], match[1], match[6]] += 1
            place[match[1]] = tuple(map(int, match.group(2, 3, 4)))
    if any(links[colour, far, near] != count for (colour, near, far), count in links.items()):
        raise ValueError(f"{wiring}: a cable has other links in one direction than in the other")
    order = sorted(place, key=lambda name: place[name])
    position = {name: number for number, name in enumerate(order)}
    joined: dict[str, list[tuple[int, str, int]]] = {name: [] for name in order}
    for (colour, near, far), count in links.items():
        if position[near] < position[far]:
            joined[near].append((position[far], _LETTER[colour], count))
    rows = [
        " ".join(
            [name, ":".join(map(str, place[name]))]
            + [f"{count}{letter}{far}" for far, letter, count in sorted(joined[name])]
        )
        for name in order
    ]
    return NOTICE + "\n".join(rows) + "\n"


if __name__ == "__main__":
    Path(sys.argv[2]).write_bytes(
        gzip.compress(condense(Path(sys.argv[1])).encode(), compresslevel=9, mtime=0)
    )
