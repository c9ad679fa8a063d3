"""Skeleton files: what is read, and in which sentence the rest is refused."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from xc40io.config.errors import InputError
from xc40io.workloads.known_kernels import KERNELS, WRITTEN
from xc40io.workloads.skeleton.kernel import read_kernel

GOOD = """\
summary: A test.
parameters:
  size: {unit: size, default: 1 MiB, description: Bytes.}
  layout: {unit: choice, choices: [job, rank], default: rank, description: Who shares.}
let: {half: size // 2}
draws:
  mine: {distribution: normal, mean: 2 * half, spread: 0.1, multiple: 8, anew: [step]}
files:
  data: {per: $layout}
phases:
  - repeat:
      times: 3
      counter: step
      phases:
        - {create: data}
        - barrier
        - write: {file: data, size: mine, transfer: half}
        - compute: 1 s
        - close: data
"""


def read(tmp_path: Path, text: str):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    written = {name: kernel.load for name, kernel in WRITTEN.items()}
    return read_kernel(path, "mine", written)


def test_parameters_are_options_with_units(tmp_path):
    kernel = read(tmp_path, GOOD).model_validate({"size": "2 MiB"})
    assert (kernel.size, kernel.layout) == (2 * 2**20, "rank")
    assert kernel.model_dump(mode="json") == {"size": "2 MiB", "layout": "rank"}


def test_bytes_to_move_are_those_of_all_steps(tmp_path):
    fixed = GOOD.replace("size: mine", "size: size")
    assert read(tmp_path, fixed).model_validate({}).bytes_to_move(4) == 3 * 4 * 2**20
    drawn = read(tmp_path, GOOD).model_validate({}).bytes_to_move(400)
    assert drawn == pytest.approx(3 * 400 * 2**20, rel=0.02)


def test_draws_differ_by_step_and_stay_the_same_for_a_seed(tmp_path):
    kernel = read(tmp_path, GOOD).model_validate({})
    node = np.repeat(np.arange(8), 8)

    def drawn(step: int, seed: int):
        scope = kernel.scope(node, seed)
        scope.count("step", step)
        return np.asarray(scope["mine"])

    assert (drawn(0, 1) == drawn(0, 1)).all()
    assert (drawn(0, 1) != drawn(1, 1)).any()
    assert (drawn(0, 1) != drawn(0, 2)).any()
    assert (drawn(0, 1) % 8 == 0).all()


WRONG = {
    "size: mine, transfer": ("size: mine, tranfer", "no such field; did you mean transfer"),
    "{per: $layout}": ("{per: everyone}", "per = 'everyone': right would be rank, node"),
    "$layout": ("$size", "right would be a parameter with unit: choice"),
    "mean: 2 * half": ("mean: sizes", "mean = 'sizes': there is no sizes; did you mean size"),
    "anew: [step]": ("anew: [stop]", "no repeat has the counter stop; did you mean step"),
    "size // 2": ("mine", "half, mine: each needs the value of another"),
    "create: data": ("create: date", "there are no files date; did you mean data"),
    "- barrier": ("- barier", "there is no such field; did you mean barrier"),
    "- compute: 1 s": ("- {compute: 1 s, close: data}", "a phase of close and compute"),
    "default: 1 MiB": ("default: 1 Mb", "parameters.size.default"),
    "{unit: size,": ("{unit: size, tried: true,", "right would be unit: choice or switch"),
    "unit: size": ("unit: bytes", "parameters.size.unit = 'bytes'"),
    "half: size": ("rank: size", "rank is also a name that is there already"),
    "times: 3": ("times: __import__", "there is no __import__"),
    "  mine: {": ("  half: {", "each needs its own name"),
    "distribution: normal": ("distribution: gauss", "right would be fixed, uniform, normal"),
    "summary: A test.\n": ("", "summary is missing"),
    "write: {file: data,": ("write: {file: data, dataset: d,", "right would be hdf5"),
    "data: {per: $layout}": ("data: {per: group}", "right would be per: group with ranks"),
}  # fmt: skip


@pytest.mark.parametrize("part", WRONG)
def test_what_is_wrong_is_said_with_its_place(tmp_path, part):
    other, sentence = WRONG[part]
    assert part in GOOD
    with pytest.raises(InputError) as caught:
        read(tmp_path, GOOD.replace(part, other))
    assert sentence in str(caught.value).replace("\n", " ")
    assert str(caught.value).startswith(str(tmp_path / "mine.yaml"))


def test_libraries_set_sizes_themselves(tmp_path):
    cut = GOOD.replace(
        "write: {file: data, size: mine, transfer: half}", "truncate: {file: data, size: half}"
    )
    assert read(tmp_path, cut).model_validate({}).bytes_to_move(4) == 0
    with pytest.raises(InputError, match=r"truncate: files data have api: hdf5, which sets sizes"):
        read(tmp_path, cut.replace("{per: $layout}", "{per: $layout, api: hdf5}"))


ONLY_A_JOB_CAN_TELL = {
    "transfer: half": (
        "only: size / 0 > 1",
        "phases.0.repeat.phases.2.write: only = 'size / 0 > 1' has no value: divi",
    ),
    "times: 3": (
        "times: rank",
        "phases.0.repeat: times = 'rank' must be the same for all ranks",
    ),
    "size // 2": ("size // 0", "let.half = 'size // 0' has no value: divi"),
    "spread: 0.1": ("spread: layout", "draws.mine: spread = 'layout' is a word; right would be"),
    "size: mine": ("size: half - size", "write: size = 'half - size' is -524,288; right would be"),
    "- {create: data}": ("- {create: data, when: rank > 0}", "phases.0: when = 'rank > 0' must be"),
    "mean: 2 * half": (
        "mean: 2.0 ** 64",
        "mean = '2.0 ** 64' has no value: it is larger than 2^62",
    ),
}


@pytest.mark.parametrize("part", ONLY_A_JOB_CAN_TELL)
def test_what_only_a_job_can_tell_is_said_with_its_place(tmp_path, part):
    other, sentence = ONLY_A_JOB_CAN_TELL[part]
    assert part in GOOD
    kernel = read(tmp_path, GOOD.replace(part, other)).model_validate({})
    with pytest.raises(InputError, match=re.escape(sentence)):
        kernel.bytes_to_move(4)


def test_a_kernel_with_other_defaults(tmp_path):
    text = "summary: S\nkernel: adios\ndefaults: {size: 24 MB, distribution: normal}\n"
    kind = read(tmp_path, text)
    assert kind.model_validate({}).size == 24_000_000
    assert kind.model_validate({"steps": 3}).steps == 3
    assert "What a rank writes" in (kind.model_fields["size"].description or "")
    with pytest.raises(InputError, match="defaults: sizes: there is no such field"):
        read(tmp_path, text.replace("size:", "sizes:"))
    with pytest.raises(InputError, match="kernel = 'adois': right would be one of adios"):
        read(tmp_path, text.replace("adios", "adois"))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_damaged_files_end_in_a_sentence(tmp_path, data):
    raw = bytearray(GOOD.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / "mine.yaml"
    path.write_bytes(bytes(raw)[: data.draw(st.integers(1, len(raw)))])
    with suppress(InputError, ValidationError):  # and nothing else
        assert read_kernel(path, "mine", {}).model_validate({}).bytes_to_move(2) >= 0


def test_every_shipped_skeleton_says_what_it_is_and_where_it_comes_from():
    for name in set(KERNELS) - set(WRITTEN):
        kernel = KERNELS[name]
        assert len(kernel.summary) > 20
        document = yaml.safe_load(kernel.path.read_text())  # type: ignore[attr-defined]
        assert len(document["description"]) > 150
        for option, info in kernel.load().model_fields.items():
            assert info.description, (name, option)


def test_the_example_of_the_documentation_is_a_kernel(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "kernels.md").read_text()
    example = page.split("```yaml mine.yaml\n")[1].split("```")[0]
    kernel = read(tmp_path, example).model_validate({"particles": 64_000})
    assert kernel.bytes_to_move(64) == pytest.approx(5 * 48 * 64_000, rel=0.05)
