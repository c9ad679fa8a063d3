from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.config.errors import InputError
from xc40io.mpi.hint_text import (
    Layer,
    read_ior_hints,
    read_patterns,
    read_romio_file,
    with_more_hints,
)


def patterns(text: str, file_name: str) -> dict[str, str]:
    return dict(read_patterns(text, "HINTS", file_name).layer.values)


def test_the_first_pattern_that_fits_counts() -> None:
    text = "*/INIT.*:cb_nodes=6,*/MPAS.*:cb_nodes=8:striping_factor=4,*:cb_nodes=1"
    assert patterns(text, "run/INIT.nc") == {"cb_nodes": "6"}
    assert patterns(text, "run/MPAS.nc") == {"cb_nodes": "8", "striping_factor": "4"}
    assert patterns(text, "other") == {"cb_nodes": "1"}


def test_a_file_that_no_pattern_fits_gets_no_hints() -> None:
    assert patterns("wrfout*:cb_nodes=40", "/scratch/wrfout_d01") == {}


@pytest.mark.parametrize("pattern", ["dump.*", "dump.0?", "dump.[0-3]1", "*"])
def test_patterns_have_the_wildcards_of_a_shell(pattern: str) -> None:
    assert patterns(f"{pattern}:cb_nodes=2", "dump.01") == {"cb_nodes": "2"}


def test_a_later_pattern_that_would_fit_is_named() -> None:
    read = read_patterns("*:cray_cb_write_lock_mode=2,*:cray_cb_nodes_multiplier=4", "HINTS", "f")
    assert dict(read.layer.values) == {"cray_cb_write_lock_mode": "2"}
    (note,) = read.notes
    assert "*:cray_cb_nodes_multiplier=4" in note


def test_hashes_take_the_meaning_from_separators() -> None:
    text = "*:cb_config_list=#nid00000:2,*:1#:cb_nodes=3,other:cb_nodes=4"
    assert patterns(text, "f") == {"cb_config_list": "nid00000:2,*:1", "cb_nodes": "3"}


def test_colons_and_commas_at_the_end_of_a_line_do_no_harm() -> None:
    text = "wrfrst*:cb_nodes=40:,\n wrfout*:cb_nodes=20:striping_unit=2097152,"
    assert patterns(text, "wrfout1") == {"cb_nodes": "20", "striping_unit": "2097152"}


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("*:romio_cb_write=enable,romio_ds_write=disable", "'romio_ds_write=disable' has no file"),
        ("striping_factor=32", "'striping_factor=32' has no file pattern"),
        (":cb_nodes=4", "':cb_nodes=4' has no file pattern"),
        ("*:cb_nodes", "'cb_nodes' is not hint=value"),
        ("*:=4", "'=4' is not hint=value"),
        ("*:cb_config_list=#*:8", "# without its second"),
    ],
)
def test_text_without_a_pattern_or_a_value_is_refused(text: str, wrong: str) -> None:
    with pytest.raises(InputError, match=r"HINTS: .*right would be") as caught:
        read_patterns(text, "HINTS", "f")
    assert wrong in str(caught.value)


_WORD = st.text("abcdef_0123", min_size=1, max_size=8)


@given(st.lists(st.tuples(_WORD, st.dictionaries(_WORD, _WORD, min_size=1)), max_size=4), _WORD)
def test_text_gives_back_what_was_written(
    specifications: list[tuple[str, dict[str, str]]], file_name: str
) -> None:
    text = ",".join(
        ":".join([pattern, *(f"{name}={value}" for name, value in hints.items())])
        for pattern, hints in specifications
    )
    expected = next((hints for pattern, hints in specifications if pattern == file_name), {})
    assert patterns(text, file_name) == expected


def test_a_romio_file_has_a_hint_and_a_value_on_a_line(tmp_path: Path) -> None:
    path = tmp_path / "romio-hints"
    path.write_text(
        "# the site's\ncb_nodes 32\n\nstriping_factor\t8\ncb_nodes 4\n"
        "striping_unit 4194304  // 4 MiB\n"
    )
    layer, notes = read_romio_file(str(path))
    assert dict(layer.values) == {"cb_nodes": "32", "striping_factor": "8"}
    assert str(path) in layer.source
    assert [note.split(": ")[1].split(",")[0] for note in notes] == ["line 5", "line 6"]


def test_a_romio_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"ROMIO_HINTS.*none: there is no such file"):
        read_romio_file(str(tmp_path / "none"))


def test_iors_file_wins_over_its_variables(tmp_path: Path) -> None:
    path = tmp_path / "hints"
    path.write_text("# tuned\nIOR_HINT__MPI__cb_nodes=16\nIOR_HINT__MPI__romio_cb_write = enable\n")
    environment = {"IOR_HINT__MPI__cb_nodes": "8", "HOME": "/"}
    layers = read_ior_hints(environment, str(path))
    assert layers == (
        Layer("IOR_HINT__MPI__ variables", {"cb_nodes": "8"}),
        Layer(f"IOR -U {path}", {"cb_nodes": "16", "romio_cb_write": "enable"}),
    )


def test_ior_gives_no_hints_unless_asked() -> None:
    assert read_ior_hints({"HOME": "/"}) == ()


def test_what_is_no_hint_in_iors_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "hints"
    path.write_text("cb_nodes=16\n")
    with pytest.raises(InputError, match="line 1, 'cb_nodes=16': right would be IOR_HINT__MPI__"):
        read_ior_hints({}, str(path))


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("", "*:a=1:b=2"),
        ("*:c=3", "*:c=3:a=1:b=2"),
        ("*:a=5:c=3", "*:c=3:a=1:b=2"),
        ("out*:b=7,*:c=3,", "out*:a=1:b=2,*:c=3:a=1:b=2"),
        ("out:cb_config_list=#*:2,x:1#", "out:cb_config_list=#*:2,x:1#:a=1:b=2,*:a=1:b=2"),
    ],
)
def test_more_hints_stand_behind_every_pattern(text, joined):
    assert with_more_hints(text, "a=1:b=2") == joined
    for name in ("out", "outer", "in"):
        read = read_patterns(joined, "here", name).layer.values
        before = read_patterns(text, "here", name).layer.values
        assert read == {**before, "a": "1", "b": "2"}
