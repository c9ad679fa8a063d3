"""Files that once ended in a traceback, a hang, or all of the memory: each is refused at once."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pyarrow as pa
import pyarrow.parquet
import pytest

from xc40io.archive import archive
from xc40io.cli.app import cli
from xc40io.cli.options import Whole
from xc40io.config.errors import InputError
from xc40io.config.files import Kind
from xc40io.config.reading import reading, reads
from xc40io.workloads.job_records import job_rows

DIGITS = "9" * 5000
LOG = "# darshan log version: 3.21\n# nprocs: 4\n"
SACCT = "JobID|State|NNodes|NTasks|TRESUsageInTot|AveDiskRead\n"
PBS = "01/24/2022 09:10:00;E;7.pbs;Resource_List.select="


def total(field: str, value: str) -> str:
    return f"{LOG}total_POSIX_{field}: {value}\n"


def slurm(**second: Any) -> str:
    return json.dumps({"jobs": [{"job_id": 1, "time": {}}, {"job_id": 2, "time": {}} | second]})


TABLES = {
    **{
        f"d{value}.txt": (total("BYTES_READ", value), "BYTES_READ")
        for value in ("1.2.3", ".", "-.")
    },
    **{
        f"{field}.txt": (total(field, "1e999"), field)
        for field in ("BYTES_READ", "READS", "WRITES", "OPENS", "STATS")
    },
    "digits.txt": (total("READS", DIGITS[:400]), "READS"),
    "ranks.txt": (
        f"# darshan log version: 3.21\n# nprocs: {DIGITS}\ntotal_POSIX_OPENS: 1\n",
        "nprocs",
    ),
    "shared.txt": (f"{total('OPENS', '1')}# unique: 1 1\n# shared: {DIGITS} 1\n", "shared"),
    **{
        f"rank-{value}.csv": (f"rank,nprocs,POSIX_OPENS\n{value},4,1\n", "row 2: rank")
        for value in ("inf", "-inf", "1e400")
    },
    "nprocs.csv": ("rank,nprocs,POSIX_OPENS\n0,inf,1\n", "row 2: nprocs"),
    "opens.csv": ("rank,nprocs,POSIX_OPENS\n0,4,1\n1,4,1e999\n", "row 3: POSIX_OPENS"),
    "five.json": ('{"jobs":[{"job_id":1,"time":{}},5]}', "row 2: jobs = 5"),
    "name.json": ('{"jobs":[{"job_id":1,"time":{}},{"time":{}}]}', "row 2: job_id"),
    "steps.json": (slurm(steps=[5]), "row 2: steps = 5"),
    **{
        f"total{number}.json": (
            slurm(steps=[{"tres": {"requested": {"total": [one]}}}]),
            "row 2: total",
        )
        for number, one in enumerate((5, None, "x", [], True))
    },
    "deep.json": ('{"jobs":' + "[" * 100_000, "too deeply"),
    "digits.json": ('{"jobs":[{"job_id":1,"time":{},"nodes":' + DIGITS + "}]}", "number"),
    "values.json": ("[" + "1," * 10_000_001 + "1]", "values"),
    "tasks.csv": (f"{SACCT}1|COMPLETED|2|{DIGITS}||\n", "row 2: NTasks"),
    "nodes.csv": (f"{SACCT}1|COMPLETED|{DIGITS}|||\n", "row 2: nodes"),
    "disk.csv": (f"{SACCT}1|COMPLETED|2|4|fs/disk={DIGITS[:400]}P|\n", "row 2: TRESUsageInTot"),
    "ave.csv": (f"{SACCT}1|COMPLETED|2|4||{DIGITS[:300]}P\n", "row 2: AveDiskRead"),
    "clock.csv": (f"nodes,runtime\n1,{DIGITS}:00:00\n", "row 2: runtime"),
    "select.txt": (f"{PBS}{DIGITS}:mpiprocs=2 end=1\n", "Resource_List.select"),
    "procs.txt": (f"{PBS}2:mpiprocs={DIGITS} end=1\n", "mpiprocs"),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_jobs_is_refused_with_row_and_field(xc40io, tmp_path: Path, name: str) -> None:
    text, says = TABLES[name]
    path = tmp_path / name
    path.write_text(text)
    refused(xc40io("jobs", "summary", str(path)), name, says)


def refused(result: Any, *says: str) -> None:
    assert result.exit_code == 2, result.output
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("xc40io: ")
    assert len(result.stderr) < 1500
    for words in says:
        assert words in result.stderr


def fewer_rows_and_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tables of jobs be as small as a test is."""
    monkeypatch.setattr(job_rows, "MOST_LINES", 1000)
    monkeypatch.setattr(job_rows, "JOB_TABLE", Kind("a table of jobs", 2 << 20))


