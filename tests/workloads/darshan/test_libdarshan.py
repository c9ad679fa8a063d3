"""Where there is no pydarshan, as on the newest Pythons, a log is refused in a sentence."""

from __future__ import annotations

import pytest
from darshan_logs import posix_writes, write_log

from xc40io.config.errors import FailureError
from xc40io.workloads.darshan.log import read_log


def test_a_log_without_pydarshan_is_refused_with_what_would_be_right(tmp_path, monkeypatch):
    log = tmp_path / "own.darshan"
    write_log(log, ranks=1, POSIX=[posix_writes(0, 1, 2**20)])
    assert read_log(log).ranks == 1
    monkeypatch.setattr("xc40io.config.extras.find_spec", lambda _: None)
    with pytest.raises(FailureError, match=r"the package darshan, for Python 3\.11 and 3\.12"):
        read_log(log)
