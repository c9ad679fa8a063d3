"""What scripts calculate, count, list and write, before they start a program."""

from __future__ import annotations

import pytest

from xc40io.mpi.hint_text import read_romio_file
from xc40io.workloads.job_script.script import JobScript, read_job_script

HEAD = "#!/bin/bash\n#SBATCH -N 4 -C haswell --ntasks-per-node=32\n"


def read(*lines: str, head: str = HEAD) -> JobScript:
    return read_job_script(head + "\n".join(lines) + "\n", "job.sh")


@pytest.mark.parametrize(
    ("line", "ranks"),
    [
        ("let NP=4*32", 128),
        ('let "NP = SLURM_NNODES * 32"', 128),
        ("let NP=SLURM_NNODES*8 NP+=SLURM_NNODES", 36),
        ("((NP=4*32))", 128),
        ("NP=3; (( NP++ ))", 4),
        ("NP=$[4*32]", 128),
        ("NP=$((2**7))", 128),
        ("NP=$(( 1 << 4 ))", 16),
        ("NP=$(( SLURM_NNODES > 2 ? 8 : 16 ))", 8),
        ("NP=$(( (SLURM_JOB_NUM_NODES - 2) * $(echo -n 4) ))", 8),
        ("NP=$SLURM_NTASKS", 128),
        ("NODES=(4 8); for NP in ${NODES[@]}; do", 4),
        ("A=(1 2\n 4 # the last\n); NP=${A[-1]}", 4),
        ("declare -a A=(2 4); A+=(8); NP=${#A[@]}; let NP++", 4),
        ("NP=$(seq 4 8); for NP in $NP; do", 4),
        ("for NP in `seq 8 4 16`; do", 8),
        ("for NP in $(seq 8 -4 0); do", 8),
        ("for ((NP = 8; NP < 99; NP *= 2)); do", 8),
        ("for NP in {4..8}; do", 4),
        ("@ NP = $SLURM_NNODES * 2", 8),
        ('NP=$(echo "4*32" | bc)', 128),
        ("NP=$(scontrol show hostnames $SLURM_JOB_NODELIST | wc -l)", 4),
    ],
)
def test_numbers_that_a_script_calculates(line, ranks):
    found = read(line, "srun -n $NP ./ior -w").scenario()
    assert found.nodes * found.ppn == ranks


@pytest.mark.parametrize(
    ("head", "line", "shape"),
    [
        ("#PBS -l select=8", "N=`wc -l < $PBS_NODEFILE`", (8, 2)),
        ("#PBS -l select=2:ncpus=16:mpiprocs=4", "N=$(cat $PBS_NODEFILE | wc -l)", (2, 8)),
        ("#PBS -l nodes=2:ppn=4", "N=$(sort -u $PBS_NODEFILE | wc -l)", (2, 2)),
        (
            "#PBS -l nodes=2:ppn=4",
            "N=$(sort -u ${PBS_NODEFILE:-/dev/null} 2>/dev/null|wc -l)",
            (2, 2),
        ),
        ("#PBS -l nodes=2:ppn=4", "F=$PBS_NODEFILE; N=$(sort -u $F | wc -l)", (2, 2)),
        ("#PBS -l nodes=2:ppn=4", "N=`cat $PBS_NODEFILE | sort | uniq | wc -l`", (2, 2)),
        ("#COBALT -n 8", "N=$(cat $COBALT_NODEFILE | wc -l)", (8, 2)),
    ],
)
def test_nodes_counted_in_the_file_of_nodes(head, line, shape):
    ppn = shape[1]
    words = (
        f"aprun -n $(( N * 2 )) -N {ppn} ./ior" if ppn == 2 else f"mpiexec -n $[N*2] -ppn {ppn} ior"
    )
    found = read(line, words, head=f"#!/bin/bash\n{head}\n").scenario()
    assert (found.nodes, found.ppn) == (shape[0], ppn)


def test_the_words_of_an_array_are_options():
    (launch,) = read("O=(-w -o 'a b')", 'srun -n 4 ./ior "${O[@]}" -F').launches
    assert launch.command == "./ior -w -o a b -F"
    assert launch.scenario is not None
    assert launch.scenario.workload.ior == ("-w", "-o", "a b", "-F")
    loop = read('O=("-w -F" "-r")', 'for o in "${O[@]}"; do srun -n 4 ./ior $o; done')
    assert loop.scenario().workload.ior == ("-w", "-F")


@pytest.mark.parametrize(
    "lines",
    [
        "cat > h << E\nromio_cb_write enable\ncb_nodes $SLURM_NNODES\nE\nexport ROMIO_HINTS=./h",
        "cat <<-'E' >h\n\tromio_cb_write enable\n\tcb_nodes 4\n\tE\nexport ROMIO_HINTS=h",
        "tee h <<E\nromio_cb_write enable\ncb_nodes 4\nE\nexport ROMIO_HINTS=h",
        "echo romio_cb_write enable > h; echo cb_nodes 4 >> h; export ROMIO_HINTS=h",
        "printf 'romio_cb_write enable\\ncb_nodes 4\\n' > h; export ROMIO_HINTS=h",
    ],
)
def test_hints_that_the_script_writes(lines):
    found = read(lines, "srun -n 4 ./ior -a MPIIO -c -w").scenario()
    layer = read_romio_file(found.environment["ROMIO_HINTS"]).layer
    assert layer.values == {"romio_cb_write": "enable", "cb_nodes": "4"}


@pytest.mark.parametrize(
    "line",
    [
        "timeout 300 srun -n 8 ./ior -F",
        "timeout -k 10 1h time -p nice -n 3 srun -n 8 ./ior -F",
        "srun -n 8 shifter ./ior -F",
        "srun -n 8 shifter --image=docker:a/b:1 --volume /a:/b ./ior -F",
        "srun -n 8 singularity -q exec --nv -B /a:/b image.sif ./ior -F",
        "srun -n 8 taskset -c 0-3 strace -c -o trace numactl -p 1 env -u A B=1 ./ior -F",
    ],
)
def test_what_starts_a_program_for_another(line):
    found = read(line).scenario()
    assert (found.nodes * found.ppn, found.workload.ior) == (8, ("-F",))


def test_stripes_for_nothing_are_told():
    script = read("lfs setstripe -c 4", "srun -n 4 ./ior -o /a/b")
    assert script.scenario().striping.count is None
    assert script.notes == ("line 3: lfs setstripe names no folder or file, and does nothing",)
