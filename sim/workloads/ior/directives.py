"""IOR's directives: the ``name=value`` settings behind its options, ``-O`` and its scripts.

Every way to set a parameter (a letter, a long option, ``-O name=value``, a line of a script) ends
in `apply`, so each parameter is converted and judged in one place.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from sim.config.errors import InputError
from sim.workloads.command_line import parse_size
from sim.workloads.ior.parameters import SIMULATED_APIS, IorTest

# fmt: off
_OTHER_APIS = (
    "AIO", "CEPHFS", "CHFS", "DAOS", "DFS", "FINCHFS", "GFARM", "HDFS", "IME", "LIBNFS", "NC4",
    "PMDK", "RADOS", "S3", "S3-4C", "S3-LIBS3", "S3_EMC",
)
# fmt: on


def _integer(text: str) -> int:
    try:
        return parse_size(text)
    except ValueError as error:
        too_large = str(error).startswith("too large")
        raise ValueError(str(error) if too_large else "not a whole number") from None


def _flag(text: str) -> bool:
    if text not in ("0", "1"):
        raise ValueError("neither 0 (off) nor 1 (on)")
    return text == "1"


def _level(text: str) -> int:
    level = _integer(text)
    if level < 0:
        raise ValueError("negative")
    return level


def _verbosity(text: str) -> dict[str, Any]:
    level = _level(text)
    if level < 2:
        return {"verbose": level}
    more = "-v twice or more: what IOR then prints besides, for its own developers, is left out."
    return {"verbose": level, "remarks": (more,)}


def _text(text: str) -> str:
    if not text:
        raise ValueError("empty")
    return text


def _api(text: str) -> dict[str, Any]:
    api = text.upper()
    if api in SIMULATED_APIS:
        return {"api": api, "api_as_typed": text}
    simulated = f"{', '.join(SIMULATED_APIS[:-1])} and {SIMULATED_APIS[-1]}"
    if api in _OTHER_APIS:
        raise ValueError(f"an API of IOR that is not simulated; {simulated} are")
    raise ValueError(f"not an API of IOR; {simulated} are simulated")


def _version(text: str) -> int:
    match = re.fullmatch(r"\s*([34])(?:\.[0-9]+)*\s*", text)
    if match is None:
        raise ValueError("not a version of IOR that is simulated; give 3 or 4, as in 3.0.1")
    return int(match[1])


def _packet_type(text: str) -> str:
    types = ("offset", "incompressible", "timestamp", "random", "o", "i", "t", "r")
    if text not in types:
        raise ValueError(f"not a data packet type; give one of {', '.join(types)}")
    return text


def _tasks(text: str) -> int | None:
    return _integer(text) or None


def _count(text: str) -> int | None:
    """Read a number that is left to the job if it is 0, or -1 as IOR has it."""
    number = _integer(text)
    return number if number > 0 else None


def _whole_seconds(text: str) -> dict[str, Any]:
    """Read seconds; of a number with a point IOR reads what stands before it."""
    match = re.fullmatch(r"\s*([+-]?[0-9]+)\.[0-9]*\s*", text)
    if match is None:
        return {"delay": _integer(text)}
    delay = _integer(match[1])
    return {
        "delay": delay,
        "remarks": (f"-d {text.strip()}: IOR takes whole seconds, and so reads {delay}.",),
    }


def _microseconds(text: str) -> float:
    return _integer(text) * 1e-6


def _minutes(text: str) -> int:
    return _integer(text) * 60


def _summary_format(text: str) -> str:
    formats = {"default": "default", "json": "JSON", "csv": "CSV"}
    if text.lower() not in formats:
        raise ValueError("not a summary format; give default, JSON or CSV")
    return formats[text.lower()]


def _node_memory(text: str) -> dict[str, int]:
    """Read a size, or a percentage of the node's memory; each form unsets the other."""
    unset = {"node_memory": 0, "node_memory_percent": 0, "task_memory": 0}
    share = re.fullmatch(r"\s*([0-9]{1,3})\s*%\s*", text)
    if share is None:
        return unset | {"node_memory": parse_size(text)}
    if int(share[1]) > 100:
        raise ValueError("above 100 %")
    return unset | {"node_memory_percent": int(share[1])}


def _task_memory(text: str) -> dict[str, int]:
    return {"node_memory": 0, "node_memory_percent": 0, "task_memory": parse_size(text)}


_Setter = Callable[[str], dict[str, Any]]  # from the value typed to the fields of the test


def _sets(field: str, convert: Callable[[str], object] = _flag) -> _Setter:
    """Make the directive that sets one field to the converted value."""
    return lambda text: {field: convert(text)}


def _checks(convert: Callable[[str], object]) -> _Setter:
    """Make the directive that looks at its value, but stores nothing."""

    def check(text: str) -> dict[str, Any]:
        convert(text)
        return {}

    return check


@dataclass(frozen=True)
class _Refusal:
    """A directive that would matter, but that has no counterpart here; ``why`` says so."""

    why: str
    harmless: tuple[str, ...] = ("0",)


