"""A machine of today, of public documents alone: no LNET routers, composite layouts by default."""

from __future__ import annotations

import pytest

from xc40io import Scenario, load_machine, simulate
from xc40io.config.errors import InputError
from xc40io.run.result import Result

OWN = ("network", "nodes", "lustre")


def run(**more: object) -> Result:
    about = {"machine": "slingshot-flash", "nodes": 2, "ppn": 2} | more
    return simulate(Scenario.model_validate(about | {"workload": {"ior": "-F -w -b 1m -t 1m"}}))


def objects(result: Result) -> int:
    """Return how many objects the layout of a file has, all its components together."""
    (files,) = result.files.values()
    return files.osts.shape[1]


def test_nothing_of_it_was_measured_or_fitted() -> None:
    machine = load_machine("slingshot-flash")
    older = load_machine("archer2-4cab")
    own = [path for path, said in machine.provenance.items() if older.provenance.get(path) != said]
    assert len(own) > 30
    assert {machine.provenance[path].firm for path in own} <= {
        *("verified", "recalled", "inferred", "assumed", "derived")
    }
    assert not machine.measured
    assert "nothing of it was measured" in machine.title


def test_servers_stand_on_the_network_itself() -> None:
    machine = load_machine("slingshot-flash")
    assert machine.lnet is None
    assert machine.entry_nodes == 274 + 16


def test_files_that_ask_for_nothing_have_the_default_layout() -> None:
    result = run()
    assert (
        result.scenario.striping.setstripe == load_machine("slingshot-flash").lustre.default_layout
    )
    assert objects(result) == 1 + 4 + 274
    assert objects(run(striping={"count": 2})) == 2
    assert objects(run(striping={"size": "16m"})) == 1
    assert objects(run(changes={"lustre.default_layout": "-E 1M -c 1 -E -1 -c 8"})) == 9


def test_a_default_layout_is_one_that_files_can_have() -> None:
    with pytest.raises(InputError, match="stripe count 300 is more than the 274 OSTs"):
        load_machine("slingshot-flash").with_changes({"lustre.default_layout": "-c 300 -S 4M"})
    with pytest.raises(InputError, match=r"composite layouts, of Lustre 2\.10"):
        load_machine("theta").with_changes({"lustre.default_layout": "-E 1M -c 1 -E -1 -c 8"})


def test_its_interval_says_that_no_run_of_it_was_measured() -> None:
    from xc40io.trust.sureness import Sureness

    result = run()
    found = Sureness(result.scenario).interval("write", 1e9)
    assert found is not None
    assert not found.measured
    assert found.why == "nothing of slingshot-flash was ever measured, so only directions count"
