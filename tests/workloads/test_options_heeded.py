"""Every option of every grammar has an effect, is noted, or is refused: none is passed in silence.

What is fed are the tables that the readers themselves go by. Options that change no I/O, as
accounts and names, stand here by name, so that a new one in a table has to be thought about.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from xc40io import InputError, load_machine
from xc40io.config.machine import Machine
from xc40io.config.setstripe import NOT_OF_A_FILE, OF_A_FILE, read_setstripe
from xc40io.config.striping import StripeRequest
from xc40io.mpi.hints import InForce, resolve
from xc40io.mpi.known_hints import (
    CRAY_DEFAULTS,
    KNOWN,
    OTHERS,
    ROMIO_DEFAULTS,
    STATISTICS_DEFAULTS,
    passed_over,
    read_displays,
)
from xc40io.workloads.batch import directives, launchers
from xc40io.workloads.batch.directives import Request
from xc40io.workloads.batch.option_words import Table
from xc40io.workloads.h5bench.benchmarks import PATTERN_OPTIONS
from xc40io.workloads.h5bench.configuration import Configuration, read_configuration
from xc40io.workloads.ior.parameters import OPTIONS as IOR_OPTIONS
from xc40io.workloads.ior.parameters import IorTest
from xc40io.workloads.job_script.layouts import read_layout
from xc40io.workloads.job_script.script import read_job_script
from xc40io.workloads.mdtest.parameters import OPTIONS as MDTEST_OPTIONS
from xc40io.workloads.mdtest.parameters import MdtestTest
from xc40io.workloads.option_table import Option, changed

VALUES = {
    **{"--cpu-bind": "none", "-cc": "none", "-bind-to": "none", "--export": "A=3", "-e": "A=3"},
    **{"-E": "A=3", "-x": "A=3", "-C": "knl", "--bb": "capacity=3GB", "-l": "nodes=3"},
    **{"-o": "cpu-affinity=off", "--hint": "nomultithread"},
    **{"-v": "A=3", "-R": "span[ptile=3]", "--env": "A=3", "-b": "none"},
}
"""Of options whose value is no number; by grammar where one letter means different things."""

SIMULATED = {*CRAY_DEFAULTS, *STATISTICS_DEFAULTS, *ROMIO_DEFAULTS} - {"MPICH_MPIIO_CB_ALIGN"}
ONE_VALUE = ("cb_align", "romio_lustre_cb_lock_ahead_write")
TOGETHER = {"direct_read": {"direct_write": "true"}, "direct_write": {"direct_read": "true"}}

# What changes no I/O: accounts, queues, names, limits, mail, output, memory of caches, GPUs, help.
SAME = {
    "aprun": "-D -F -P -b -C -E -T -V -Z -h -k -p -q -u -v -x -z "
    "--bypass-app-transfer --exclusive --help --p-governor --p-state --quiet --reconnect "
    "--sync-output --verbose --version --zone-sort --zone-sort-secs",
    "srun": "--comment --cpu-freq --cpus-per-gpu --disable-status --epilog --exact --exclusive "
    "--gpu-bind --gpus-per-node --gpus-per-task --gres --hold --image --immediate --jobid "
    "--kill-on-bad-exit --label --module --mpi --multi-prog-file --network --no-kill --open-mode "
    "--overlap --oversubscribe --preserve-env --profile --prolog --propagate --pty --quiet "
    "--reservation --resv-ports --signal --task-epilog --task-prolog --tres-per-task "
    "--unbuffered --verbose --volume --wckey --bcast -A -E -G -H -I -J -K -L -Q -T -W -X -a -e -i "
    "-k -l -o -p -q -s -t -u -v",
    "mpirun": "--allow-run-as-root --display-map --envall --envnone --exclusive --genvall "
    "--genvnone --label --label-separator --line-buffer --no-transfer --noinherit "
    "--nooversubscribe --oversubscribe --pmi --prefix --quiet --report-bindings --rlimits --soft "
    "--tag-output --transfer --umask --verbose -disable-auto-cleanup -display-map -envall "
    "-envnone -errfile-pattern -genvall -genvlist -genvnone -iface -l -launcher "
    "-outfile-pattern -output-filename -oversubscribe -path -personality -prepend-rank "
    "-prepend-rank-value -print-rank-map -q -quiet -report-bindings -rmk -s -tag-output "
    "-usize -v -verbose",
    "jsrun": "--allocate_only --immediate --pre_post --version -D -I -M -S -V -X -e -i -k -o -t "
    "-v -y",
    "ibrun": "",
    "flux run": "--add-file --begin-time --conf --cores --debug --dependency --dry-run "
    "--error --exclusive --flags --gpus-per-node --input --job-name --label-io --output "
    "--rlimit --signal --unbuffered --urgency --verbose --wait-event -B -g -l -q -t -u -v "
    "-x",
    "flux batch": "--begin-time --broker-opts --conf --debug --dependency --dry-run --dump --error "
    "--exclusive --flags --input --job-name --rlimit --signal --urgency --verbose -B -O -S "
    "-c -g -n -o -q -t -v -x",
    "sbatch": "--acctg-freq --bell-on-fail --comment --cpu-bind --cpu-freq --cpus-per-gpu "
    "--exclusive --get-user-env --gid --gpu-bind --gpus-per-node --gpus-per-task --gres "
    "--hold --ignore-pbs --image --immediate --mail-type --mail-user --module --network --nice "
    "--no-kill --no-requeue --open-mode --oversubscribe --parsable --perf --priority --profile "
    "--quiet --reboot --requeue --reservation --share --signal --test-only --time-min --tmp "
    "--tres-per-task --uid --use-min-nodes --verbose --volume --wait --wckey -A -D -G -H -I -J -L "
    "-M -Q -W -b -d -e -i -k -o -p -q -s -t -v",
    "Cobalt's qsub": "--attrs --cwd --debug --debuglog --defer --dependencies --disable_preboot "
    "--hold --interactive --ion_kernel --jobname --kernel --preemptable --run_project "
    "--run_project_arg --user_list -A -I -M -O -d -e -h -i -o -q -t -u",
    "the qsub of PBS": "-A -C -I -M -N -P -S -V -W -X -a -c -e -f -h -j -k -m -n -o -p -q -r -u -z "
    "-D",
    "bsub": "-B -E -G -H -I -Ip -Is -J -K -L -N -P -U -W -a -alloc_flags -app -b -e -env -eo -g "
    "-o -oo -q -r -step_cgroup -u -w -x",
}


def spelled(table: Table) -> list[str]:
    """Return each option of a table by its first name."""
    return [*dict.fromkeys(table.values.values()), *table.switches, *table.pairs]


def words_of(table: Table, name: str) -> list[str]:
    if name in table.switches:
        return [name]
    return [name, "A=3"] if name in table.pairs else [name, VALUES.get(name, "3")]


def is_heeded(read: dict[str, Any], without: dict[str, Any], notes: list[str]) -> bool:
    assert all(note.startswith("line 2: ") for note in notes)
    return read != without or bool(notes)


def silent_of_a_launcher(launcher: str, table: Table) -> set[str]:
    def read(*words: str) -> tuple[dict[str, Any], list[str]]:
        line = launchers.read_launch([launcher, *words, "ior"], 2, "job.sh")
        fields = asdict(line)
        return fields, fields.pop("notes")

    without, _ = read()
    return {
        name
        for name in spelled(table)
        if not is_heeded(*(lambda one: (one[0], without, one[1]))(read(*words_of(table, name))))
    }


@pytest.mark.parametrize(
    ("launcher", "table"),
    [
        ("aprun", launchers.APRUN),
        ("srun", launchers.SRUN),
        ("mpiexec", launchers.MPIRUN),
        ("jsrun", launchers.JSRUN),
        ("ibrun", launchers.IBRUN),
        ("flux run", launchers.FLUX),
    ],
)
def test_options_of_launchers(launcher: str, table: Table) -> None:
    assert silent_of_a_launcher(launcher, table) == set(SAME[table.program].split())


@pytest.mark.parametrize(
    ("sign", "table"),
    [
        ("#SBATCH", directives.SBATCH),
        ("#COBALT", directives.COBALT),
        ("#PBS", directives.PBS),
        ("#BSUB", directives.BSUB),
        ("#flux:", directives.FLUX_BATCH),
    ],
)
def test_options_of_batch_systems(sign: str, table: Table) -> None:
    silent = set()
    for name in spelled(table):
        request = Request()
        assert request.take(2, " ".join((sign, *words_of(table, name))), "job.sh")
        read, without = asdict(request), asdict(Request(system=request.system))
        notes = read.pop("notes")
        without.pop("notes")
        if not is_heeded(read, without, notes):
            silent.add(name)
    assert silent == set(SAME[table.program].split())


@pytest.mark.parametrize("verb", ["jobdw", "persistentdw", "stage_in", "stage_out", "swap", "what"])
def test_lines_of_datawarp(verb: str) -> None:
    request = Request()
    assert request.take(2, f"#DW {verb} capacity=3GB name=x", "job.sh")
    assert request.allocation or request.notes


@pytest.mark.parametrize("letter", [*OF_A_FILE, *NOT_OF_A_FILE])
def test_options_of_lfs_setstripe(letter: str) -> None:
    values = {"E": "-1", "S": "2m", "s": "2m", "o": "1,2", "L": "overstriping", "p": "fast"}
    for spelling in (letter, *(OF_A_FILE | NOT_OF_A_FILE)[letter].split()):
        dashes = "-" if len(spelling) == 1 else "--"
        flags = ("d", "v", "N", "foreign", "no-verify", "comp-add", "comp-del", "comp-set")
        words = [f"{dashes}{spelling}", *([] if letter in flags else [values.get(letter, "3")])]
        try:
            plain = read_setstripe(" ".join(words)) == read_setstripe("")
        except InputError:
            plain = letter in OF_A_FILE
        # A component up to the end of the file is the file itself.
        assert not plain or letter == "E"
        found = read_layout(["lfs", "setstripe", *words, "folder"], 2, "job.sh")
        assert found is not None
        layouts, notes = found
        changes = any(one.striping != StripeRequest() for one in layouts)
        assert changes or notes or letter in ("v", "E"), words


def hints(
    machine: Machine, environment: Mapping[str, str] | None = None, **program: Any
) -> InForce:
    return resolve(
        environment or {}, file_name="f", striping=StripeRequest(), machine=machine, **program
    )


@pytest.mark.parametrize("library", ["cray", "romio"])
@pytest.mark.parametrize("name", KNOWN)
def test_hints(name: str, library: str) -> None:
    machine = load_machine("theta").with_changes({"mpi.library": library})
    without = hints(machine)
    if name in ONE_VALUE:
        pytest.skip("one value is simulated, and any other one refused")
    tried = []
    for value in ("enable", "disable", "true", "3", "1", "8388608", "*:3", "x"):
        try:
            found = hints(machine, program={**TOGETHER.get(name, {}), name: value})
        except InputError:
            continue
        tried.append(found.hints != without.hints or found.ignored != without.ignored)
    assert any(tried), "no value has an effect, and none is noted"


@pytest.mark.parametrize("name", [*sorted(SIMULATED)])
def test_variables(name: str) -> None:
    machine = load_machine("theta")
    values = {"MPICH_MPIIO_HINTS": "*:cb_nodes=3", "ROMIO_HINTS": "cb_nodes 3\n"}
    value = values.get(name, "0" if ROMIO_DEFAULTS.get(name) == "1" else "1")
    environment = {name: value}
    without = hints(machine)
    found = hints(machine, environment)
    shown = read_displays(environment) != read_displays({})
    assert shown or found != without


def test_variables_of_others() -> None:
    for name in ("MPICH_MPIIO_STATS_FILE", "ROMIO_FSTYPE_FORCE", "ROMIO_WHAT", f"{OTHERS[0]}io"):
        (note,) = passed_over({name: "x"})
        assert note.startswith(f"{name}=x is ")
    read = read_job_script("#!/bin/bash\nOMPI_MCA_io=romio321 mpirun -n 2 ior -w\n")
    assert "OMPI_MCA_io: not simulated, and left out" in "".join(read.remarks())


@pytest.mark.parametrize(
    ("table", "test"), [(IOR_OPTIONS, IorTest()), (MDTEST_OPTIONS, MdtestTest())]
)
def test_options_of_benchmarks(table: tuple[Option, ...], test: IorTest | MdtestTest) -> None:
    for row in table:
        accepted = []
        for value in ("1", "0", "3", "8m", "x", "MPIIO", "2,3"):
            try:
                one = changed(test, row, row.names[0], value)
                accepted.append((one, one.without_effect))
            except InputError:
                continue
        only = all(one == (test, ()) for one in accepted)
        # Of some there is but one value that is simulated; any other one is refused.
        assert not only or row.refused or len(accepted) <= 1, row.names


@pytest.mark.parametrize("name", PATTERN_OPTIONS)
def test_options_of_h5bench(name: str, tmp_path: Path) -> None:
    def read(benchmark: str, **options: str) -> Configuration:
        configuration = {"TIMESTEPS": "2", "DIM_1": "64", "MEM_PATTERN": "CONTIG", **options}
        configuration.setdefault("FILE_PATTERN", "CONTIG")
        document = {
            "mpi": {"command": "srun", "ranks": "4", "configuration": "-N 2 -n 4"},
            **{"vol": {}, "file-system": {}, "directory": "d"},
            "benchmarks": [{"benchmark": benchmark, "file": "f", "configuration": configuration}],
        }
        path = tmp_path / "c.json"
        path.write_text(json.dumps(document))
        return read_configuration(str(path))

    if PATTERN_OPTIONS[name].refused or name == "CSV_FILE":  # that is looked at when it is written
        return
    heeded, told = False, ""
    for benchmark in ("write", "read", "write-unlimited"):
        for options in ({}, {"READ_OPTION": "STRIDED"}, {"NUM_DIMS": "2"}, {"NUM_DIMS": "3"}):
            rest = {f"DIM_{n}": "8" for n in (2, 3) if options.get("NUM_DIMS", "1") >= str(n)}
            for value in ("YES", "ASYNC", "3", "2", "16", "1 s", "STRIDED", "INTERLEAVED"):
                try:
                    given = read(benchmark, **options, **rest)
                    found = read(benchmark, **options | rest | {name: value})
                except InputError as error:
                    told += str(error)
                    continue
                heeded = heeded or found != given
    assert heeded or f".{name} = " in told
