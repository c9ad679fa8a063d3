"""Job scripts where a scenario can stand: run, explain, tune, sweep, compare."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result
from documents import ROOT, blocks

from xc40io.cli.app import cli

SCRIPT = """\
#!/bin/bash
#SBATCH -N 2 -C knl
#SBATCH --ntasks-per-node=2
lfs setstripe -c 4 -S 2m out
srun ./ior -w -b 2m -t 1m -o out/x
srun ./ior -r -b 1m -t 1m -o out/x
"""


@pytest.fixture(autouse=True)
def job(tmp_path: Path) -> Path:
    path = tmp_path / "job.sbatch"
    path.write_text(SCRIPT)
    return path


def typed(*words: str) -> Result:
    return CliRunner().invoke(cli, list(words))


def printed(*words: str) -> dict[str, object]:
    done = typed("run", *words, "--print")
    assert done.exit_code == 0, done.output
    found: dict[str, object] = yaml.safe_load(done.stdout)
    return found


def test_run_takes_the_first_launch_and_tells_the_others():
    done = typed("run", "job.sbatch")
    assert done.exit_code == 0, done.output
    assert "Machine             : cori-knl (simulated)" in done.stdout
    assert done.stderr == (
        "xc40io: job.sbatch: line 6: './ior -r -b 1m -t 1m -o out/x' is launch 2 of 2; "
        "job.sbatch:2 takes it\n"
    )


def test_a_number_behind_a_colon_takes_another_launch():
    assert printed("job.sbatch:2")["workload"] == {"ior": "-r -b 1m -t 1m -o out/x"}


def test_options_count_in_place_of_the_script():
    found = printed("job.sbatch", "--nodes", "3", "--stripe-size", "8m", "--hints", "*:cb_nodes=1")
    assert (found["nodes"], found["ppn"]) == (3, 2)
    assert found["striping"] == {"count": 4, "size": "8 MiB", "offset": -1, "mdts": 1}
    assert found["environment"] == {"MPICH_MPIIO_HINTS": "*:cb_nodes=1"}
    assert printed("job.sbatch", "--target", "bb")["target"]["kind"] == "bb"  # type: ignore[index]
    theta = printed("job.sbatch", "--machine", "theta")["machine"]
    assert isinstance(theta, dict)
    assert theta["name"] == "theta"


def test_a_file_with_directives_is_one_whatever_its_name(job):
    job.rename("job")
    assert printed("job")["nodes"] == 2


@pytest.mark.parametrize(
    "words",
    [
        ("explain", "job.sbatch", "--jobs", "1"),
        ("tune", "job.sbatch", "--jobs", "1", "--budget", "2", "--repeat", "1"),
        ("sweep", "job.sbatch", "--jobs", "1", "--over", "striping.count=1,2"),
        ("compare", "job.sbatch", "job.sbatch:2", "--jobs", "1"),
    ],
)
def test_studies_take_a_script(words):
    done = typed(*words)
    assert done.exit_code == 0, done.output
    assert "launch 2 of 2" in done.stderr
    if words[0] == "tune":
        if "Change nothing" not in done.stdout:  # then there is a line to paste
            assert "srun -N 2 -n 4 --ntasks-per-node=2 ior -w -b 2m -t 1m -o out/x" in done.stdout
        assert "belongs to ALPS" not in done.stdout


def test_a_script_that_is_not_there_is_told_in_a_sentence():
    done = typed("run", "none.sh")
    assert done.exit_code == 2
    assert "none.sh: there is no such file" in done.stderr


def test_the_page_shows_what_is_told_on_stderr(tmp_path: Path):
    page = blocks((ROOT / "docs" / "job-scripts.md").read_text(encoding="utf-8"))
    (script,) = (block for block in page if block.words == "checkpoint.sbatch")
    shown = next(block for block in page if block.language == "text")
    (tmp_path / "checkpoint.sbatch").write_text("\n".join(script.lines) + "\n")
    assert typed("run", "checkpoint.sbatch", "--print").stderr.splitlines() == list(shown.lines)


@pytest.mark.parametrize(
    ("typed_as", "workload"),
    [
        ("ior -a MPIIO -c -w -b 1m -t 1m", {"ior": "-a MPIIO -c -w -b 1m -t 1m"}),
        ("-w -b 2m", {"ior": "-w -b 2m"}),
        ("kernel vpic-io --steps 2", {"kernel": {"name": "vpic-io", "steps": 2}}),
    ],
)
def test_a_program_that_is_not_known_is_what_as_says(tmp_path, typed_as, workload):
    (tmp_path / "job.sh").write_text("#!/bin/sh\naprun -n 4 -N 2 ./climate\n")
    done = typed("run", "job.sh", "--as", typed_as, "--print")
    assert done.exit_code == 0, done.stderr
    found = yaml.safe_load(done.stdout)
    ((program, said),) = workload.items()
    told = found["workload"][program]
    assert told == said or said.items() <= told.items()
    assert (found["nodes"], found["ppn"]) == (2, 2)
    assert "line 2: './climate' is taken for" in done.stderr


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (("run", "job.sh"), "right would be what it does beside that, as in --as 'ior"),
        (("run", "job.sh", "--as", "nothing -w"), "--as 'nothing -w': no program is called so"),
        (("run", "job.sh", "--as", "ior '"), "No closing quotation; right would be --as 'ior"),
        (("run", "job.sh", "--as", "ior --zz"), "--zz"),
        (("run", "theta-headline", "--as", "ior -w"), "--as 'ior -w' beside theta-headline"),
        (("tune", "theta-headline", "--as", "ior -w"), "--as 'ior -w' beside theta-headline"),
        (("explain", "--as", "ior -w", "--", "-w"), "--as 'ior -w' beside a command line"),
        (("sweep", "theta-headline", "--as", "ior -w"), "--as 'ior -w' beside theta-headline"),
        (("compare", "theta-headline", "--what-if", "nodes=2", "--as", "ior -w"), "beside theta"),
    ],
)
def test_as_that_cannot_be_is_told_in_a_sentence(tmp_path, line, message):
    (tmp_path / "job.sh").write_text("#!/bin/sh\naprun -n 4 -N 2 ./climate\n")
    done = typed(*line)
    assert done.exit_code == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
