"""mdtest, as its doors know it."""

from xc40io.workloads.program import Program

_HELP = """\
Run an mdtest command line on a simulated machine and print mdtest's answer.

Everything after the double dash goes to mdtest as typed: the options of mdtest 3.x and 4.x. Files
and directories are created, looked at, read and removed, and counted per second.

\b
  xc40io mdtest --nodes 16 --ppn 8 -- -n 200 -F -u
  xc40io mdtest --nodes 16 --ppn 8 -- -n 200 -F -w 3901 -e 3901 -N 1 -i 3
  xc40io mdtest --nodes 64 --set lustre.mds.mdts=4 --mdt-count 4 -- -I 100 -z 1 -b 4 -L
"""

MDTEST = Program(
    name="mdtest",
    title="mdtest",
    home="xc40io.workloads.mdtest.command:Mdtest",
    summary="Run an mdtest command line.",
    help=_HELP,
    example="-n 1000 -F -u",
    letter="n",
    outcome="xc40io.workloads.mdtest.outcome",
    option="xc40io.workloads.mdtest.options:with_option",
)
