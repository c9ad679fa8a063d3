"""Layouts, and the runs whose files they are of."""

from __future__ import annotations

import pytest

IOR = """\
IOR-4.0.0: MPI Coordinated Test of Parallel I/O
Command line        : ior -w -F -o /lus/me/tf
TestID              : 0

Options:
test filename       : /lus/me/tf
nodes               : 1
tasks               : 2
clients per node    : 2

Results:

access    bw(MiB/s)  IOPS
------    ---------  ----
write     900.00     900.0
"""
FILE = """\
{}
lmm_stripe_count:  4
lmm_stripe_size:   1048576
lmm_pattern:       raid0
lmm_layout_gen:    0
lmm_stripe_offset: 10
\tobdidx\t\t objid\t\t objid\t\t group
\t    10\t       3024641\t     0x2e2701\t             0
"""
COMPOSITE = """\
/lus/me/tf
  lcm_layout_gen:    2
  lcm_entry_count:   3
    lcme_id:             1
    lcme_extent.e_start: 0
    lcme_extent.e_end:   1048576
      lmm_stripe_count:  0
      lmm_stripe_size:   1048576
      lmm_pattern:       mdt
    lcme_id:             2
    lcme_extent.e_start: 1048576
    lcme_extent.e_end:   67108864
      lmm_stripe_count:  4
      lmm_stripe_size:   1048576
      lmm_pattern:       raid0
    lcme_id:             3
    lcme_extent.e_start: 67108864
    lcme_extent.e_end:   EOF
      lmm_stripe_count:  -1
      lmm_stripe_size:   4194304
      lmm_pattern:       raid0
"""
FOUR = {"count": 4, "size": 1048576}


@pytest.mark.parametrize("name", ["/lus/me/tf", "tf.00000000", "/lus/me/"])
def test_a_layout_belongs_to_the_run_that_wrote_there(measured, name: str) -> None:
    other = FILE.replace("count:  4", "count:  9").format("/lus/other")
    found = measured(IOR, other + FILE.format(name))
    assert found.bases["ior-1"]["striping"] == FOUR
    assert "assumed" not in found.claims["ior-1-write"]["note"]


def test_a_single_layout_is_taken_for_all_and_said_to_be(measured) -> None:
    found = measured(FILE.format("/lus/other"), IOR)
    assert found.bases["ior-1"]["striping"] == FOUR
    assert "striping as of /lus/other" in found.claims["ior-1-write"]["note"]


def test_of_several_others_none_is_taken(measured) -> None:
    found = measured(FILE.format("a") + FILE.format("b"), IOR)
    assert "striping" not in found.bases["ior-1"]
    assert "the machine's default" in found.claims["ior-1-write"]["note"]


def test_a_folders_default_on_one_line_is_read(measured) -> None:
    line = "/lus/me\nstripe_count:  2 stripe_size:   1048576 pattern:  0 stripe_offset: -1\n"
    assert measured(line, IOR).bases["ior-1"]["striping"] == {"count": 2, "size": 1048576}


def test_a_composite_layout_becomes_options_of_setstripe(measured) -> None:
    found = measured(COMPOSITE, IOR)
    said = "-E 1048576 -L mdt -E 67108864 -c 4 -S 1048576 -E -1 -c -1 -S 4194304"
    assert found.bases["ior-1"]["striping"] == {"setstripe": said}


def test_a_run_that_says_its_striping_itself_keeps_it(measured) -> None:
    own = IOR.replace("-w -F", "-w -F -O lustreStripeCount=2")
    assert "striping" not in measured(FILE.format("/lus/me/tf"), own).bases["ior-1"]
