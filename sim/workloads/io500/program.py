"""IO500, as its doors know it."""

from xc40io.workloads.program import Program

IO500 = Program(
    name="io500",
    title="IO500",
    home="xc40io.workloads.io500.command:Io500",
    summary="Run IO500 with its own file.",
    outcome="xc40io.workloads.io500.outcome",
)
