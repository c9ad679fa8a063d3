"""The command line ``xc40io``: thin faces over the packages below.

Whatever takes long to import is imported inside the command that needs it, so that ``--help`` and
a mistyped option answer at once.
"""


def main() -> None:
    """Run the command ``xc40io`` with the arguments of this process."""
    from sim.cli.app import cli

    cli.main(prog_name="xc40io")