_NO_GPU = _Refusal("the compute nodes of a Cray XC40 have no GPU", ("0", "-1"))
_NOT_LUSTRE = _Refusal("the simulated file system is Lustre", ("0", "-1"))

_DIRECTIVES: dict[str, _Setter | _Refusal] = {
    "api": _api,
    "testfile": _sets("test_file", _text),
    "blocksize": _sets("block_size", parse_size),
    "transfersize": _sets("transfer_size", parse_size),
    "segmentcount": _sets("segments", _integer),
    "repetitions": _sets("repetitions", _integer),
    "numtasks": _sets("tasks", _tasks),
    "numnodes": _sets("nodes", _count),
    "numtasksonnode0": _sets("tasks_on_first_node", _count),
    "writefile": _sets("write"),
    "readfile": _sets("read"),
    "checkwrite": _sets("check_write"),
    "checkread": _sets("check_read"),
    "keepfile": _sets("keep_file"),
    "useexistingtestfile": _sets("use_existing_file"),
    "fileperproc": _sets("file_per_process"),
    "uniquedir": _sets("unique_directory"),
    "multifile": _sets("file_per_repetition"),
    "collective": _sets("collective"),
    "reordertasks": _sets("reorder_constant"),
    "reordertasksconstant": _sets("reorder_constant"),
    "taskpernodeoffset": _sets("task_offset", _integer),
    "reordertasksrandom": _sets("reorder_random", _level),
    "reordertasksrandomseed": _sets("reorder_seed", _integer),
    "randomoffset": _sets("random_offset", _level),
    "random-offset-seed": _sets("random_offset_seed", _integer),
    "randomprefill": _sets("prefill", parse_size),
    "fsync": _sets("fsync"),
    "fsyncperwrite": _sets("fsync_per_write"),
    "intratestbarriers": _sets("barriers"),
    "intertestdelay": _whole_seconds,
    "interiodelay": _sets("call_delay", _microseconds),
    "deadlineforstonewalling": _sets("deadline", _integer),
    "stonewallingwearout": _sets("wear_out"),
    "stonewallingwearoutiterations": _sets("wear_out_calls", _integer),
    "stonewallingstatusfile": _sets("stonewall_file", _text),
    "mintimeduration": _sets("min_duration", _integer),
    "maxtimeduration": _sets("max_duration", _minutes),
    "useo_direct": _sets("direct_io"),
    "rangelocks": _sets("range_locks"),
    "dummydelaycreate": _sets("dummy_create", _microseconds),
    "dummydelayclose": _sets("dummy_close", _microseconds),
    "dummydelaysync": _sets("dummy_sync", _microseconds),
    "dummydelayxfer": _sets("dummy_transfer", _microseconds),
    "dummydelayonlyrank0": _sets("dummy_first_only"),
    "mmapmadvise": _checks(_flag),
    "lustrestripecount": _sets("stripe_count", _integer),
    "lustrestripesize": _sets("stripe_size", parse_size),
    "lustrestartost": _sets("start_ost", _integer),
    "lustrepool": _sets("pool", _text),
    "lustreignorelocks": _sets("ignore_locks"),
    "hintsfilename": _sets("hints_file", _text),
    "showhints": _sets("show_hints"),
    "iorversion": _sets("version", _version),  # the simulator's own: no IOR has it
    "preallocate": _sets("preallocate"),
    "usefileview": _sets("file_view"),
    "usestrideddatatype": _sets("strided_datatype"),
    "individualdatasets": _sets("individual_datasets"),
    "nofill": _sets("no_fill"),
    "setalignment": _sets("alignment", parse_size),
    "chunksize": _sets("chunk_size", _integer),
    "collectivemetadata": _sets("collective_metadata"),
    "memorypernode": _node_memory,
    "memorypertask": _task_memory,
    "refnum": _sets("reference_number", _integer),
    "verbose": _verbosity,
    "summaryfile": _sets("summary_file", _text),
    "summaryformat": _sets("summary_format", _summary_format),
    "saverankperformancedetailscsv": _sets("rank_details_file", _text),
    "saveperopdatacsv": _sets("call_details_file", _text),
    "datapackettype": _checks(_packet_type),
    "debug": _checks(_text),
    "dualmount": _sets("dual_mount"),
    "keepfilewitherror": _checks(_flag),
    "outlierthreshold": _checks(_integer),
    "platform": _checks(_text),
    "quitonerror": _checks(_flag),
    "settimestampsignature": _sets("signature", _integer),
    "singlexferattempt": _checks(_flag),
    "storefileoffset": _checks(_flag),
    "summaryalways": _checks(_flag),
    "warningaserrors": _checks(_flag),
    "allocatebufferongpu": _NO_GPU,
    "gpuid": _NO_GPU,
    "gpudirect": _NO_GPU,
    "beegfsnumtargets": _NOT_LUSTRE,
    "beegfschunksize": _NOT_LUSTRE,
    "gpfshintaccess": _NOT_LUSTRE,
    "gpfsreleasetoken": _NOT_LUSTRE,
    "gpfsfinegrain": _NOT_LUSTRE,
    "dryrun": _Refusal("a simulation touches no file in any case"),
    "usesharedfilepointer": _Refusal("shared file pointers do not work in IOR either"),
}

