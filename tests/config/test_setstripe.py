"""The options of ``lfs setstripe``: what they ask for, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.config.errors import InputError
from xc40io.config.machine import load_machine
from xc40io.config.setstripe import EOF, ComponentRequest, read_setstripe
from xc40io.config.striping import StripeRequest

MIB = 1 << 20
C = ComponentRequest

READ = {
    "": (C(),),
    "-c 4 -S 8m -i 2": (C(count=4, size=8 * MIB, offset=2),),
    # The manual's examples of composite layouts.
    "-E 4M -c 1 -E 64M -c 4 -E -1 -c -1 -i 4": (
        C(end=4 * MIB, count=1),
        C(end=64 * MIB, count=4),
        C(count=-1, offset=4),
    ),
    "-E 256M -c 1 -E 16G -c 4 -E -1 -S 4M -c -1": (
        C(end=256 * MIB, count=1),
        C(end=16384 * MIB, count=4),
        C(count=-1, size=4 * MIB),
    ),
    "-E 1M -L mdt -E -1 -S 4M -c -1": (C(end=MIB, on_mdt=True), C(count=-1, size=4 * MIB)),
    "-E 4M -c 1 -E 64M -c 4 -E -1 -c 4 -o 6-7,0,5": (
        C(end=4 * MIB, count=1),
        C(end=64 * MIB, count=4),
        C(count=4, osts=(6, 7, 0, 5)),
    ),
    # What is not said of a component is as of the one before: -c, -S, -p.
    "-E 4M -c 2 -S 1M -p flash -i 3 -E eof": (
        C(end=4 * MIB, count=2, size=MIB, pool="flash", offset=3),
        C(count=2, size=MIB, pool="flash"),
    ),
    "-C 112 -S 1m": (C(count=112, size=MIB, overstriped=True),),
    "-c -1 -o 3,5": (C(count=2, osts=(3, 5)),),
    "--stripe_count 4 --stripe_size 2m --stripe_index 1": (C(count=4, size=2 << 20, offset=1),),
    "-o 1,1,2": (C(count=3, osts=(1, 1, 2), overstriped=True),),
    "--component-end 4M --stripe-count 1 --component-end -1 --overstripe-count=8": (
        C(end=4 * MIB, count=1),
        C(count=8, overstriped=True),
    ),
    "lfs setstripe -c 1": (C(count=1),),
}


@pytest.mark.parametrize("text", READ)
def test_options_are_read_as_lfs_reads_them(text: str) -> None:
    assert read_setstripe(text) == READ[text]


REFUSED = {
    "-E 4M -c 1": "ends at 4 MiB, and a write beyond it would fail",
    "-E 4M -E 2M -E -1": "ends at 2 MiB; right would be ends that grow",
    "-E -1 -E 4M": "ends that grow",
    "-c 1 -E 4M -E -1": "an option before -E 4M",
    "-E 100K -E -1": "right would be a multiple of 64 KiB",
    "-E 3M -S 2m -E -1": "-E 3 MiB with stripes of 2 MiB",
    "-E 4M -L mdt -c 2 -E -1": "-L mdt with stripes or OSTs",
    "-E 4M -c 1 -E 8M -L mdt -E -1": "-L mdt of a later component",
    "-L mdt": "-L mdt without an end of at most 1 GiB",
    "-L raid5": "right would be raid0, mdt or overstriping",
    "-c x": "right would be a whole number",
    "-c 3000": "2,000 at most",
    "-S 1000": "multiple of 64 KiB",
    "-c 4 -o 3": "-c 4 beside -o with 1 OST, which lfs refuses",
    "-E 4M -c 1 -E -1 -o 3,4": "-c 1 beside -o with 2 OSTs",
    "--mdt-index 2": "not simulated",
    "-o 7-6": "right would be OSTs in rising order",
    "-o a": "right would be OSTs",
    "-q": "option -q not recognized",
    "-c": "option -c requires argument",
    "-N2 -c 1": "not simulated",
    "--yaml x": "not simulated",
    "--component-add -E -1": "not simulated",
    "-d": "gives no layout",
    "-c 1 file": "is no option",
    "-c '1": "No closing quotation",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_lfs_would_refuse_is_one_sentence(text: str) -> None:
    with pytest.raises(InputError, match=REFUSED[text]) as found:
        read_setstripe(text)
    assert str(found.value).startswith("lfs setstripe")


@given(st.text(max_size=30))
def test_no_text_is_more_than_refused(text: str) -> None:
    try:
        found = read_setstripe(text)
    except InputError:
        return
    assert found[-1].end == EOF


def test_plain_options_are_the_striping_that_they_always_were() -> None:
    assert StripeRequest(setstripe="-c 4 -S 8m") == StripeRequest(count=4, size=8 * MIB)
    asked = StripeRequest(setstripe="-E 4M -c 1 -E -1 -c 8 -S 4M -i 2")
    assert (asked.count, asked.size, asked.offset) == (8, 4 * MIB, 2)
    assert replace(asked, mdts=2).components == asked.components
    assert asked.having() is asked
    assert asked.having(count=3) == StripeRequest(count=3)
    with pytest.raises(InputError, match="count = 4 beside setstripe"):
        StripeRequest(setstripe="-E 4M -c 1 -E -1 -c 8", count=4)


THETA = load_machine("theta")

NOT_THERE = [
    ("2.7", "-E 4M -c 1 -E -1 -c 8", "needs composite layouts, of Lustre 2.10"),
    ("2.12", "-C 112", "needs overstriping, of Lustre 2.14"),
    ("2.10", "-E 64k -L mdt -E -1", "needs data on the MDT, of Lustre 2.12"),
    ("2.12", "-E 2M -L mdt -E -1", "longer than lustre.dom_size, 1 MiB"),
    ("2.14", "-E 4M -c 57 -E -1", "57 is more than the 56 OSTs"),
    ("2.14", "-o 56", "there is no such OST"),
    ("2.14", "-c 1 -p flash", "pool flash: there is no such pool"),
    ("2.14", "-c 5 -p few", "more than the 4 OSTs of pool few"),
    ("2.14", "-c 1 -i 9 -p few", "right would be those of the pool"),
]


@pytest.mark.parametrize(("release", "text", "message"), NOT_THERE)
def test_a_layout_must_be_one_that_the_file_system_has(
    release: str, text: str, message: str
) -> None:
    changes = {"lustre.release": release, "lustre.pools": "few=0-2+7"}
    lustre = THETA.with_changes(changes).lustre
    with pytest.raises(InputError, match=message):
        lustre.check_striping(StripeRequest(setstripe=text))


def test_pools_are_listed_with_their_osts() -> None:
    assert THETA.with_changes({"lustre.pools": "a=0-2+7, b=3"}).lustre.pool("a") == (0, 1, 2, 7)
    with pytest.raises(InputError, match="right would be pools and their OSTs"):
        THETA.with_changes({"lustre.pools": "a:0"})
