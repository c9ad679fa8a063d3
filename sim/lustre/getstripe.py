"""What ``lfs getstripe`` prints for a file, line by line.

The lines are those of Lustre 2.7, and of 2.10 and later for what these brought
(utils/liblustreapi.c, lov_dump_user_lmm_header, lov_dump_comp_v1_header, lov_dump_comp_v1_entry).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xc40io.lustre.striping import EOF, Layout, LayoutComponent

_FIRST_OF_OST = 0x100000000  # FID_SEQ_OST_MDT0 of OST 0; one more in the third digit for each OST
_AN_OST = 0x10000
_COMPOSITE = (2, 10)
_LATER = (2, 12)  # from here on patterns have names, and layouts count their mirrors


def getstripe_text(
    path: str,
    layout: Layout,
    objects: Sequence[int] | None = None,
    *,
    instantiated: int | None = None,
    release: tuple[int, ...] = (2, 7),
    generation: int | None = None,
) -> str:
    """Return the output of ``lfs getstripe PATH`` for a file.

    Parameters
    ----------
    path : str
        Name of the file.
    layout : Layout
        Its layout.
    objects : sequence of int, optional
        Number of the file's object on each of its OSTs, component after component. A simulated
        file system keeps no object numbers; the default is the first object of an empty OST, 1 (2
        in a composite layout, as in Lustre's manual).
    instantiated : int, optional
        How many components have their objects; all unless given.
    release : tuple of int
        Of Lustre: the form of the lines.
    generation : int, optional
        Of a composite layout (lcm_layout_gen): as a file has it that inherits the layout of its
        folder, and whose later components were instantiated one after another.

    Notes
    -----
    ``lmm_pattern`` 1 is RAID 0, the only pattern of Lustre 2.7; the generation of a layout that
    was never changed is 0, and so is the group of an object created by the first MDT.
    """
    if len(layout.components) == 1 and not layout.components[0].request.on_mdt:
        return "".join(_plain(path, layout.components[0], objects, release))
    ready = len(layout.components) if instantiated is None else instantiated
    # The columns moved as longer names came (2.11: lcm_mirror_count).
    pad = "  " if release >= _LATER else ""
    lines = [path, f"  lcm_layout_gen:  {pad}{generation or 1 + ready}"]
    if release >= _LATER:
        lines.append("  lcm_mirror_count:  1")
    lines.append(f"  lcm_entry_count: {pad}{len(layout.components)}")
    first = 0
    for number, component in enumerate(layout.components, start=1):
        last = first + len(component.osts)
        own = None if objects is None else objects[first:last]
        lines += _component(number, component, own, ready=number <= ready, release=release)
        first = last
    return "\n".join(lines) + "\n"


def _plain(
    path: str,
    component: LayoutComponent,
    objects: Sequence[int] | None,
    release: tuple[int, ...],
) -> Iterator[str]:
    """Yield the lines of a plain layout."""
    numbers = [1] * len(component.osts) if objects is None else objects
    yield f"{path}\n"
    pad = " " if release < _COMPOSITE else ""
    yield f"lmm_stripe_count:  {pad}{len(component.osts)}\n"
    yield f"lmm_stripe_size:   {pad}{component.stripe_size}\n"
    yield f"lmm_pattern:       {pad}{_pattern(component, release)}\n"
    yield f"lmm_layout_gen:    {pad}0\n"
    yield f"lmm_stripe_offset: {pad}{component.osts[0]}\n"
    if component.request.pool:
        yield f"lmm_pool:          {pad}{component.request.pool}\n"
    yield "\tobdidx\t\t objid\t\t objid\t\t group\n"
    for ost, number in zip(component.osts, numbers, strict=True):
        yield f"\t{ost:6d}\t{number:14d}\t{number:#13x}\t{0:14d}\n"


def _component(
    number: int,
    component: LayoutComponent,
    objects: Sequence[int] | None,
    *,
    ready: bool,
    release: tuple[int, ...],
) -> list[str]:
    """Return the lines of a component of a composite layout."""
    asked, on_mdt = component.request, component.request.on_mdt
    count, offset = len(component.osts), component.osts[0]
    if not ready:
        count, offset = asked.count or count, asked.offset
    lines = [
        f"    lcme_id:             {number}",
        *(["    lcme_mirror_id:      0"] if release >= _LATER else []),
        f"    lcme_flags:          {'init' if ready else 0}",
        f"    lcme_extent.e_start: {component.start}",
        f"    lcme_extent.e_end:   {'EOF' if component.end == EOF else component.end}",
        f"      lmm_stripe_count:  {0 if on_mdt else count}",
        f"      lmm_stripe_size:   {component.stripe_size}",
        f"      lmm_pattern:       {_pattern(component, release)}",
        "      lmm_layout_gen:    0",
        f"      lmm_stripe_offset: {0 if on_mdt else offset}",
        *([f"      lmm_pool:          {asked.pool}"] if asked.pool else []),
    ]
    if ready and not on_mdt:
        numbers = [2] * count if objects is None else objects
        lines.append("      lmm_objects:")
        lines += [
            f"      - {i}: {{ l_ost_idx: {ost}, "
            f"l_fid: [{_FIRST_OF_OST + ost * _AN_OST:#x}:{numbers[i]:#x}:0x0] }}"
            for i, ost in enumerate(component.osts)
        ]
    return [*lines, ""]


def _pattern(component: LayoutComponent, release: tuple[int, ...]) -> str:
    """Return the pattern of a component, as a release prints it."""
    if component.request.on_mdt:
        return "mdt"
    if component.request.overstriped:
        return "raid0,overstriped"
    return "raid0" if release >= _LATER else "1"
