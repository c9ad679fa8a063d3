"""IOR's command line: what users type, and what IOR refuses."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from xc40io.config.errors import InputError
from xc40io.workloads.ior.options import Access, IorTest, parse_arguments
from xc40io.workloads.option_table import size as parse_size

KIB, MIB, GIB, TIB = 2**10, 2**20, 2**30, 2**40


def one(line: str) -> IorTest:
    (test,) = parse_arguments(line.split()).tests
    return test


def test_defaults_are_those_of_ior() -> None:
    test = one("ior")
    assert (test.api, test.block_size, test.transfer_size) == ("POSIX", MIB, 256 * KIB)
    assert (test.segments, test.repetitions, test.task_offset) == (1, 1, 1)
    assert test.test_file == "testFile"
    assert test.phases == (Access.WRITE, Access.READ)
    assert test.tasks is None


@pytest.mark.parametrize(
    ("typed", "size"),
    [
        ("64", 64),
        ("8k", 8 * KIB),
        ("8K", 8 * KIB),
        ("8m", 8 * MIB),
        ("4g", 4 * GIB),
        ("1T", TIB),
        ("1mb", MIB),
        ("2MiB", 2 * MIB),
        (" 3 m ", 3 * MIB),
    ],
)
def test_sizes_are_powers_of_1024(typed: str, size: int) -> None:
    assert parse_size(typed) == size


@pytest.mark.parametrize("typed", ["", "m", "1.5m", "8q", "8 m m", "0x10", "99999999t", "9" * 25])
def test_bad_sizes(typed: str) -> None:
    with pytest.raises(ValueError, match=r"not a size|too large"):
        parse_size(typed)


@given(st.integers(0, 2**20 - 1), st.sampled_from(["", "k", "m", "g", "t"]), st.booleans())
def test_size_round_trip(number: int, suffix: str, upper: bool) -> None:
    typed = f"{number}{suffix.upper() if upper else suffix}"
    size = parse_size(typed)
    assert size == number * 1024 ** ["", "k", "m", "g", "t"].index(suffix)
    assert parse_size(str(size)) == size


@pytest.mark.parametrize(
    "line", ["-b 8m -t 1m", "-b8m -t1m", "-b=8m -t=1m", "-b 8M -O transferSize=1m"]
)
def test_a_value_stands_behind_its_letter_or_in_the_next_word(line: str) -> None:
    test = one(line)
    assert (test.block_size, test.transfer_size) == (8 * MIB, MIB)


def test_letters_stand_together_or_alone() -> None:
    assert one("-wrg") == one("-w -r -g") == one("-gr -w")
    assert one("-wFb8m") == one("-w -F -b 8m")


def test_repeated_letters_mean_more() -> None:
    assert one("-z").random_offset == 1
    assert one("-r -z -z").random_offset == 2
    assert one("-Z -Z").reorder_random == 2
    assert one("-v -v -v").verbose == one("-vvv").verbose == 3


@pytest.mark.parametrize("program", ["ior", "./ior", "ior/src/ior", "/soft/bin/IOR", ""])
def test_the_program_may_stand_in_front(program: str) -> None:
    command = parse_arguments(f"{program} -w -F".split())
    assert command.tests == (one("-w -F"),)
    assert command.command_line == f"{program or 'ior'} -w -F"


def test_what_prints_more_is_not_without_effect() -> None:
    assert parse_arguments(["-w", "-v", "-A", "3"]).notes == ()
    (note,) = parse_arguments(["-w", "-vv", "-v"]).notes
    assert note.startswith("-v twice or more:")


def test_the_commands_of_the_headline_scenarios() -> None:
    test = one("-a MPIIO -b 8m -t 1m -s 4 -g -C -i 3")
    assert (test.api, test.segments, test.repetitions) == ("MPIIO", 4, 3)
    assert test.barriers
    assert test.reorder_constant
    test = one("-c -b 4M -t 4M -g -i 20 -w -a MPIIO")
    assert test.collective
    assert test.phases == (Access.WRITE,)


def test_checks_are_phases() -> None:
    assert one("-w -W").phases == (Access.WRITE, Access.WRITE_CHECK)
    assert one("-w -r -R").phases == (Access.WRITE, Access.READ_CHECK)
    assert one("-r -R -G 7").phases == (Access.READ_CHECK,)


def test_long_options_and_directives() -> None:
    test = one(
        "--posix.odirect --posix.lustre.stripecount=48 --posix.lustre.stripesize 8m "
        "--posix.lustre.startost=3 --mpiio.hintsFileName=h --random-offset-seed 7"
    )
    assert test.direct_io
    assert (test.stripe_count, test.stripe_size, test.start_ost) == (48, 8 * MIB, 3)
    assert (test.hints_file, test.random_offset_seed) == ("h", 7)
    assert test == one(
        "-B -O lustreStripeCount=48,LUSTRESTRIPESIZE=8m,lustreStartOST=3 -U h "
        "-O random-offset-seed=7"
    )


def test_options_of_hdf5_and_pnetcdf() -> None:
    test = one(
        "-a hdf5 --hdf5.setAlignment=1m --hdf5.chunkSize=65536 --hdf5.collectiveMetadata "
        "--hdf5.noFill "
        "--hdf5.hintsFileName=h --hdf5.showHints"
    )
    assert (test.api, test.alignment, test.chunk_size) == ("HDF5", MIB, 64 * KIB)
    assert test.collective_metadata
    assert test.no_fill
    assert test.show_hints
    assert test == one("-a HDF5 -J 1m -H -n -U h -O hdf5.chunkSize=65536,hdf5.collectiveMetadata=1")
    # IOR takes it for a switch that counts.
    assert one("-a HDF5 --hdf5.chunkSize").chunk_size == 1
    assert one("-a ncmpi --ncmpi.hintsFileName h --ncmpi.showHints") == one("-a NCMPI -U h -H")


def test_a_strided_datatype_needs_a_file_view() -> None:
    assert one("-a MPIIO -V -S").strided
    assert one("-a MPIIO --mpiio.useFileView --mpiio.useStridedDatatype").strided
    assert not one("-a MPIIO -S").strided
    assert not one("-a POSIX -V -S").strided
    assert not one("-a MPIIO -S -F").strided  # and so IOR does not mind


def test_stonewalling() -> None:
    test = one("-D 300 -k -O stoneWallingWearOut=1,stoneWallingStatusFile=s,minTimeDuration=5 -T 2")
    assert (test.deadline, test.wear_out, test.stonewall_file) == (300, True, "s")
    assert (test.min_duration, test.max_duration) == (5, 120)


def test_summary_file_and_format() -> None:
    command = parse_arguments(["-O", "summaryFormat=json,summaryFile=out.json"])
    assert (command.summary_format, command.summary_file) == ("JSON", "out.json")
    assert parse_arguments([]).summary_format == "default"


def test_memory_is_a_size_or_a_share() -> None:
    assert one("-M 2g").node_memory == 2 * GIB
    assert one("-M 75%").node_memory_percent == 75
    assert one("-M 2g -O memoryPerTask=1m").node_memory == 0


def test_zero_tasks_are_all_tasks() -> None:
    assert one("-N 0").tasks is None
    assert one("-N 64").tasks == 64


def test_one_note_names_what_cannot_matter() -> None:
    line = "-w -v -A 3 -G 5 -l offset -x -q -j 3 -K -O debug=x"
    command = parse_arguments(line.split())
    (note,) = command.notes
    assert note.endswith(": -G, -l, -x, -q, -j, -K, debug.")
    assert command.tests == (one("-w -v -A 3"),)
    assert parse_arguments(["-w"]).notes == ()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("-b 3m -t 2m", "-b 3145728 is not a multiple of -t 2097152"),
        ("-b 1m -t 4m", "-b 1048576 is smaller than -t 4194304"),
        ("-b 0", "at least 1"),
        ("-t -8", "at least 1"),
        ("-b 12 -t 12", "multiple of 8"),
        ("-b 8q", "-b: '8q' is not a size"),
        ("-b", "-b needs a value"),
        ("-s -1", "segments must not be negative"),
        ("-i 0", "at least 1 repetition"),
        ("-i two", "-i: 'two' is not a whole number"),
        ("-N -4", "number of tasks"),
        ("-a AIO", "not simulated; POSIX, MMAP, MPIIO, HDF5, NCMPI and DUMMY are"),
        ("-r -R", "-R without -w needs -G"),
        ("-y", "right would be -F as well"),
        ("--randomPrefill=64k", "it needs -z"),
        ("-z --randomPrefill=300k", "must be a multiple of it"),
        ("-a MMAP -Y -b 1000 -t 1000", "multiple of the page"),
        ("--posix.gpfs.hintaccess", "the simulated file system is Lustre"),
        ("-- --help", "IOR's own help"),
        ("-a FOO", "not an API of IOR"),
        ("-C -Z", "-C and -Z cannot be combined"),
        ("-z -C", "add -F"),
        ("-z -b 1m -t 1m", "larger than -t"),
        ("-w -z -R", "--random-offset-seed"),
        ("-a MPIIO -c -z", "no random offsets"),
        ("-a MPIIO -V -z", "no random offsets"),
        ("-a MPIIO -V -S -F", "leave out -F, -C and -Z, or -S"),
        ("-a MPIIO -V -S -C", "leave out -F, -C and -Z, or -S"),
        ("-w -z -z", "divides by 0"),
        ("-r -W -z -z", "divides by 0"),
        ("-a HDF5 -z", "-z: random offsets are not available with HDF5"),
        ("-a NCMPI -z -z", "-z: random offsets are not available with NCMPI"),
        ("-a NCMPI -F", "not available with NCMPI"),
        ("-a HDF5 -I", "not implemented in IOR"),
        ("-a HDF5 -J -1", "at least 1 byte"),
        ("-a HDF5 -J 0", "at least 1 byte"),
        ("-a HDF5 --hdf5.chunkSize=-8", "must not be negative"),
        ("-a HDF5 --hdf5.chunkSize 8", "'8' is not an option of IOR"),
        ("-a HDF5 --hdf5.chunkSize=64k", "whole number without a unit"),
        ("-O stoneWallingWearOut=1", "-D"),
        ("-k -w -O stoneWallingStatusFile=f", "stoneWallingWearOut=1"),
        ("-O fsync=yes", "neither 0"),
        ("-O fsync", "name=value"),
        ("-O nonsense=1", "nonsense: IOR has no such"),
        ("-O summaryFormat=xml", "default, JSON or CSV"),
        ("-O GPUDirect=1", "no GPU"),
        ("-P", "do not work in IOR"),
        ("--posix.odirekt", "no such option"),
        ("--posix.odirect=1", "takes no value"),
        ("-é", "no such option"),
        ("-h", "help"),
        ("write", "options start with a dash"),
        ("-l -w", "data packet type"),
        ("--posix.lustre.pool=ssd", "stripe count"),
        ("-f /nowhere/at/all", "-f: /nowhere/at/all: there is no such file"),
        ("\N{EN DASH}w", "it begins with no dash of a keyboard (en dash); right would be -w"),
        ("-w -a MPIIO -V --mpiio.useStridedDatatype -C", "-S (--mpiio.useStridedDatatype) assumes"),
    ],
)
def test_refusals_name_option_value_and_what_would_be_right(line: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_arguments(line.split())
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_ior_repeats_the_api_as_typed() -> None:
    test = one("-a mpiio")
    assert (test.api, test.api_as_typed) == ("MPIIO", "mpiio")


def test_delays_of_dummy_are_typed_in_microseconds() -> None:
    test = one("-a dummy --dummy.delay-create=1000 --dummy.delay-xfer 5 --dummy.delay-only-rank0")
    assert (test.dummy_create, test.dummy_transfer) == (pytest.approx(1e-3), pytest.approx(5e-6))
    assert test.dummy_first_only


def test_of_seconds_ior_reads_what_stands_before_the_point() -> None:
    command = parse_arguments(["-w", "-d", "1.9"])
    assert command.tests[0].delay == 1
    assert command.notes == ("-d 1.9: IOR takes whole seconds, and so reads 1.",)


def test_a_dash_between_letters_is_passed_over() -> None:
    assert one("-r -z-k") == one("-r -z -k")


def test_more_tasks_than_ranks_are_all_ranks() -> None:
    assert one("-N 64").tasks_of(16) == 16
    assert one("-N 4").tasks_of(16) == 4
    assert one("-N 64").bytes_to_move(2) == one("").bytes_to_move(2)


_WORDS = st.one_of(
    st.text(max_size=8),
    st.from_regex(r"\A-[A-Za-z]{1,3}[0-9]{0,3}[kmg%]?\Z"),
    st.sampled_from(["-b", "-O", "8m", "--posix.odirect", "-f", "fsync=1", "a=b", "-X", "-5"]),
)


@given(st.lists(_WORDS, max_size=8))
@example(["-f", "\0"])
@example(["-f", "."])
@example(["-o", "{t.nothing}{0}", "-u", "-b", "3"])
@example([""])
def test_arbitrary_words_raise_nothing_but_input_errors(argv: list[str]) -> None:
    try:
        command = parse_arguments(argv)
    except InputError:
        return
    assert command.tests


def test_parsing_does_not_load_numpy() -> None:
    code = "import sys, xc40io.workloads.ior.options; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(("text", "version"), [("3", 3), ("3.0.1", 3), ("4.1", 4)])
def test_the_version_of_ior_is_3_or_4(text: str, version: int) -> None:
    assert parse_arguments(["-O", f"iorVersion={text}"]).tests[0].version == version


@pytest.mark.parametrize("text", ["2.10", "five", ""])
def test_other_versions_of_ior_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="iorVersion"):
        parse_arguments(["-O", f"iorVersion={text}"])
