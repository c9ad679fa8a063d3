"""Lines that start jobs, read back by what reads job scripts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io import load_machine
from xc40io.config.machine import shipped_machines
from xc40io.workloads.job_script.script import read_job_script
from xc40io.workloads.job_script.start_line import start_line, typed

MACHINES = {machine.name: machine for machine in shipped_machines()}


def test_every_machine_says_its_launcher():
    launchers = {name: machine.nodes.launcher for name, machine in MACHINES.items()}
    assert launchers == {
        "archer2-4cab": "srun",
        "archer-fs3": "aprun",
        "archer-fs3-fitted": "aprun",
        "archer-fs4": "aprun",
        "archer-fs4-fitted": "aprun",
        "cori-2015": "srun",
        "cori-haswell": "srun",
        "cori-haswell-2019": "srun",
        "cori-knl": "srun",
        "cori-knl-2019": "srun",
        "ddn-isc17": "srun",
        "dell-lustre-2014": "srun",
        "dell-lustre-2016": "srun",
        "mistral-lustre01": "srun",
        "shaheen-fitted": "srun",
        "slingshot-flash": "srun",
        "theta": "aprun",
        "theta-2017": "aprun",
        "titan": "aprun",
    }


def test_where_nobody_says_it_is_aprun():
    theta = load_machine("theta")
    unsaid = theta.model_copy(update={"nodes": theta.nodes.model_copy(update={"launcher": None})})
    assert start_line(unsaid, 2, 3, ["ior", "-w"]) == "aprun -n 6 -N 3 ior -w"


@given(
    st.sampled_from(sorted(MACHINES)),
    st.integers(1, 50),
    st.integers(1, 16),
    st.integers(0, 2),
    st.booleans(),
    st.text("ab $'\"\\`#;/", min_size=1, max_size=9),
)
def test_what_is_written_is_read_back(name, nodes, ppn, core_spec, bound, path):
    words = ["./ior", "-w", "-o", f"/{path}"]
    line = start_line(MACHINES[name], nodes, ppn, words, core_spec=core_spec, bound=bound)
    found = read_job_script(f"#!/bin/bash\n{line}\n", "job.sh").scenario()
    assert (found.nodes, found.ppn) == (nodes, ppn)
    assert found.cores.system == core_spec
    assert found.cores.bind == ("cores" if bound else "none")
    assert found.workload.ior == tuple(words[1:])


@pytest.mark.parametrize(
    ("word", "line"),
    [
        ("a b", "'a b'"),
        ("$SCRATCH/out", "$SCRATCH/out"),
        ("$SCRATCH/my out", '"$SCRATCH/my out"'),
        ("$5", "$5"),
        ("*", "'*'"),
    ],
)
def test_variables_stay_variables(word, line):
    assert typed(word) == line
