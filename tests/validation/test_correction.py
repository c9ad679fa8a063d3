"""What to multiply simulated rates by: measured over simulated, by kind of run."""

from __future__ import annotations

import math
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from xc40io.validation.claim import Claim, load_claims
from xc40io.validation.correction import corrections
from xc40io.validation.kept import Number, Result, load_kept

CLAIMS = load_claims()
RUN = "{machine: theta, nodes: NODES, ppn: 2, TARGETworkload: {ior: COMMAND}}"
CLAIM = """
  - id: NAME
    text: a rate
    source: measured yesterday
    role: ROLE
    runs: {one: RUN}
    metric: METRIC
    relation: RELATION
"""
VALUE = "{value: 1 GB/s, tolerance: 25%}"


def claim(
    name: str,
    command: str = "-F -w -b 1m",
    *,
    nodes: int = 4,
    target: str = "",
    role: str = "check",
    metric: str = "write(one)",
    relation: str = VALUE,
) -> str:
    run = RUN.replace("NODES", str(nodes)).replace("COMMAND", command)
    run = run.replace("TARGET", f"target: {target}, " if target else "")
    if role != "check":
        role += "\n    parameters: [lustre.journal_commit]"
    text = CLAIM.replace("NAME", name).replace("ROLE", role).replace("RUN", run)
    return text.replace("METRIC", metric).replace("RELATION", relation)


def load(folder: Path, *texts: str) -> dict[str, Claim]:
    path = folder / "claims.yaml"
    path.write_text("claims:" + "".join(texts))
    return load_claims([path])


def result(*ratios: float, counts: bool = True) -> Result:
    numbers = tuple(Number(ratio, counts) for ratio in ratios)
    return Result("pass", "1 GB/s", numbers, "0123456789ab", "abcd")


def test_rates_are_told_by_kind(tmp_path: Path) -> None:
    claims = load(
        tmp_path,
        claim("own"),
        claim("read", "-F -r -b 1m", metric="read(one)"),
        claim("shared", "-w -b 1m"),
        claim("together", "-a MPIIO -c -w -b 1m"),
        claim("node", nodes=1),
        claim("direct", "-B -F -w -b 1m", nodes=1),
        claim("ssd", target="ssd"),
    )
    found = corrections(claims, dict.fromkeys(claims, result(2.0)))
    assert [one.words for one in found] == [
        "files of their own, several nodes, write",
        "files of their own, several nodes, read",
        "one shared file, each rank by itself, write",
        "one shared file, collective calls, write",
        "one node, through its page cache, write",
        "direct I/O, write",
        "local SSDs, write",
    ]
    assert {(one.middle, one.least, one.most, one.numbers, one.fitted) for one in found} == {
        (0.5, 0.5, 0.5, 1, False)
    }


def test_fitted_numbers_count_only_where_there_are_no_others(tmp_path: Path) -> None:
    claims = load(
        tmp_path,
        claim("fitted", role="calibration"),
        claim("taken", role="input"),
        claim("checked"),
        claim("shared", "-w -b 1m", role="calibration"),
    )
    kept = {name: result(ratio) for name, ratio in zip(claims, (1.0, 1.1, 4.0, 0.5), strict=True)}
    own, shared = corrections(claims, kept)
    assert (own.middle, own.numbers, own.fitted) == (0.25, 1, False)
    assert (shared.middle, shared.numbers, shared.fitted) == (2.0, 1, True)


def test_only_rates_that_count_are_taken(tmp_path: Path) -> None:
    ratio = claim("ratio", metric="write(one) / read(one)", relation="{ratio: 2, tolerance: 25%}")
    bound = claim("bound", relation="{at_most: 1 GB/s}")
    claims = load(tmp_path, claim("days"), ratio, bound)
    kept = {"days": result(2.0, counts=False), "ratio": result(3.0), "bound": result()}
    assert corrections(claims, kept) == []


@given(st.lists(st.floats(0.1, 10.0), min_size=1, max_size=9))
def test_the_middle_lies_between_the_two_furthest(ratios: list[float]) -> None:
    names = ("D01", "D09", "E41", "A25.written")
    kept = {name: result(ratio) for name, ratio in zip(names, ratios, strict=False)}
    for one in corrections(CLAIMS, kept):
        assert one.least <= one.middle * (1 + 1e-12)
        assert one.middle <= one.most * (1 + 1e-12)


def test_what_is_kept_has_each_kind_once() -> None:
    found = corrections(CLAIMS, load_kept())
    words = [one.words for one in found]
    assert len(words) == len(set(words)) >= 8
    assert all(math.isfinite(one.middle) and one.numbers > 0 for one in found)


def test_a_claim_of_several_values_gives_each(tmp_path: Path) -> None:
    values = "{values: {one: 1 GB/s, two: 2 GB/s}, tolerance: 25%}"
    text = claim("both", metric="write", relation=values)
    run = RUN.replace("NODES", "4").replace("COMMAND", "-F -w").replace("TARGET", "")
    claims = load(tmp_path, text.replace("runs: {one: ", f"runs: {{two: {run}, one: "))
    (found,) = corrections(claims, {"both": result(1.25, 2.0)})
    assert (found.least, found.most, found.numbers) == (0.5, 0.8, 2)