def test_no_more_rows_are_taken_than_a_table_may_have(xc40io, tmp_path, monkeypatch) -> None:
    fewer_rows_and_bytes(monkeypatch)
    (tmp_path / "many.csv").write_text("nodes\n" + "1\n" * 1001)
    refused(xc40io("jobs", "summary", str(tmp_path / "many.csv")), "many.csv", "1,000 rows")


def _write(path: Path, table: pa.Table, **about: Any) -> None:
    pa.parquet.write_table(table, path, **about)


PARQUET: dict[str, tuple[Callable[[], pa.Table], str]] = {
    "stamp": (
        lambda: pa.table({"nodes": [1], "start": pa.array([1 << 62], pa.timestamp("us"))}),
        "stamp.parquet",
    ),
    "duration": (
        lambda: pa.table({"nodes": [1], "runtime": pa.array([1 << 62], pa.duration("s"))}),
        "duration.parquet",
    ),
    "rows": (lambda: pa.table({"nodes": pa.array([1], pa.int8()).take([0] * 2_000)}), "rows"),
    "cell": (lambda: pa.table({"nodes": [1], "name": ["x" * (3 << 20)]}), "bytes"),
    "texts": (lambda: pa.table({"name": pa.array(["x" * 4096]).take([0] * 800)}), "bytes"),
}


@pytest.mark.parametrize("name", PARQUET)
def test_a_parquet_file_says_how_large_it_is(xc40io, tmp_path, monkeypatch, name: str) -> None:
    fewer_rows_and_bytes(monkeypatch)
    made, says = PARQUET[name]
    path = tmp_path / f"{name}.parquet"
    _write(path, made(), compression="zstd")
    assert path.stat().st_size < 1 << 20
    refused(xc40io("jobs", "summary", str(path)), f"{name}.parquet", says)