# What changes messages or the contents of buffers, or concerns errors that do not happen here:
# accepted, and named to the user.
# fmt: off
_WITHOUT_EFFECT = frozenset({
    "datapackettype", "debug", "dualmount", "keepfilewitherror", "mmapmadvise", "outlierthreshold",
    "platform", "quitonerror", "settimestampsignature", "singlexferattempt",
    "storefileoffset", "summaryalways", "warningaserrors",
})
# fmt: on

# The long options of IOR 4.x, in lower case, and their directives.
LONG_FLAGS = {
    "--collective": "collective",
    "--dryrun": "dryrun",
    "--dummy.delay-only-rank0": "dummydelayonlyrank0",
    "--gpudirect": "gpudirect",
    "--hdf5.collectivemetadata": "collectivemetadata",
    "--hdf5.individualdatasets": "individualdatasets",
    "--hdf5.nofill": "nofill",
    "--hdf5.showhints": "showhints",
    "--mmap.madv_dont_need": "mmapmadvise",
    "--mmap.madv_pattern": "mmapmadvise",
    "--mpiio.preallocate": "preallocate",
    "--mpiio.showhints": "showhints",
    "--mpiio.usefileview": "usefileview",
    "--mpiio.usestrideddatatype": "usestrideddatatype",
    "--ncmpi.preallocate": "preallocate",
    "--ncmpi.showhints": "showhints",
    "--ncmpi.usefileview": "usefileview",
    "--ncmpi.usestrideddatatype": "usestrideddatatype",
    "--posix.gpfs.finegrainreadsharing": "gpfsfinegrain",
    "--posix.gpfs.finegrainwritesharing": "gpfsfinegrain",
    "--posix.gpfs.hintaccess": "gpfshintaccess",
    "--posix.gpfs.releasetoken": "gpfsreleasetoken",
    "--posix.lustre.ignorelocks": "lustreignorelocks",
    "--posix.odirect": "useo_direct",
    "--posix.rangelocks": "rangelocks",
    "--warningaserrors": "warningaserrors",
}
LONG_VALUES = {
    "--datapackettype": "datapackettype",
    "--dummy.delay-close": "dummydelayclose",
    "--dummy.delay-create": "dummydelaycreate",
    "--dummy.delay-sync": "dummydelaysync",
    "--dummy.delay-xfer": "dummydelayxfer",
    "--hdf5.chunksize": "chunksize",
    "--hdf5.hintsfilename": "hintsfilename",
    "--hdf5.setalignment": "setalignment",
    "--mpiio.hintsfilename": "hintsfilename",
    "--ncmpi.hintsfilename": "hintsfilename",
    "--posix.beegfs.chunksize": "beegfschunksize",
    "--posix.beegfs.numtargets": "beegfsnumtargets",
    "--posix.lustre.pool": "lustrepool",
    "--posix.lustre.startost": "lustrestartost",
    "--posix.lustre.stripecount": "lustrestripecount",
    "--posix.lustre.stripesize": "lustrestripesize",
    "--random-offset-seed": "random-offset-seed",
    "--randomprefill": "randomprefill",
}
_LONG = LONG_FLAGS | LONG_VALUES


def apply(test: IorTest, name: str, value: str, spelled: str) -> IorTest:
    """Set one parameter.

    Parameters
    ----------
    test
        The test so far.
    name
        A directive in any case (``blockSize``), or a long option of IOR 4.x, with its dashes or
        without (``posix.odirect``).
    value
        What stands behind it.
    spelled
        The option as the user wrote it, for messages and for the note on options without effect.

    Returns
    -------
    IorTest
        A copy of the test with the parameter set.

    Raises
    ------
    InputError
        For a name that IOR does not have, a value that does not fit, or a setting that matters on
        a real machine but is not simulated.
    """
    key = name.lower()
    key = _LONG.get(key) or _LONG.get(f"--{key}") or key
    directive = _DIRECTIVES.get(key)
    if directive is None:
        raise InputError(f"{spelled}: IOR has no such option or directive")
    if isinstance(directive, _Refusal):
        if value in directive.harmless:
            return test
        raise InputError(f"{spelled}: {directive.why}; leave this option out")
    try:
        fields = directive(value)
    except ValueError as error:
        raise InputError(f"{spelled}: {value!r} is {error}") from None
    if key in _WITHOUT_EFFECT:
        fields["without_effect"] = (*test.without_effect, spelled)
    if "remarks" in fields:
        fields["remarks"] = (*test.remarks, *fields["remarks"])
    return replace(test, **fields)


def apply_line(test: IorTest, line: str) -> IorTest:
    """Apply a comma-separated list of ``name=value`` directives, as behind ``-O``.

    Raises
    ------
    InputError
        As `apply`; also for a piece that is not of the form ``name=value``.
    """
    for piece in line.split(","):
        name, equals, value = (part.strip() for part in piece.partition("="))
        if not (name and equals):
            raise InputError(f"{piece.strip()!r} is not of the form name=value")
        test = apply(test, name, value, name)
    return test
