"""The process that reads logs: kept from log to log, and replaced when it is gone."""

from __future__ import annotations

import os
import signal

import pytest
from darshan_logs import posix_writes, write_log

from xc40io.config.errors import InputError
from xc40io.workloads.darshan import reading_process
from xc40io.workloads.darshan.log import read_log


def test_one_process_reads_log_after_log_and_another_takes_its_place(tmp_path):
    log = write_log(tmp_path / "a.darshan", POSIX=[posix_writes(0, 1, 2**20)])
    read_log(log)
    (reader,) = reading_process._IDLE
    read_log(log)
    assert [reader] == reading_process._IDLE
    os.kill(reader._process.pid, signal.SIGKILL)
    with pytest.raises(InputError, match="libdarshan-util cannot read it"):
        read_log(log)
    assert read_log(log).posix.total("WRITES") == 1


def test_a_process_that_has_gone_before_it_is_asked_is_replaced(tmp_path):
    log = write_log(tmp_path / "a.darshan", POSIX=[posix_writes(0, 1, 2**20)])
    read_log(log)
    (reader,) = reading_process._IDLE
    os.kill(reader._process.pid, signal.SIGKILL)
    os.waitid(os.P_PID, reader._process.pid, os.WEXITED | os.WNOWAIT)
    with pytest.raises(InputError, match="libdarshan-util cannot read it"):
        read_log(log)
    assert read_log(log).posix.total("WRITES") == 1


def test_a_log_that_takes_too_long_leaves_the_process_to_the_next(tmp_path):
    log = write_log(tmp_path / "a.darshan", POSIX=[posix_writes(0, 1, 2**20)])
    with pytest.raises(InputError, match="did not end within"):
        read_log(log, time_limit=1e-6)
    assert read_log(log).posix.total("WRITES") == 1
