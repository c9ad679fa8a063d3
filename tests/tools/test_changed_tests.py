"""Which tests `make check` runs."""

from __future__ import annotations

from changed_tests import chosen

TESTS = {
    "tests/lustre/test_ldlm.py": "from xc40io.lustre.ldlm import covering",
    "tests/lustre/test_locks.py": "from xc40io.lustre.locks import MODE_PR",
    "tests/cli/test_start.py": 'HOMES = ["xc40io.lustre.ldlm:covering"]',
    "tests/topology/test_torus.py": "",
}


def test_a_module_has_the_tests_that_name_it_or_mirror_it() -> None:
    assert chosen(["sim/lustre/ldlm.py"], TESTS) == [
        "tests/cli/test_start.py",
        "tests/lustre/test_ldlm.py",
    ]
    assert chosen(["topology/torus.py"], TESTS) == ["tests/topology/test_torus.py"]
