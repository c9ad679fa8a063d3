"""Hold the model's calls against the recordings: what differs, and the table of groups.

``python tests/real/beside.py`` prints the table; ``--group NAME`` what differs in a group, with
the first calls that do; ``--lessen`` writes smaller numbers into ``exceptions.yaml`` where less
differs. It never writes larger ones: these are typed, with their reason.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from pathlib import Path

import exceptions
from case_table import cases, groups
from differences import Difference, differences
from exceptions import Excepted, Found
from model_calls import calls_of_model
from recordings import Refused, load


def found_in(group: str, folder: Path) -> Found:
    """Simulate the cases of a group and return what differs from the recording."""
    recorded = load(group).cases
    return {
        case.name: differences(recorded[case.name], calls_of_model(case, folder), case.any_name)
        for case in cases(group)
        if case.name in recorded
    }


def main() -> None:
    """Print what differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--group", choices=groups())
    parser.add_argument("--lessen", action="store_true")
    asked = parser.parse_args()
    excepted = exceptions.load()
    with tempfile.TemporaryDirectory() as scratch:
        names = [asked.group] if asked.group else groups()
        found = {group: found_in(group, Path(scratch)) for group in names}
    if asked.lessen:
        for group, of_group in found.items():
            excepted = exceptions.lessened(excepted, group, of_group)
        exceptions.keep(excepted)
    elif asked.group:
        for name, differing in found[asked.group].items():
            print(f"{'differs' if differing else 'equal  '}  {name}")
            for difference in differing:
                print(f"         {_told(asked.group, name, difference, excepted)}")
    else:
        _print_table(found, excepted)


def _told(group: str, name: str, difference: Difference, excepted: list[Excepted]) -> str:
    (match,) = exceptions.matched(excepted, group, {name: [difference]})
    reason = match[2].reason if match[2] else "NOT EXCEPTED"
    return f"{difference.aspect} {difference.size} ({reason}): {difference.example}"


def _print_table(found: dict[str, Found], excepted: list[Excepted]) -> None:
    """Print how many cases of each group are equal, excepted and different."""
    columns = ("cases", "refused", "equal", "excepted", "different")
    print(f"{'group':16}" + "".join(f"{column:>11}" for column in columns))
    totals: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for group, differing in found.items():
        real = load(group).cases
        kinds: Counter[str] = Counter()
        for name, of_case in differing.items():
            matches = exceptions.matched(excepted, group, {name: of_case})
            why = [one for _, _, one in matches]
            both = isinstance(real[name], Refused) and not why
            kind = "different" if None in why else "excepted" if why else "equal"
            kinds.update(["cases", "refused" if both else kind])
            reasons.update({one.reason for one in why if one})
        print(f"{group:16}" + "".join(f"{kinds[column]:>11}" for column in columns))
        totals += kinds
    print(f"{'all':16}" + "".join(f"{totals[column]:>11}" for column in columns))
    print("\nrefused: by both; equal: in every aspect\n")
    for reason, count in reasons.most_common():
        print(f"{count:>6} cases  {reason}")


if __name__ == "__main__":
    main()
