"""The reader of logs stands on parts of pydarshan that are nobody's interface: are they there?

If one of these fails, pydarshan has another version than the reader was written for. Look at what
``sim/workloads/darshan/reader.py`` takes from ``darshan.backend.cffi_backend``, compare the
structures there with those of ``darshan-util``, run the other tests of Darshan logs, and move the
bounds of ``darshan`` in setup.cfg.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from darshan.backend import cffi_backend
from darshan_logs import posix_writes, write_log

from xc40io.workloads.darshan.log import MAGIC, VERSIONS
from xc40io.workloads.darshan.reader import COUNTED, DXT, NAMED, SEGMENT

TESTED = ("3.4.6", "3.4.7", "3.5.0")
"""Versions of libdarshan-util with which the tests of logs have passed."""

FIELDS = {
    "struct darshan_base_record": {"id", "rank"},
    "struct darshan_posix_file": {"base_rec", "counters", "fcounters"},
    "struct darshan_mpiio_file": {"base_rec", "counters", "fcounters"},
    "struct darshan_stdio_file": {"base_rec", "counters", "fcounters"},
    "struct darshan_lustre_record": {"base_rec", "num_comps", "num_stripes", "comps", "ost_ids"},
    "struct dxt_file_record": {"base_rec", "hostname", "write_count", "read_count"},
    "struct darshan_apmpi_perf_record": {"base_rec", "node_name"},
}


def test_this_version_was_tested() -> None:
    assert cffi_backend.get_lib_version() in TESTED, __doc__


def test_each_module_that_is_read_has_its_structure() -> None:
    structs = cffi_backend._structdefs
    assert {*COUNTED, *NAMED, *DXT, "LUSTRE", "APMPI-PERF"} <= structs.keys(), __doc__
    for name in COUNTED:
        assert structs[name].endswith("**"), f"{name}: {structs[name]} is no pointer to a record's"


@pytest.mark.parametrize("struct", FIELDS)
def test_structures_have_the_fields_that_are_read(struct: str) -> None:
    there = dict(cffi_backend.ffi.typeof(struct).fields)
    assert FIELDS[struct] <= there.keys(), __doc__


def test_a_segment_has_the_size_that_the_library_gives_it() -> None:
    assert cffi_backend.ffi.sizeof("struct segment_info") == SEGMENT.itemsize


@pytest.mark.parametrize(
    "name", ["log_open", "log_get_job", "log_get_exe", "log_get_mounts", "log_get_modules"]
)
def test_functions_of_pydarshan_are_there(name: str) -> None:
    assert callable(getattr(cffi_backend, name, None)), __doc__


@pytest.mark.parametrize("name", ["darshan_log_get_job", "darshan_log_get_record", "darshan_free"])
def test_functions_of_the_library_are_there(name: str) -> None:
    assert getattr(cffi_backend.libdutil, name, None) is not None, __doc__


def test_the_format_that_the_library_writes_is_among_those_that_are_read(tmp_path: Path) -> None:
    head = write_log(tmp_path / "v.darshan", POSIX=[posix_writes(0, 1, 1)]).read_bytes()[:16]
    assert int.from_bytes(head[8:16], "little") == MAGIC
    version = head[:8].rstrip(b"\0").decode()
    assert version in VERSIONS, f"format {version}: read what is new in it, then add it to VERSIONS"
