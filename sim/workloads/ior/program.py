"""IOR, as its doors know it."""

from xc40io.workloads.program import Program

_HELP = """\
Run an IOR command line on a simulated machine and print IOR's answer.

Everything after the double dash goes to IOR as typed: the options of IOR 3.x and 4.x, or -f with
one of IOR's scripts.

\b
  xc40io ior --nodes 64 --stripe-count 8 -- -a POSIX -w -r -b 8m -t 8m
  xc40io ior --nodes 16 -- -f tests.ior
"""

IOR = Program(
    name="ior",
    title="IOR",
    home="xc40io.workloads.ior.command:Ior",
    summary="Run an IOR command line.",
    help=_HELP,
    example="-a POSIX -b 8m -t 1m",
    letter="b",
    in_mebibytes=True,
    outcome="xc40io.workloads.ior.outcome",
    option="xc40io.workloads.ior.options:with_option",
    switches={
        "layout": "F",
        "direct": "B",
        "collective": "c",
        "call-size": "t",
        "block": "b",
        "segments": "s",
        "stripe-count": "posix.lustre.stripecount",
        "stripe-size": "posix.lustre.stripesize",
    },
)
