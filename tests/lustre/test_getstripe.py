"""``lfs getstripe`` against what Lustre's manual and real files show."""

from __future__ import annotations

from xc40io.config.parts.releases import release_of
from xc40io.config.striping import StripeRequest
from xc40io.lustre.getstripe import getstripe_text
from xc40io.lustre.striping import Allocator, Layout

MIB = 1 << 20

CREATED = """\
/mnt/testfs/create_comp
  lcm_layout_gen:  3
  lcm_entry_count: 3
    lcme_id:             1
    lcme_flags:          init
    lcme_extent.e_start: 0
    lcme_extent.e_end:   4194304
      lmm_stripe_count:  1
      lmm_stripe_size:   1048576
      lmm_pattern:       1
      lmm_layout_gen:    0
      lmm_stripe_offset: 0
      lmm_objects:
      - 0: { l_ost_idx: 0, l_fid: [0x100000000:0x2:0x0] }

    lcme_id:             2
    lcme_flags:          0
    lcme_extent.e_start: 4194304
    lcme_extent.e_end:   67108864
      lmm_stripe_count:  4
      lmm_stripe_size:   1048576
      lmm_pattern:       1
      lmm_layout_gen:    0
      lmm_stripe_offset: -1
    lcme_id:             3
    lcme_flags:          0
    lcme_extent.e_start: 67108864
    lcme_extent.e_end:   EOF
      lmm_stripe_count:  -1
      lmm_stripe_size:   1048576
      lmm_pattern:       1
      lmm_layout_gen:    0
      lmm_stripe_offset: 4
"""
"""Lustre's manual, Progressive File Layout: the example create_comp, on 8 OSTs."""

WRITTEN = """\
    lcme_id:             3
    lcme_flags:          init
    lcme_extent.e_start: 67108864
    lcme_extent.e_end:   EOF
      lmm_stripe_count:  8
      lmm_stripe_size:   1048576
      lmm_pattern:       1
      lmm_layout_gen:    0
      lmm_stripe_offset: 4
      lmm_objects:
      - 0: { l_ost_idx: 4, l_fid: [0x100040000:0x3:0x0] }
      - 1: { l_ost_idx: 5, l_fid: [0x100050000:0x2:0x0] }
      - 2: { l_ost_idx: 6, l_fid: [0x100060000:0x2:0x0] }
      - 3: { l_ost_idx: 7, l_fid: [0x100070000:0x2:0x0] }
      - 4: { l_ost_idx: 0, l_fid: [0x100000000:0x3:0x0] }
      - 5: { l_ost_idx: 1, l_fid: [0x100010000:0x3:0x0] }
      - 6: { l_ost_idx: 2, l_fid: [0x100020000:0x3:0x0] }
      - 7: { l_ost_idx: 3, l_fid: [0x100030000:0x3:0x0] }
"""
"""The same, once 128 MiB have been written: component 3."""


def lines(text: str) -> list[str]:
    """Return lines without the empty ones: the manual has one between some components only."""
    return [line for line in text.splitlines() if line]


def create_comp() -> Layout:
    """Return the layout of the manual's example, on the OSTs that it has there."""
    request = StripeRequest(setstripe="-E 4M -c 1 -E 64M -c 4 -E -1 -c -1 -i 4")
    components = Allocator(8, seed=1).resolve(request)
    return Layout.composed(components, [0, 1, 2, 3, 4, 4, 5, 6, 7, 0, 1, 2, 3])


def test_a_new_file_is_as_in_the_manual() -> None:
    found = getstripe_text(
        "/mnt/testfs/create_comp", create_comp(), instantiated=1, release=(2, 10), generation=3
    )
    assert lines(found) == lines(CREATED)


def test_a_file_that_was_written_is_as_in_the_manual() -> None:
    numbers = [2, 2, 2, 2, 2, 3, 2, 2, 2, 3, 3, 3, 3]
    found = getstripe_text("f", create_comp(), numbers, release=(2, 10), generation=5)
    assert "  lcm_layout_gen:  5\n" in found
    assert lines(found)[-18:] == lines(WRITTEN)


def test_data_on_the_mdt_has_no_object() -> None:
    """Lustre's manual, Data on MDT: the example domfile, before more than 1 MiB is written."""
    request = StripeRequest(setstripe="-E 1M -L mdt -E -1 -S 4M -c -1")
    layout = Layout.composed(Allocator(2, seed=1).resolve(request), [-1, 0, 1])
    found = lines(getstripe_text("/mnt/lustre/domfile", layout, instantiated=1, release=(2, 12)))
    assert found[1:4] == [
        "  lcm_layout_gen:    2",
        "  lcm_mirror_count:  1",
        "  lcm_entry_count:   2",
    ]
    assert found[9:14] == [
        "      lmm_stripe_count:  0",
        "      lmm_stripe_size:   1048576",
        "      lmm_pattern:       mdt",
        "      lmm_layout_gen:    0",
        "      lmm_stripe_offset: 0",
    ]
    assert "      lmm_stripe_count:  -1" in found
    assert not any("l_ost_idx" in line for line in found)


def test_getstripe_prints_what_lfs_prints() -> None:
    layout = Layout.striped(8 * MIB, (14, 36))
    assert getstripe_text("./file.1", layout, objects=[47380938, 47391032]) == (
        "./file.1\n"
        "lmm_stripe_count:   2\n"
        "lmm_stripe_size:    8388608\n"
        "lmm_pattern:        1\n"
        "lmm_layout_gen:     0\n"
        "lmm_stripe_offset:  14\n"
        "\tobdidx\t\t objid\t\t objid\t\t group\n"
        "\t    14\t      47380938\t    0x2d2f9ca\t             0\n"
        "\t    36\t      47391032\t    0x2d32138\t             0\n"
    )


def test_a_plain_layout_of_a_later_release_names_its_pattern() -> None:
    found = getstripe_text("f", Layout.striped(MIB, (3,)), release=release_of("2.12"))
    assert found.splitlines()[1:4] == [
        "lmm_stripe_count:  1",
        "lmm_stripe_size:   1048576",
        "lmm_pattern:       raid0",
    ]
    request = StripeRequest(setstripe="-C 4 -p flash")
    components = Allocator(2, seed=1, pool=lambda _: (0, 1)).resolve(request)
    layout = Layout.composed(components, [0, 1, 0, 1])
    overstriped = getstripe_text("f", layout, release=(2, 14)).splitlines()
    assert "lmm_pattern:       raid0,overstriped" in overstriped
    assert "lmm_pool:          flash" in overstriped


def test_objects_of_an_empty_file_system_are_the_first_ones() -> None:
    assert getstripe_text("f", Layout.striped(MIB, (3,))).endswith(
        "\t     3\t             1\t          0x1\t             0\n"
    )


def test_a_release_is_read_out_of_a_version() -> None:
    assert release_of("2.7.2.26") == (2, 7)
    assert release_of("2.12") == (2, 12)
