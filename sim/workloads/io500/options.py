"""The options of IO500: what may stand in which section of its file, and what it is if it does not.

They are those of IO500 of SC25, the sections in the order of its phases.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Kind(Enum):
    """What the value of an option is."""

    TEXT = "a text"
    COUNT = "a whole number, 0 or more"
    WHOLE = "a whole number"
    NUMBER = "a number"
    TRUTH = "TRUE or FALSE"


class Option(NamedTuple):
    """An option of IO500."""

    kind: Kind  # what its value is
    default: str | None = None  # of it; None: none


_API = {"API": Option(Kind.TEXT)}
_RUN = {"run": Option(Kind.TRUTH, "TRUE")}
_VERBOSITY = {"verbosity": Option(Kind.WHOLE)}
_PHASE = _API | _RUN
_COLLECTIVE = {"collective": Option(Kind.TRUTH)}
_RANDOM = {
    **_API,
    "blockSize": Option(Kind.COUNT, "1073741824"),
    **_RUN,
    **_VERBOSITY,
    "randomPrefill": Option(Kind.WHOLE, "0"),
}
_FIND = {
    "external-script": Option(Kind.TEXT),
    "external-mpi-args": Option(Kind.TEXT, ""),
    "external-extra-args": Option(Kind.TEXT, ""),
    "nproc": Option(Kind.COUNT),
    **_RUN,
    "pfind-queue-length": Option(Kind.WHOLE, "10000"),
    "pfind-steal-next": Option(Kind.TRUTH, "FALSE"),
    "pfind-parallelize-single-dir-access-using-hashing": Option(Kind.TRUTH, "FALSE"),
}

SECTIONS: dict[str, dict[str, Option]] = {
    "global": {
        "datadir": Option(Kind.TEXT, "./datafiles"),
        "timestamp-datadir": Option(Kind.TRUTH, "TRUE"),
        "resultdir": Option(Kind.TEXT, "./results"),
        "timestamp-resultdir": Option(Kind.TRUTH, "TRUE"),
        "api": Option(Kind.TEXT, "POSIX"),
        "drop-caches": Option(Kind.TRUTH, "FALSE"),
        "drop-caches-cmd": Option(Kind.TEXT, 'sudo -n bash -c "echo 3 > /proc/sys/vm/drop_caches"'),
        "io-buffers-on-gpu": Option(Kind.TRUTH, "FALSE"),
        "verbosity": Option(Kind.COUNT, "1"),
        "scc": Option(Kind.TRUTH, "FALSE"),
        "dataPacketType": Option(Kind.TEXT, "timestamp"),
    },
    "debug": {
        "stonewall-time": Option(Kind.WHOLE, "300"),
        "pause-dir": Option(Kind.TEXT),
    },
    "ior-easy": {
        **_API,
        "transferSize": Option(Kind.TEXT, "2m"),
        "blockSize": Option(Kind.TEXT, "9920000m"),
        "filePerProc": Option(Kind.TRUTH, "TRUE"),
        "uniqueDir": Option(Kind.TRUTH, "FALSE"),
        **_RUN,
        **_VERBOSITY,
    },
    "ior-easy-write": _PHASE,
    "ior-rnd4K": _RANDOM,
    "ior-rnd4K-write": _PHASE,
    "mdtest-easy": {**_API, "n": Option(Kind.COUNT, "1000000"), **_RUN},
    "mdtest-easy-write": _PHASE,
    "ior-rnd1MB": _RANDOM,
    "ior-rnd1MB-write": _PHASE,
    "mdworkbench": {
        **_API,
        "waitingTime": Option(Kind.NUMBER, "0.0"),
        "precreatePerSet": Option(Kind.COUNT),
        "filesPerProc": Option(Kind.COUNT),
        **_RUN,
        **_VERBOSITY,
    },
    "mdworkbench-create": _RUN,
    "timestamp": {},
    "find-easy": _FIND,
    "ior-hard": {
        **_API,
        "segmentCount": Option(Kind.WHOLE, "10000000"),
        **_COLLECTIVE,
        **_RUN,
        **_VERBOSITY,
    },
    "ior-hard-write": {**_API, **_COLLECTIVE, **_RUN},
    "mdtest-hard": {
        **_API,
        "n": Option(Kind.COUNT, "1000000"),
        "files-per-dir": Option(Kind.COUNT),
        **_RUN,
    },
    "mdtest-hard-write": _PHASE,
    "find": _FIND,
    "ior-rnd4K-read": _PHASE,
    "ior-rnd1MB-read": _PHASE,
    "find-hard": _FIND,
    "mdworkbench-bench": _RUN,
    "ior-easy-read": _PHASE,
    "mdtest-easy-stat": _PHASE,
    "ior-hard-read": {**_API, **_COLLECTIVE, **_RUN},
    "mdtest-hard-stat": _PHASE,
    "mdworkbench-delete": _RUN,
    "mdtest-easy-delete": _PHASE,
    "mdtest-hard-read": _PHASE,
    "mdtest-hard-delete": _PHASE,
    "ior-rnd4K-easy-read": _PHASE,
}
"""The options of each section, by name."""

OLDER: dict[str, str] = {
    "noRun": "run = FALSE",
    "posix.odirect": "API = POSIX --posix.odirect",
    "hintsFileName": "API = MPIIO --mpiio.hintsFileName=FILE",
}
"""Options of older versions that are no more, and what says the same now."""
