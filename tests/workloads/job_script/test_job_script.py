"""Job scripts of the sites, read as the scenarios of their launches."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from xc40io import InputError, load_job_script
from xc40io.config.asked_workload import Workload
from xc40io.config.scenario import machine_of
from xc40io.config.striping import StripeRequest
from xc40io.workloads.catalogue import workload_of
from xc40io.workloads.job_script.edited import NewSettings, edited_script
from xc40io.workloads.job_script.files import is_job_script
from xc40io.workloads.job_script.script import CallerFacts, JobScript, read_job_script

MIB = 1 << 20

NERSC = """\
#!/bin/bash -l
#SBATCH -N 8 -C knl,quad,cache     # nodes
#SBATCH --ntasks-per-node=32
#SBATCH -S 4
#SBATCH -q regular
#SBATCH --time 00:30:00
#SBATCH -L SCRATCH
#DW jobdw capacity=2000GB access_mode=striped type=scratch

module load ior
export MPICH_MPIIO_HINTS="*:cray_cb_nodes_multiplier=2"
export MPICH_MAX_THREAD_SAFETY=multiple OMP_NUM_THREADS=1
OUT=$SCRATCH/ior_${SLURM_JOB_ID}
mkdir -p $OUT
lfs setstripe -c 24 -S 8m "$OUT"

srun -n $((SLURM_NNODES * 32)) -c 8 --cpu-bind=cores ./ior -a MPIIO -c -w -b 64m -t 8m -o $OUT/all
srun ./ior -a POSIX -F -w -b 64m -t 1m -o ${DW_JOB_STRIPED}/own > own.log 2>&1
srun -n 1 ./post_process $OUT
"""

ALCF = """\
#!/bin/bash
#COBALT -n 16 -t 30 -q debug-cache-quad -A Project
#COBALT --attrs mcdram=cache:numa=quad

export PPN=16
RANKS=$(( COBALT_JOBSIZE * PPN ))
cd /lus/theta-fs0/projects/Project/run
lfs setstripe --stripe-count 48 --stripe-size 8m .
for t in 1m 4m; do
  aprun -n $RANKS -N $PPN -d 4 -j 1 -r 2 -cc none \\
    --env MPICH_MPIIO_HINTS_DISPLAY=1 \\
    ./ior.exe -a MPIIO -c -w -r -b 64m -t $t -o data
