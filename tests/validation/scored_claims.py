"""Claims of small runs, and results that nobody simulated."""

from __future__ import annotations

from run_records import SCENARIO

from xc40io.config.scenario import Scenario
from xc40io.validation.claim import Claim
from xc40io.validation.frozen import digest_of
from xc40io.validation.kept import Number, Result

PREDICTED = ("x", "y", "z")


def claim(name: str, nodes: int = 1, measured: str = "1 GB/s", **fields: object) -> Claim:
    said = {
        "id": name,
        "text": "how fast it writes",
        "group": "writes",
        "source": "a test",
        "role": "check",
        "runs": {"a": Scenario.model_validate(SCENARIO | {"nodes": nodes})},
        "metric": "write(a)",
        "relation": {"value": measured, "tolerance": "25%"},
    }
    return Claim.model_validate(said | fields)


def result(one: Claim, *ratios: float, digest: str = "", verdict: str = "pass") -> Result:
    numbers = tuple(Number(ratio, True) for ratio in ratios)
    return Result(verdict, "", numbers, digest or digest_of(one), "abcd")


def by_id(*claims: Claim) -> dict[str, Claim]:
    return {one.id: one for one in claims}
