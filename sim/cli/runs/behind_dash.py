"""Commands that take the command line of another program behind a double dash."""

from __future__ import annotations

import click

_PROGRAMS = {"ior": ("IOR", "-a POSIX -b 8m -t 1m"), "mdtest": ("mdtest", "-n 1000 -F -u")}
"""What a person calls the program of each command, and an example of its options."""


class BehindDash(click.Command):
    """A command that knows where a lost ``--`` belongs."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words of the command, or say that the double dash is missing."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if "--" in args:
                raise
            program, example = _PROGRAMS[str(self.name)]
            raise click.UsageError(
                f"{error.option_name} is not an option of xc40io {self.name}; {program}'s own "
                f"options go after a double dash, as in: xc40io {self.name} --nodes 4 -- {example}",
                ctx,
            ) from error
