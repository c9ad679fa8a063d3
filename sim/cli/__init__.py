"""The command line: thin faces over the packages below."""


def main() -> None:
    """Run the command ``xc40io``."""
