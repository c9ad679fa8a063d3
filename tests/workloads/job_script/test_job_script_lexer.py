"""The words of scripts, held against a shell's."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from xc40io import InputError
from xc40io.workloads.job_script.lexer import Command, lexed
from xc40io.workloads.job_script.script import read_job_script
from xc40io.workloads.job_script.shell import Shell, path_from


def words(text: str, **variables: str) -> list[list[str]]:
    shell = Shell(variables)
    return [
        [field for word in part.words for field in shell.fields(word)]
        for part in lexed(text, "job.sh")
        if isinstance(part, Command)
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a b;c&&d|e", [["a", "b"], ["c"], ["d"], ["e"]]),
        ("a 'b c' \"d e\" f\\ g", [["a", "b c", "d e", "f g"]]),
        ("a \\\n b", [["a", "b"]]),
        ("a > out 2>&1 < in &> all b", [["a", "b"]]),
        ("a >out b>out", [["a", "b"]]),
        ("a # b ' c\nd#e", [["a"], ["d#e"]]),
        ("cat <<EOF > f\nit's\nEOF\nb", [["cat"], ["b"]]),
        ("cat <<-'E F'\n\tdon't\n\tE F\nb", [["cat"], ["b"]]),
        ("a $X ${X} \"$X\" '$X' \\$X", [["a", "1", "2", "1", "2", "1 2", "$X", "$X"]]),
        ('a p$X"q"', [["a", "p1", "2q"]]),
        ('a $EMPTY b "$EMPTY"', [["a", "b", ""]]),
        ("a $Y ${Y%x} $(date +%d) `date` $", [["a", "$Y", "${Y%x}", "$(date +%d)", "`date`", "$"]]),
        ("a ${Y:-7} ${N:-7} $((N * (2 + 1) / 2 % 4)) $((1/0))", [["a", "7", "5", "3", "$((1/0))"]]),
        ('a "$(say "b )")" c', [["a", '$(say "b )")', "c"]]),
        ('a "$(echo "b )" c)" $(echo d e)', [["a", "b ) c", "d", "e"]]),
        ("a $((N ** 2)) $[N<<1] $(( N*Q )) $((-7/2))", [["a", "25", "10", "$((N*Q))", "-3"]]),
        ("a $(seq 3) `seq 8 -4 0` $(echo $N*3|bc) $(N)", [["a", *"123840", "15", "$(N)"]]),
        ('((N=4*2)) "for" ((i=0;i<2;i++))', [["((", "N=4*2", "for", "((", "i=0;i<2;i++"]]),
        ("a\r\nb\r\n", [["a"], ["b"]]),
    ],
)
def test_words_are_a_shells(text, found):
    assert words(text, X="1 2", N="5", EMPTY="") == found


@given(st.lists(st.text(st.characters(exclude_characters="\r\0"), max_size=8), max_size=5))
def test_what_is_quoted_comes_back(texts):
    assert words(shlex.join(["a", *texts])) == [["a", *texts]]


LINES = st.sampled_from(
    (
        "A=(1 2 $N) ; let N=4*2 ; ((N++)) ; echo ${A[@]} ${#A[@]} ${A[N]}",
        "cat > h << EOF\nromio_cb_write enable\nEOF\nROMIO_HINTS=h srun ior -a MPIIO -w",
        "N=$(wc -l < $PBS_NODEFILE) && mpiexec -n $[N*2] --ppn 2 --cpu-bind depth ior",
        "#SBATCH -N 4",
        "#SBATCH -n 64 --ntasks-per-node=16 -C knl",
        "#PBS -l select=2:ncpus=4:mpiprocs=2",
        "#COBALT -n 3",
        "#DW jobdw capacity=10GB",
        'export MPICH_MPIIO_HINTS="*:cb_nodes=2"',
        "N=$((N+1)) A=$A$A",
        "for i in 1 2; do",
        "done",
        "lfs setstripe -c $N -S 8m $DIR",
        "srun -n $N ./ior -w -b 8m -o $DIR/x",
        "aprun -n 4 -N 2 ior -a MPIIO -c",
        "mpirun -np 4 hacc_io out",
        "cat <<EOF",
        "EOF",
        "cd ..",
        "set A = 5",
        "setenv",
        "if [ -d x ]; then srun mdtest -n 4 -d x; fi",
        "DIR=`pwd` # where",
    )
)


def edited(line: str, cut: int, put: str) -> str:
    place = cut % (len(line) + 1)
    return line[:place] + put + line[place + len(put) % 3 :]


@given(
    st.lists(
        st.one_of(
            LINES,
            st.builds(
                edited, LINES, st.integers(0, 99), st.text("'\"$`(){}\\;&|<>= -\n0xé", max_size=4)
            ),
            st.text(max_size=20),
        ),
        max_size=8,
    )
)
@example(["A=xxxxxxxxxxxxxxxx", *["A=$A$A"] * 40])
@example(["srun ior -f /nowhere"])
@example(["srun -n 99999999999 ior", "aprun -n 2147483647 -N 1 ior"])
def test_no_script_ends_in_a_traceback(lines):
    try:
        read = read_job_script("\n".join(["#!/bin/bash", *lines]), "job.sh")
        for number in range(len(read.launches) + 1):
            read.remarks(number or None)
            read.scenario(number or None)
    except InputError:
        pass


def test_paths_are_named_from_a_folder():
    assert path_from("/a", "b/../c") == "/a/c"
    assert path_from("$S", "x") == "$S/x"
    assert path_from("", ".") == "."
    assert path_from("/a", "$S/x") == "$S/x"
