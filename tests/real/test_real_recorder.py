"""What the preloaded library writes down, of a program without MPI."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from record import rows_of
from recordings import Row

RIG = Path(__file__).parent / "rig"
PROGRAM = """
import fcntl, os, struct, sys
os.mkdir("made")
file = os.open("made/one", os.O_RDWR | os.O_CREAT)
os.write(file, b"abcd")
os.pwrite(file, b"ef", 10)
fcntl.lockf(file, fcntl.LOCK_EX, 4, 8)
os.pread(file, 100, 8)
os.pread(file, 100, 1000)
fcntl.lockf(file, fcntl.LOCK_UN, 4, 8)
os.fsync(file)
os.ftruncate(file, 5)
layout = bytearray(64)
fcntl.ioctl(file, int(sys.argv[1]), layout)
print(*struct.unpack_from("=IH", layout, 24))
os.close(file)
os.rename("made/one", "made/two")
os.unlink("made/two")
os.rmdir("made")
with open("/dev/null"):
    pass
"""
GET_STRIPES = 1 << 30 | 8 << 16 | ord("f") << 8 | 155
"""`LL_IOC_LOV_GETSTRIPE` of the stand-in header, on machines where `_IOW` has the bit 30."""


@pytest.fixture(scope="module")
def recorder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("gcc")
    if sys.platform != "linux" or compiler is None:
        pytest.skip("the recorder is for Linux, and wants gcc")
    made = tmp_path_factory.mktemp("recorder") / "recorder.so"
    command = [compiler, "-shared", "-fPIC", "-Wall", "-Werror", f"-I{RIG}", "-o", str(made)]
    subprocess.run([*command, str(RIG / "recorder.c"), "-ldl"], check=True)
    return made


def test_every_call_below_the_folder_is_a_row(recorder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    told = {
        "LD_PRELOAD": str(recorder),
        "REAL_FOLDER": str(folder),
        "REAL_LOG": str(tmp_path / "log"),
        "REAL_RELATIVE": "1",
        "REAL_STRIPES": "7 65536",
        "PMI_RANK": "3",
    }
    said = subprocess.run(
        [sys.executable, "-S", "-c", PROGRAM, str(GET_STRIPES)],
        cwd=folder,
        env=os.environ | told,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    every = rows_of(tmp_path / "log.3", folder)
    rows = [row for row in every if row.op not in ("stat", "readdir")]  # Python looks around
    assert rows == [
        Row("mkdir", "made", 0, 0),
        Row("open", "made/one", 0, 0),
        Row("write", "made/one", 0, 4),
        Row("write", "made/one", 10, 2),
        Row("lock", "made/one", 0, 0),
        Row("read", "made/one", 8, 4),
        Row("unlock", "made/one", 0, 0),
        Row("sync", "made/one", 0, 0),
        Row("truncate", "made/one", 5, 0),
        Row("close", "made/one", 0, 0),
        Row("rename", "made/one", 0, 0),
        Row("unlink", "made/two", 0, 0),
        Row("unlink", "made", 0, 0),
    ]
    assert said.split() == ["65536", "7"]
