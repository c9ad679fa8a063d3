"""The rows of a kernel added up."""

from __future__ import annotations

import pytest

from xc40io import Scenario, simulate
from xc40io.results.programs.kernel_answer import ALL, totals
from xc40io.results.programs.output import Output

SKELETON = """
summary: Steps of output.
parameters:
  steps: {unit: count, default: 3, description: Steps.}
files:
  out: {per: rank, series: true}
phases:
  - repeat:
      times: steps
      counter: step
      phases:
        - compute: 1 s
        - barrier
        - create: out
        - write: {file: out, size: 3 MiB, transfer: 1 MiB}
        - close: out
"""


@pytest.fixture
def result(tmp_path):
    path = tmp_path / "steps.yaml"
    path.write_text(SKELETON, encoding="utf-8")
    kernel = {"kernel": {"name": str(path)}}
    return simulate(Scenario(machine="theta", nodes=2, ppn=4, workload=kernel))


def test_each_kind_of_phase_has_a_total_and_all_have_one(result):
    found = {total.phase: total for total in totals(result)}
    assert list(found) == ["create out", "write out", "close out", ALL]
    written = found["write out"]
    assert (len(written.rows), written.bytes) == (3, 3 * 8 * 3 * 2**20)
    rows = [row for row in result.rows if row.phase == "write out"]
    assert written.seconds == pytest.approx(sum(row.seconds for row in rows))
    assert written.rate == pytest.approx(written.bytes / written.seconds)
    assert found["create out"].rate == 0.0


def test_times_that_phases_have_in_common_count_once(result):
    *kinds, whole = totals(result)
    assert len(whole.rows) == len(result.rows) == 9
    assert whole.bytes == sum(total.bytes for total in kinds)
    # Ranks do not wait between their phases: one writes while another creates.
    assert max(total.seconds for total in kinds) <= whole.seconds
    assert whole.seconds < sum(total.seconds for total in kinds)
    assert whole.seconds < result.simulated - 3.0  # computing is no row


def test_text_and_json_have_them(result):
    output = Output(result)
    lines = output.answer.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("total"))
    assert [line.split("  ")[0] for line in lines[first + 1 :]] == [
        total.phase for total in totals(result)
    ]
    assert lines[first + 2].split()[2:3] == ["3"]
    document = output.document()["totals"]
    assert [entry["phase"] for entry in document] == [total.phase for total in totals(result)]
    assert document[1]["bandwidth"] == totals(result)[1].rate
    assert document[0]["bandwidth"] is None


def test_a_replay_whose_rows_are_totals_has_none(tmp_path):
    path = tmp_path / "job.csv"
    path.write_text("rank,op,file,offset,length\n0,create,/a,,\n0,write,/a,0,1048576\n")
    kernel = {"kernel": {"name": "replay", "trace": str(path)}}
    result = simulate(Scenario(machine="theta", nodes=1, ppn=1, workload=kernel))
    assert totals(result) == []
    assert "\ntotal" not in Output(result).answer
