"""mdtest's summaries."""

from __future__ import annotations

import pytest

from xc40io.config.errors import InputError

OLD = """\
-- started at 10/01/2020 04:40:42 --

mdtest-1.9.3 was launched with 72 total task(s) on 2 node(s)
Command line used: /opt/mdtest "-n" "40" "-i" "5" "-u" "-d" "/lustre/testdir"
Path: /lustre

72 tasks, 2880 files/directories

SUMMARY rate: (of 5 iterations)
   Operation                      Max            Min           Mean        Std Dev
   ---------                      ---            ---           ----        -------
   Directory creation:       3431.708       3100.707       3431.708          0.000
   File stat         :      36838.570      36838.503      36838.527          0.023
   File read         :          0.000          0.000          0.000          0.000
"""
WITH_RANKS = """\
mdtest-4.1.0 was launched with 4 total task(s) on 2 node(s)
Command line used: mdtest '-n' '20' '-F'
4 tasks, 80 files

SUMMARY rate (in ops/sec): (of 1 iterations)
   Operation     per Rank: Max    Min   Mean   per Iteration: Max  Min   Mean   Std Dev
   File creation   1.0   2.0   3.0   3983.056   3983.056   3983.056   0.000

SUMMARY time (in ms/op): (of 1 iterations)
   File creation   1.0   2.0   3.0   0.25   0.25   0.25   0.000
"""


def test_the_best_of_all_iterations_with_their_spread(measured) -> None:
    found = measured(OLD)
    assert set(found.claims) == {"mdtest-1-directory-creation", "mdtest-1-file-stat"}
    claim = found.claims["mdtest-1-directory-creation"]
    assert found.relation(claim["id"]) == ("3431.708 op/s", "10%")
    assert claim["metric"] == "operations(run, directory creation)"
    assert claim["source"] == "mdtest 1.9.3, 1 October 2020, out0"
    base = found.bases["mdtest-1"]
    assert (base["nodes"], base["ppn"]) == (2, 36)
    assert base["workload"] == {"mdtest": "-n 40 -i 5 -u -d /lustre/testdir"}


def test_columns_of_the_ranks_and_times_are_passed_over(measured) -> None:
    assert measured(WITH_RANKS).relation("mdtest-1-file-creation") == ("3983.056 op/s", "25%")


def test_a_run_without_a_summary_is_named(measured) -> None:
    found = measured(OLD.partition("SUMMARY")[0])
    assert found.unheeded[0].endswith("line 3: this run of mdtest has no summary of rates")


def test_a_cell_that_is_no_number_is_refused_with_its_line(measured) -> None:
    with pytest.raises(InputError, match="line 12: Directory creation = 'fast'"):
        measured(OLD.replace("3431.708       3100", "fast           3100"))