done
"""

OLCF = """\
#!/bin/csh
#PBS -A ABC123
#PBS -N vpic
#PBS -l walltime=1:00:00,nodes=64
#PBS -l gres=atlas1
cd $MEMBERWORK/abc123
setenv MPICH_MPIIO_HINTS "*:romio_cb_write=enable"
lfs setstripe -c 16 out
aprun -n 1024 -N 16 ./vpicio_uni out/particles.h5
"""


def script(text: str, **told: object) -> JobScript:
    return read_job_script(text, "job.sh", CallerFacts(**told))  # type: ignore[arg-type]


def body(*lines: str, head: str = "#SBATCH -N 4 -C knl") -> JobScript:
    return script("\n".join(("#!/bin/bash", head, *lines)) + "\n")


def test_a_script_of_nersc():
    read = script(NERSC)
    first, second = read.launches
    assert (first.line, second.line) == (17, 18)
    shared, own = first.scenario, second.scenario
    assert shared is not None
    assert own is not None
    assert (shared.machine, shared.nodes, shared.ppn) == ("cori-knl", 8, 32)
    assert (own.nodes, own.ppn) == (8, 32)
    assert shared.cores.system == own.cores.system == 4
    assert shared.striping == StripeRequest(count=24, size=8 * MIB)
    assert shared.target.kind == "lustre"
    assert shared.environment == {"MPICH_MPIIO_HINTS": "*:cray_cb_nodes_multiplier=2"}
    assert shared.workload.ior is not None
    assert shared.workload.ior[-2:] == ("-o", "$SCRATCH/ior_$SLURM_JOB_ID/all")
    assert (own.target.kind, own.target.capacity) == ("bb", 2 * 10**12)
    assert own.striping == StripeRequest()
    for scenario in (shared, own):
        workload_of(scenario.workload).check(scenario, machine_of(scenario))
    assert read.scenario() == shared
    assert read.scenario(2) == own
    notes = read.remarks()
    assert any(
        note.startswith("line 19: './post_process' is no program that is known here")
        for note in notes
    )
    assert any("MPICH_MAX_THREAD_SAFETY: not simulated" in note for note in notes)
    assert notes[-1].endswith("is launch 2 of 2; job.sh:2 takes it")


def test_a_script_of_alcf():
    read = script(ALCF)
    (launch,) = read.launches
    found = launch.scenario
    assert found is not None
    assert (found.machine, found.nodes, found.ppn) == ("theta", 16, 16)
    assert (found.cores.system, found.cores.bind) == (2, "none")
    assert found.striping == StripeRequest(count=48, size=8 * MIB)
    assert found.environment == {"MPICH_MPIIO_HINTS_DISPLAY": "1"}
    assert found.workload.command == "ior -a MPIIO -c -w -r -b 64m -t 1m -o data"
    assert read.remarks() == (
        "line 9: the loop over t is not followed: what is in it is read once, with t=1m",
    )


def test_a_script_of_olcf():
    read = script(OLCF)
    found = read.scenario()
    assert (found.machine, found.nodes, found.ppn) == ("titan", 64, 16)
    assert found.workload.kernel == {"name": "vpic-io"}
    assert found.striping.count == 16
    assert found.environment == {"MPICH_MPIIO_HINTS": "*:romio_cb_write=enable"}
    assumed, kernel = read.remarks()
    assert assumed.startswith("the script does not say its machine; simulated is titan")
    assert "taken for the kernel vpic-io, with its options at their defaults" in kernel


def test_a_scripts_paths_tell_its_machine():
    text = "#!/bin/bash\naprun -n 4 -N 2 ior -w -o /lus/theta-fs0/x\n"
    read = script(text)
    assert (read.scenario().machine, read.remarks()) == ("theta", ())
    on_cori = script("#!/bin/bash\n#SBATCH -N 2\nsrun ior -w -o /global/cscratch1/x\n")
    assert on_cori.scenario().machine == "cori-haswell"
    assert "are those of cori-2015, cori-haswell, cori-knl" in on_cori.remarks()[0]


@pytest.mark.parametrize(
    ("head", "line", "shape"),
    [
        ("#SBATCH --nodes=4", "srun --ntasks-per-node 8 ior", (4, 8)),
        ("#SBATCH -N4 -n 128", "srun ior", (4, 32)),
        ("#SBATCH -N 4 --ntasks-per-node=32", "srun -n 32 ior", (4, 8)),
        ("#SBATCH -N 4 --ntasks-per-node=32", "srun -N 2 ior", (2, 32)),
        ("#SBATCH -N 4", "srun ior", (4, 1)),
        ("#SBATCH -n 64 --ntasks-per-node 16", "srun ior", (4, 16)),
        ("#SBATCH -N 2-4 -n 8", "srun -n $SLURM_NTASKS ior", (2, 4)),
        ("#SBATCH -N 4 -C knl", "srun -n 2 ior", (2, 1)),
        ("#SBATCH -N 4", "mpirun -np 8 -ppn 4 ior", (2, 4)),
        ("#SBATCH -N 4", "mpirun -n 8 ior", (4, 2)),
        ("#SBATCH -N 4", "mpiexec --np 8 --map-by ppr:4:node -x A=B ior", (2, 4)),
        ("#PBS -l nodes=2:ppn=16", "mpiexec -n 32 ior", (2, 16)),
        ("#PBS -l nodes=2:ppn=16", "aprun -n $((PBS_NUM_NODES*PBS_NUM_PPN)) -N 16 ior", (2, 16)),
        ("#PBS -l select=3:ncpus=32:mpiprocs=8", "mpiexec ior", (3, 8)),
        ("#PBS -l select=1:mpiprocs=8+2:mpiprocs=8", "mpiexec ior", (3, 8)),
        ("#PBS -l mppwidth=64,mppnppn=16", "mpiexec ior", (4, 16)),
        ("#COBALT -n 8", "aprun -n $(expr $COBALT_JOBSIZE \\* 4) -N 4 ior", (8, 4)),
        ("#COBALT --nodecount=8", "aprun -n 32 -N4 ior", (8, 4)),
        ("#COBALT -n 8", "aprun ior", (1, 1)),
        ("#COBALT -n 8", "aprun -n 128 ior", (2, 64)),
        ("#COBALT -n 8", "aprun -n 128 -j 2 -d 4 ior", (4, 32)),
        ("#COBALT -n 8", "aprun -n 96 -d 2 -r 16 ior", (4, 24)),
        ("#COBALT -n 8", "ior -w", (1, 1)),
        ("#SBATCH -N 4", "mpiexec -n 128 --ppn 32 --cpu-bind depth --depth 4 ./ior -w", (4, 32)),
        ("#SBATCH -N 4", "mpiexec -d 4 -env A=1 --env B=2 -n 128 ./ior -w", (4, 32)),
        ("#SBATCH -N 4", "mpiexec -env A 1 -genv B=1 -np 8 ./ior -w", (4, 2)),
        ("#SBATCH -N 4", "mpirun --mca io romio321 -np 8 -N 2 ./ior -w", (4, 2)),
        ("#SBATCH -N 4", "srun -n 8 --mpi pmix --gpu-bind none ./ior -w", (4, 2)),
        ("#SBATCH -N 4 --ntasks-per-node=32", "aprun -B ior", (4, 32)),
        ("#PBS -l mppwidth=64,mppnppn=16,mppdepth=2", "aprun -B ior", (4, 16)),
        ("#PBS -l select=2:ncpus=128:mpiprocs=64", "mpiexec ior", (2, 64)),
        ("#BSUB -nnodes 4", "jsrun -n ALL_HOSTS -r 2 -a 3 ior", (4, 6)),
        ("#BSUB -nnodes 4", "jsrun -n 8 -a 4 ior", (4, 8)),
        ("#BSUB -nnodes 4", "jsrun -p 32 ior", (4, 8)),
        ("#SBATCH -N 4 -n 8", "ibrun ior", (4, 2)),
    ],
)
def test_nodes_and_ranks_on_each(head, line, shape):
    found = body(line, head=head).scenario()
    assert (found.nodes, found.ppn) == shape


@pytest.mark.parametrize(
    ("line", "note"),
    [
        ("aprun -n 5 -N 2 ior", "5 ranks do not fill 3 nodes evenly; simulated are 2 on each, 6"),
        ("aprun -n 16 -N 2 ior", "needs 8 nodes, and the script asks for 4; simulated are 8"),
        ("aprun -n 200 ior", "aprun without -N fills the cores of a node: 68 ranks on each"),
        ("aprun -n 1 -N 1 ior : -n 1 ior", "aprun starts several programs at once (:)"),
        ("srun --hold-tight ior", "--hold-tight is no option of srun that is known here"),
        ("srun -m cyclic ior", "srun -m 'cyclic': ranks lie on nodes one after the other"),
        ("mpirun --mca io ompio ior", "mpirun --mca 'io=ompio': settings of Open MPI's own layers"),
        ("ROMIO_HINTS=no srun ior", "ROMIO_HINTS=no: there is no such file here, and the script"),
        ("aprun -n 4 -ppn 2 -maxtime 20:00 ior", "-ppn is no option of aprun that is known here"),
        ("export PNETCDF_HINTS=a=b; srun ior", "PNETCDF_HINTS: not simulated, and left out"),
        ("for ((i=1; i<3; i++)); do srun ior; done", "what is in it is read once, with i=1"),
        ("srun ior &", "ior is started in the background (&)"),
        ("if true; then srun ior; fi", "if is not followed: what is in it is read once"),
        ("source setup.sh; srun ior", "'source setup.sh' is not followed"),
        ("sbatch next.sh; srun ior", "sbatch submits another job, which is not followed"),
        ("MPICH_MPIIO_CB_ALIGN=2; srun ior", "MPICH_MPIIO_CB_ALIGN is set above, and not exported"),
        ("lfs setstripe -c 4 /a; srun ior -o /b", "no lfs setstripe above is about /b"),
        (
            "lfs setstripe -c 4 -p fast .; srun ior",
            "lfs setstripe -p fast: which OSTs are in a pool",
        ),
        ("lfs setstripe -c 4 -o 3 .; srun ior", "-o 3 beside -c is read as -i 3, the first OST"),
        ("lfs setstripe -c $N .; srun ior", "-c $N: only the shell knows it when the job runs"),
        ("lfs setstripe --what 4 .; srun ior", "--what not recognized; right would be"),
        ("lfs setstripe -m 2 .; srun ior", "lfs setstripe -m 2 is not simulated; it is left out"),
        ("srun s3d.x; #", "./s3d.x".removeprefix("./") + " is taken for the kernel s3d"),
        ("srun ior\n#SBATCH -N 8", "a directive below the first command counts for nothing"),
    ],
)
def test_what_is_assumed_is_noted_with_its_line(line, note):
    remarks = body(line).remarks()
    assert any(note in remark for remark in remarks), remarks
    assert all(remark.startswith("line ") for remark in remarks)


def test_stripes_are_those_given_last_to_a_folder_that_holds_the_file():
    read = body(
        "lfs setstripe -c 4 /scratch",
        "lfs setstripe -c 8 -S 4m -i 3 /scratch/me/run",
        "lfs setstripe -c 2 /scratch/other",
        "srun ior -o /scratch/me/run/file",
        "srun ior -o /scratch/mean",
        "lfs setstripe -d /scratch/me",
        "srun ior -o /scratch/me/run/file",
        "cd /scratch && stripe_large here && srun ior -o here/x",
        "lfs setstripe -E 4M -c 1 -E -1 -c 8 /scratch/grows",
        "srun ior -o /scratch/grows/x",
    )
    first, second, third, fourth, fifth = (one.scenario for one in read.launches)
    assert fifth is not None
    assert fifth.striping == StripeRequest(setstripe="-E 4M -c 1 -E -1 -c 8")
    assert first is not None
    assert first.striping == StripeRequest(count=8, size=4 * MIB, offset=3)
    assert second is not None
    assert second.striping == StripeRequest(count=4)
    assert third is not None
    assert third.striping == StripeRequest()
    assert fourth is not None
    assert fourth.striping == StripeRequest(count=72, size=MIB)


@pytest.mark.parametrize(
    "line",
    [
        "lfs setstripe --stripe_count 8 --stripe_size 4m out",
        "lfs setstripe out -c 8 -S 4m",
        "lfs setstripe --count=8 -s 4M out",
        "lfs setstripe out 4m -1 8",
    ],
)
def test_stripes_in_every_form_of_lfs(line):
    found = body(line, "srun ior -w -o out/x").scenario()
    assert found.striping == StripeRequest(count=8, size=4 * MIB)


def test_options_that_are_cut_at_blanks_and_those_that_are_not():
    read = body(
        'OPTS="-w -b 8m"',
        "OPTS+=' -t 1m'",
        'srun -n 4 env MPICH_MPIIO_STATS=1 numactl -p 1 ./IOR $OPTS -o "my $X file" # done',
    )
    found = read.scenario()
    assert found.workload.ior == ("-w", "-b", "8m", "-t", "1m", "-o", "my $X file")
    assert found.environment == {"MPICH_MPIIO_STATS": "1"}


def test_mdtest_and_a_private_burst_buffer():
    read = body("srun -n 8 mdtest -n 10 -F -d $DW_JOB_PRIVATE/out")
    found = read.scenario()
    assert found.workload.mdtest is not None
    assert (found.target.kind, found.target.access) == ("bb", "private")


def test_paths_of_ssds_and_home():
    ssd = body("aprun -n 4 -N 2 ior -F -o /local/scratch/x", head="#COBALT -n 2")
    assert ssd.scenario().target.kind == "ssd"
    home = body("aprun -n 4 -N 2 ior -o ~/x", head="#COBALT -n 2")
    assert home.scenario().target.kind == "home"


def test_what_the_caller_knows_better_counts():
    text = "#!/bin/bash\naprun -n $1 -N $2 ior -w\n"
    with pytest.raises(InputError, match=r"job.sh, line 2: aprun -n '\$1': only the shell knows"):
        script(text).scenario()
    found = script(text, machine="cori-knl", nodes=3, ppn=5).scenario()
    assert (found.machine, found.nodes, found.ppn) == ("cori-knl", 3, 5)
    assert script(ALCF, nodes=2).scenario().nodes == 2


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["#SBATCH -N many"], "job.sh, line 2: #SBATCH -N 'many': right would be a whole number"),
        (["#SBATCH -N"], "job.sh, line 2: sbatch -N has no value"),
        (["#SBATCH -N 0"], "job.sh, line 2: #SBATCH -N '0': right would be"),
        (["#SBATCH -S -1"], "#SBATCH -S '-1': right would be"),
        (["#DW jobdw capacity=lots"], "#DW capacity: 'lots'"),
        (["#PBS -l nodes=x:ppn=2"], "#PBS -l nodes = 'x': right would be"),
        (["#COBALT -n 2.5"], "#COBALT -n '2.5': right would be"),
        (["srun 'ior"], "job.sh, line 2: a quote (') is never closed"),
        (["echo $(ior"], "job.sh, line 2: a bracket ($() is never closed"),
        (["lfs setstripe -c four ."], "line 2: lfs setstripe -c four: -c 'four': right would be"),
        (["lfs setstripe -S 8q ."], "line 2: lfs setstripe -S 8q: -S '8q': right would be"),
        (["lfs setstripe -S 65k ."], "line 2: lfs setstripe -S 65k: stripe size 65 KiB"),
    ],
)
def test_bad_lines_are_told_with_file_line_and_value(lines, message):
    with pytest.raises(InputError) as error:
        script("\n".join(["#!/bin/bash", *lines, "srun ior"]))
    assert message in str(error.value)


def test_where_the_shell_alone_knows_the_ranks_nodes_and_ranks_on_each_do():
    lines = ("#!/bin/bash", "NTOT=$(( NNODES * 32 ))", "mpiexec -n ${NTOT} --ppn 32 ior -w")
    text = "\n".join(lines)
    with pytest.raises(InputError, match=r"only the shell knows it .*--nodes and --ppn"):
        script(text).scenario()
    found = script(text, nodes=3).scenario()
    assert (found.nodes, found.ppn) == (3, 32)


@pytest.mark.parametrize(
    ("head", "line"),
    [
        ("#PBS -l select=4", "aprun -n 96 -N 24 ior"),
        ("#PBS -l select=4:ncpus=64:mpiprocs=32", "mpiexec ior"),
    ],
)
def test_an_assumed_machine_has_room_for_the_ranks_of_a_node(head, line):
    found = body(line, head=head).scenario()
    workload_of(found.workload).check(found, machine_of(found))
    assert found.machine != "titan"


def test_a_reservation_that_lasts_is_on_the_burst_buffer():
    head = "#DW persistentdw name=V46"
    read = body("export D=$DW_PERSISTENT_STRIPED_V46", "srun ior -o $D/x", head=head)
    assert read.scenario().target.kind == "bb"
    assert "does not say how large the reservation is; --bb-capacity does" in read.remarks()[0]
    made = "#BB create_persistent name=V capacity=1TB\n#DW persistentdw name=V"
    found = body("srun ior -o $DW_PERSISTENT_STRIPED_V/x", head=made).scenario()
    assert (found.target.kind, found.target.capacity) == ("bb", 10**12)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("srun -n 4x ior", "job.sh, line 3: srun -n '4x': right would be a whole number"),
        ("srun ior -b 8q", "job.sh, line 3: "),
        ("srun -n 2 h5bench", "h5bench without a configuration; right would be h5bench FILE.json"),
        ("srun ./a.out", "starts no program that is known, as ior or mdtest by aprun"),
        ("echo hello", "starts no program that is known"),
    ],
)
def test_a_launch_that_cannot_be_is_told_when_it_is_picked(line, message):
    read = body(line)
    with pytest.raises(InputError) as error:
        read.scenario()
    assert message in str(error.value)


def test_a_launch_that_cannot_be_leaves_the_others():
    read = body("srun -n $1 ior", "srun -n 4 ior -w")
    assert read.launch().line == 4
    with pytest.raises(InputError, match="line 3: srun -n"):
        read.launch(1)
    with pytest.raises(InputError, match=r"job.sh:3: there is no such launch; right would be 1 to"):
        read.launch(3)


def test_a_script_that_ior_reads_lies_beside_the_job_script(tmp_path: Path):
    (tmp_path / "tests.ior").write_text("IOR START\nfilePerProc=1\nRUN\nIOR STOP\n")
    (tmp_path / "job.sbatch").write_text("#!/bin/sh\n#SBATCH -N 2 -C knl\nsrun ior -f tests.ior\n")
    read = load_job_script(tmp_path / "job.sbatch", ppn=3)
    assert read.scenario().workload.ior == ("-f", str(tmp_path / "tests.ior"))
    assert read.scenario().ppn == 3


APPLICATION = """#!/bin/bash
#COBALT -n 128 -t 60
export MPICH_MPIIO_HINTS="*:romio_cb_write=enable"
OUT=/lus/theta-fs0/projects/run1
lfs setstripe -c 48 -S 8m $OUT
aprun -n 1 ./ior -w
aprun -n 4096 -N 32 -d 2 ./climate -i input.nml
"""


def test_a_program_that_is_not_known_is_what_the_caller_says():
    asked = Workload(ior="-a MPIIO -c -w -b 4m -t 4m")
    read = read_job_script(APPLICATION, "job.sh", CallerFacts(program=asked))
    known, said = read.launches
    assert known.scenario is not None
    assert known.scenario.workload != asked
    scenario = said.scenario
    assert scenario is not None
    assert scenario.workload == asked
    assert (scenario.nodes, scenario.ppn, scenario.striping.count) == (128, 32, 48)
    assert scenario.environment == {"MPICH_MPIIO_HINTS": "*:romio_cb_write=enable"}
    assert "line 7: './climate' is taken for ior -a MPIIO -c -w -b 4m -t 4m" in read.remarks(2)
    assert read.unknown == ()


def test_the_folder_of_such_a_program_is_the_one_that_either_names():
    text = APPLICATION.replace("-i input.nml", "-o $OUT/history")
    (launch,) = read_job_script(
        text.replace("aprun -n 1 ./ior -w", ""), "job.sh", CallerFacts(program=Workload(ior="-w"))
    ).launches
    assert launch.scenario is not None
    assert launch.scenario.striping.count == 48
    elsewhere = CallerFacts(program=Workload(ior="-w -o /lus/theta-fs0/other/file"))
    launch = read_job_script(text, "job.sh", elsewhere).launches[1]
    assert launch.scenario is not None
    assert launch.scenario.striping.count is None


@pytest.mark.parametrize(
    ("line", "read"),
    [
        (
            "aprun -n 4096 -N 32 ./climate",
            "line 6: './climate', 128 nodes x 32 ranks, stripe count 48, stripe size 8 MiB, hints "
            "*:romio_cb_write=enable; right would be what it does beside that, as in --as 'ior",
        ),
        ("aprun -n $1 -N 32 ./climate", "line 6: './climate', and job.sh, line 6: aprun -n '$1'"),
    ],
)
def test_the_message_says_what_was_read_of_it(line, read):
    lines = [one for one in APPLICATION.splitlines() if not one.startswith("aprun")]
    with pytest.raises(InputError) as error:
        script("\n".join([*lines, line])).scenario()
    assert read in str(error.value)


def test_a_shape_that_no_option_says_is_to_be_changed_by_hand():
    read = body("jsrun -n 4 -a 2 ior -w", head="#BSUB -nnodes 4")
    edited = edited_script(read.text, "job.sh", read.launch(), NewSettings(shape=(2, 8)))
    assert "+#BSUB -nnodes 2" in edited.diff
    assert edited.remarks == ("Line 3 is to start 8 ranks on each of 2 nodes.",)


@pytest.mark.parametrize("line", ["srun ior -w", "aprun -B ior -w", "srun -n $SLURM_NTASKS ior -w"])
def test_counts_are_changed_where_the_batch_system_is_asked_for_them(line):
    read = body(line, head="#SBATCH -N 4 -C knl --ntasks-per-node=2")
    edited = edited_script(read.text, "job.sh", read.launch(), NewSettings(shape=(2, 8)))
    assert "+#SBATCH -N 2 -C knl --ntasks-per-node=8" in edited.diff
    assert len([one for one in edited.diff if one.startswith("+")]) == 2
    assert edited.remarks == ()


@pytest.mark.parametrize(
    ("head", "line", "edited"),
    [
        ("#SBATCH -N 4", "srun -n $((SLURM_NNODES * 2)) -c 2 ior -w", "srun -n 16 -c 2 ior -w"),
        ("#SBATCH --nodes=4", 'srun --ntasks "${NP}" ior -w', "srun --ntasks 16 ior -w"),
        ("#PBS -l select=4:mpiprocs=2", "mpiexec -n $NP --ppn $EACH ior -w", "--ppn 8"),
        ("#PBS -l mppwidth=8 -l mppnppn=2", "aprun -n $NP -N $EACH ior -w", "-n 16 -N 8"),
        ("#COBALT -n 4 -t 30", "aprun -n ${NP} -N ${EACH} ior -w", "aprun -n 16 -N 8 ior -w"),
        ("#flux: -N 4", "flux run -N $NODES -n$NP ior -w", "flux run -N 2 -n16 ior -w"),
        ("#SBATCH -N 4", "srun -n $NP \\\n  --ntasks-per-node=$EACH ior -w", "-node=8 ior -w"),
    ],
)
def test_counts_that_the_shell_makes_become_numbers(head, line, edited):
    read = body("NODES=4", "EACH=2", "NP=$((NODES * EACH))", line, head=head)
    found = edited_script(read.text, "job.sh", read.launch(), NewSettings(shape=(2, 8)))
    assert found.remarks == ()
    assert any(one.startswith("+") and edited in one for one in found.diff)
    again = "\n".join(one[1:] for one in found.diff[3:] if one[0] in "+ ")
    scenario = script(again).scenario()
    assert (scenario.nodes, scenario.ppn) == (2, 8)


@pytest.mark.parametrize(
    ("line", "edited"),
    [
        ("aprun -n 8 -N4 -d 2 ior -w", "aprun -n 16 -N8 -d 2 ior -w"),
        ("srun -N 2 --ntasks=8 ior -w", "srun -N 2 --ntasks=16 ior -w"),
        ("mpirun -np 8 -N 4 ior -w -N 4", "mpirun -np 16 -N 8 ior -w -N 4"),
        ("mpiexec --np 8 --map-by ppr:4:node ior -w", "mpiexec --np 16 --map-by ppr:4:node ior -w"),
        ("ibrun -n 8 ior -w", "ibrun -n 16 ior -w"),
    ],
)
def test_counts_are_changed_where_the_launcher_reads_them(line, edited):
    read = body(line, head="#SBATCH -N 2 -C knl")
    found = edited_script(read.text, "job.sh", read.launch(), NewSettings(shape=(2, 8)))
    assert f"+{edited}" in found.diff


@pytest.mark.parametrize(
    ("line", "edited"),
    [
        ("lfs setstripe -c 1 out # wide enough", "lfs setstripe -c 8 out # wide enough"),
        ("lfs setstripe out -c 1 -S 4m || exit", "lfs setstripe -c 8 out || exit"),
        ('  lfs setstripe --stripe_count 1 "$OUT/a"; ls', "  lfs setstripe -c 8 $OUT/a; ls"),
    ],
)
def test_stripes_are_changed_where_they_are_said(line, edited):
    folder = "$OUT/a" if "$OUT" in line else "out"
    read = body(line, f"srun -n 4 ior -w -o {folder}/x")
    found = edited_script(read.text, "job.sh", read.launch(), NewSettings(striping="-c 8"))
    assert f"-{line}" in found.diff
    assert f"+{edited}" in found.diff


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (
            ["#SBATCH \u2013N 4"],
            "line 2: sbatch '\u2013N': it begins with no dash of a keyboard (en "
            "dash); right would be -N",
        ),
        (
            ["srun \u2013\u2013ntasks=4 ior -w"],
            "line 2: srun '\u2013\u2013ntasks=4': it begins with no "
            "dash of a keyboard (en dash); right would be --ntasks=4",
        ),
    ],
)
def test_dashes_of_text_processors_are_named(lines, sentence):
    with pytest.raises(InputError, match=re.escape(sentence)):
        script("\n".join(("#!/bin/bash", *lines)))


def test_what_is_no_option_of_a_directive_is_told():
    assert body("srun ior -w", head="#SBATCH -J my run -N 4").remarks()[0] == (
        "line 2: #SBATCH: 'run' is no option, and is left out with what stands behind it"
    )


def test_what_starts_a_benchmark_is_looked_over_and_told():
    read = body("srun -n 8 hpcwrap -o trace x ./ior -w", "srun -n 8 ./mine -o /out/ior -w")
    assert [one.scenario.workload.ior for one in read.launches if one.scenario] == [("-w",)]
    assert "line 3: 'hpcwrap' starts ./ior, and is looked over" in read.remarks()
    assert any("line 4: './mine' is no program" in one for one in read.remarks())


def test_functions_that_call_one_another_are_followed_so_far():
    calls = [f"f{n}() {{ f{n + 1}; f{n + 1}; }}" for n in range(12)]
    read = body(*calls, "f12() { srun -n 4 ior -w; }", "f0")
    assert 0 < len(read.launches) < 100
    assert any("functions call one another too often" in one for one in read.remarks())
    assert len(body("f() {", "srun -n 4 ior -w", "f", "}", "f").launches) == 1


def test_a_value_that_the_shell_alone_knows_is_said_to_be_one():
    with pytest.raises(InputError, match="only the shell knows what it becomes when the job runs"):
        body("srun -n 4 ior -w -b $1").scenario()


@pytest.mark.parametrize(
    ("line", "note"),
    [
        (
            "srun -n 64 --cpu-bind=map_cpu:0,1 ior -w",
            "srun --cpu-bind map_cpu:0,1: a rank has a core",
        ),
        ("aprun -n 64 -cc 0,2,4 ior -w", "aprun -cc 0,2,4: a rank has a core of its own"),
        ("mpirun -n 64 --map-by node ior -w", "mpirun --map-by node: ranks lie on nodes one after"),
        (
            "srun -n 64 --ntasks-per-node=8 ior -w",
            "8 ranks on each of 4 nodes are fewer than the 64",
        ),
        ("lfs migrate -c 8 out; srun ior -w", "lfs migrate is not followed"),
        ("lctl set_param osc.*.max_dirty_mb=1; srun ior -w", "max_dirty_mb=1' is not followed"),
        ("export SLURM_HINT=nomultithread; srun ior -w", "SLURM_HINT: not simulated, and left out"),
        ("export I_MPI_PIN=off; srun ior -w", "I_MPI_PIN: not simulated, and left out"),
    ],
)
def test_what_places_ranks_or_files_and_is_not_followed_is_told(line, note):
    assert any(one.startswith("line 3: ") and note in one for one in body(line).remarks())


@pytest.mark.parametrize("option", ["--hint=nomultithread", "--threads-per-core=1"])
def test_one_thread_a_core_takes_twice_the_nodes_of_two(option):
    head = "#SBATCH -C haswell -n 128"
    for line, where in ((f"srun {option} ior -w", head), ("srun ior -w", f"{head} {option}")):
        assert body(line, head=where).scenario().nodes == 4
    assert body("srun ior -w", head=head).scenario().nodes == 2


@pytest.mark.parametrize("lfs", ["sudo lfs", "/usr/bin/lfs", "sudo -n /usr/bin/lfs"])
def test_lfs_is_known_by_its_path_and_behind_sudo(lfs):
    read = body(f"{lfs} setstripe -c 8 out", "srun -n 4 ior -w -o out/f")
    assert read.scenario().striping.count == 8


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("#PBS -l nodes=2\naprun -n 4 ior\n", True),
        ("#!/bin/sh\n# flux: -N 2\nflux run -n 4 ior\n", True),
        ("# a scenario\nmachine: theta\n", False),
        ("machine: theta\n#SBATCH -N 2\n", False),
    ],
)
def test_a_file_that_begins_as_scripts_do_is_one(tmp_path, text, is_one):
    path = tmp_path / "job"
    path.write_text(text)
    assert is_job_script(path) is is_one