def test_descriptions_that_are_no_text_or_hold_no_numbers(xc40io, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"jobs: 1\nnodes: \xff\xfe\n")
    refused(xc40io("stream", str(tmp_path / "a.yaml")), "a.yaml: line 2: byte 0xff")
    (tmp_path / "m.yaml").write_text(f"like: theta\nnodes: 0x{'f' * 6000}\n")
    refused(xc40io("machine", str(tmp_path / "m.yaml")), "m.yaml line 2")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    from click.testing import CliRunner

    path = tmp_path_factory.mktemp("kept") / "r.xc40io"
    line = f"ior --nodes 1 --ppn 1 --save {path} -- -w -b 64k -t 64k"
    assert CliRunner().invoke(cli, line.split()).exit_code == 0
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def zipped(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as written:
        for name, content in members.items():
            written.writestr(name, content)
    return file.getvalue()


def _with(kept: dict[str, bytes], **fields: str) -> bytes:
    document = json.loads(kept["content.json"])
    text = json.dumps(document | dict.fromkeys(fields, "@"))
    for value in fields.values():
        text = text.replace('"@"', value, 1)
    return zipped(kept | {"content.json": text.encode()})


def _patched(content: bytes, offset: int, value: int) -> bytes:
    """Return a zip with two bytes of its first member's central record changed."""
    at = content.index(b"PK\x01\x02") + offset
    return content[:at] + struct.pack("<H", value) + content[at + 2 :]


DAMAGES: dict[str, Callable[[dict[str, bytes]], bytes]] = {
    "version": lambda kept: _with(kept, version="1e400"),
    "version of many digits": lambda kept: _with(kept, version=DIGITS),
    "deep": lambda kept: _with(kept, content="[" * 900 + "]" * 900),
    "very deep": lambda kept: _with(kept, content="[" * 200_000),
    "encrypted": lambda kept: _patched(zipped(kept), 8, 1),
    "compression 99": lambda kept: _patched(zipped(kept), 10, 99),
    "compression 9": lambda kept: _patched(zipped(kept), 10, 9),
    "version 9.0": lambda kept: _patched(zipped(kept), 6, 90),
    "half": lambda kept: zipped(kept)[: len(zipped(kept)) // 2],
    "text": lambda _: b"some text\n",
    "bomb": lambda kept: zipped(kept | {"content.json": b" " * (3 << 20)}),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_result_is_called_so_by_every_command(
    xc40io, tmp_path: Path, monkeypatch, kept: dict[str, bytes], name: str
) -> None:
    monkeypatch.setattr(archive, "_MOST_TEXT", 2 << 20)
    path = tmp_path / "r.dat"
    path.write_bytes(DAMAGES[name](kept))
    said = set()
    for line in ("show {}", "compare {} {}", "tune {}", "explain {}"):
        result = xc40io(*line.format(path, path).split())
        refused(result, "r.dat: ")
        said.add(result.stderr)
    assert len(said) == 1


def test_an_empty_file_of_io500_says_so_at_once(xc40io, tmp_path: Path) -> None:
    (tmp_path / "e.ini").touch()
    refused(xc40io("io500", str(tmp_path / "e.ini")), "e.ini: is empty")


def test_only_what_reading_raises_becomes_a_sentence() -> None:
    @reads("a table")
    def read(_: str) -> None:
        raise AttributeError("nobody expects that")

    with pytest.raises(InputError, match=r"holds something of another kind .* a table") as caught:
        read("f.csv")
    assert isinstance(caught.value.__cause__, AttributeError)
    with pytest.raises(ImportError), reading("f.csv"):
        raise ImportError("a broken installation")


MOST = {
    **{"--jobs": 1024, "--repeat": 1000, "--seeds": 1000, "--draws": 1000, "--kinds": 1000},
    **{"--runs": 100_000, "--sobol": 100_000, "--sample": 100_000, "--budget": 100_000},
    **{"--sessions": 100_000, "--pages": 100_000, "--at-once": 1024, "--port": 65535},
    "--years": 50,
}
"""What each option that multiplies work, or what is kept, takes at most."""

DIVIDES_OR_DESCRIBES = {
    *(
        "--nodes",
        "--ppn",
        "--depth",
        "--core-spec",
        "--stripe-count",
        "--stripe-offset",
        "--mdt-count",
    ),
    *("--rpcs-as-one", "--most-calls", "--most-ranks-per-node", "--io-threads", "--seed"),
    *("--rpcs", "--ranks"),
}
"""What the machine, or the work that it makes, bounds; and limits themselves."""


def counts() -> dict[str, Whole]:
    found: dict[str, Whole] = {}

    def walk(command: click.Command) -> None:
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                walk(command.get_command(context, name))
        for one in command.params:
            if isinstance(one.type, click.types.IntParamType):
                assert isinstance(one.type, Whole), one.opts
                found.setdefault(f"{command.name} {one.opts[0]}", one.type)

    walk(cli)
    return found


def test_every_count_that_multiplies_work_has_a_limit() -> None:
    for place, kind in counts().items():
        name = place.rpartition(" ")[2]
        if name in DIVIDES_OR_DESCRIBES:
            continue
        assert name in MOST, place
        assert kind.convert(str(MOST[name]), None, None) == MOST[name]
        with pytest.raises(click.BadParameter, match=r"at most|in the range"):
            kind.convert(str(MOST[name] + 1), None, None)


def test_a_slip_in_a_count_is_refused_before_anything_is_made(xc40io, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("nodes,written\n1,1 MiB\n")
    refused(xc40io("stream", str(tmp_path / "t.csv"), "--draws", "1000000"), "--draws", "1,000")
