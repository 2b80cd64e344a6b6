"""The program as a whole: help, version, exit codes, streams, and what is left when things go wrong."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import click
import pytest

import safear as sa
from accounts import only_root
from limits import weigh_states
from promises.cli.conftest import Safear
from safear.cli.main import MODULES, cli

COMMANDS = list(MODULES)


def shell(command: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a line of bash in which $SAFEAR is the program."""
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=os.environ | {"SAFEAR": f"{sys.executable} -m safear"} | environment,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def test_a_command_by_itself_takes_the_same_options_for_help() -> None:
    for name in MODULES:
        found = cli.get_command(click.Context(cli), name)
        assert found
        assert set(found.get_help_option_names(click.Context(found, **found.context_settings))) == {"-h", "--help"}


@pytest.mark.parametrize("option", ["--help", "-h"])
@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_every_help_has_an_example(command: str, option: str, safear: Safear) -> None:
    """One that can be typed: a line that starts with the program's name and goes on with this command."""
    answer = safear(*command.split(), option)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("Usage: ")
    _, _, examples = answer.out.partition("\n  Example:\n")
    assert re.search(rf"^ +(eval \"\$\()?safear {command or 'recommend'}", examples, re.MULTILINE)


def test_the_help_lists_commands_and_exit_codes(safear: Safear) -> None:
    text = safear("--help").out
    for command in COMMANDS:
        assert re.search(rf"^  {command} +\S", text, re.MULTILINE)
    assert "Exit codes:  0 fine;  2 a mistake in the input;  3 no plan reaches a goal" in text


def test_the_version(safear: Safear) -> None:
    answer = safear("--version")
    assert (answer.code, answer.out, answer.err) == (0, f"safear {sa.__version__}\n", "")


def test_without_a_command_it_shows_the_help(safear: Safear) -> None:
    answer = safear()
    assert answer.code == 2
    assert "safear demo" in answer.out + answer.err


@pytest.mark.parametrize(
    "arguments, told",
    [
        (["recomend", "loan"], "No such command 'recomend'"),
        (["recommend"], "Missing argument 'PROBLEM'"),
        (["check"], "Missing argument 'PROBLEM'"),
        (["recommend", "loan", "--jason"], "No such option"),
        (["recommend", "loan", "--horizon", "0"], "0 is not in the range 1<=x<=1000"),
        (["recommend", "loan", "--horizon", "many"], "'many' is not a whole number"),
        (["recommend", "loan", "--level", "2"], "2.0 is not in the range 0<x<=1"),
        (["recommend", "loan", "--level", "0.9", "--objective", "mean"], "--level goes with the menu of optimal plans"),
        (["recommend", "loan", "--level", "0.9", "--method", "greedy"], "--level goes with the menu of optimal plans"),
        (["recommend", "loan", "--episodes", "10"], "--episodes goes with --method episodic"),
        (["recommend", "loan", "--seed", "-1"], "-1 is not in the range x>=0"),
        (["recommend", "loan", "--simulate", "0"], "0 is not in the range 1<=x<=10000000"),
        (["recommend", "loan", "--method", "quick"], "'quick' is not one of 'optimal', 'greedy', 'episodic'"),
        (["examples", "--output", "x.yaml"], "--output needs the NAME of a bundled problem"),
        (["completion", "tcsh"], "'tcsh' is not one of 'bash', 'zsh', 'fish'"),
    ],
)
def test_misuse_is_told_on_the_error_stream_with_exit_code_2(
    arguments: list[str], told: str, safear: Safear, tmp_path: Path
) -> None:
    assert told in safear(*arguments).refusal
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["check", "recommend"])
@pytest.mark.parametrize(
    "problem, told",
    [
        ("lone", "there is neither a file nor a bundled problem 'lone'\n    did you mean 'loan'?\n"),
        ("lone.yaml", "lone.yaml: no such file\n"),
        ("folder.yaml", "folder.yaml: is a directory\n    name a file\n"),
    ],
)
def test_a_problem_that_is_not_there(command: str, problem: str, told: str, safear: Safear, tmp_path: Path) -> None:
    (tmp_path / "folder.yaml").mkdir()
    assert safear(command, problem).refusal == told


def test_a_folder_does_not_hide_a_bundled_problem_of_the_same_name(safear: Safear, tmp_path: Path) -> None:
    (tmp_path / "loan").mkdir()
    assert safear("check", "loan").code == 0


def test_a_file_goes_before_a_bundled_problem_of_the_same_name(safear: Safear, tmp_path: Path) -> None:
    (tmp_path / "loan").write_text("safear: 2\n")
    answer = safear("check", "loan")
    assert answer.code == 2
    assert "loan:1:9: safear: '2' should be 1" in answer.err


# The rest happens in processes of their own.


def test_the_installed_program(safear_process: Safear) -> None:
    answer = safear_process("recommend", "loan", "--objective", "mean", "--json")
    assert (answer.code, answer.err) == (0, "")
    assert answer.json["plans"][0]["first_action"] == "change job"
    assert (
        safear_process("recommend", "loan", "--horizon", "1", "--forbid", "own a house", "--forbid", "change job").code
        == 3
    )
    assert safear_process("recommend", "loan", "--set", "savings=lots").refusal.startswith(
        "savings: 'lots' is not a level of 'savings'\n"
    )


def test_python_m_safear(tmp_path: Path) -> None:
    done = shell("$SAFEAR --version", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"safear {sa.__version__}\n", "")


@pytest.mark.parametrize("command", ["demo | head -1", "schema | head -1"])
def test_a_reader_that_has_seen_enough(command: str, tmp_path: Path) -> None:
    done = shell(f"$SAFEAR {command}", tmp_path)
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 1


@pytest.mark.parametrize(
    "command, code",
    [("--help", 0), ("examples", 0), ("demo", 0), ("recommend loan --json", 0), ("examples lone", 2), ("nonsense", 2)],
)
def test_a_reader_that_is_gone(command: str, code: int, tmp_path: Path) -> None:
    """`| true`, also of what is said of mistakes: every write fails, which is neither a mistake nor news."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as closed:
        program = [sys.executable, "-m", "safear", *command.split()]
        for said in (subprocess.PIPE, closed) if code else (subprocess.PIPE,):
            done = subprocess.run(program, cwd=tmp_path, stdout=closed, stderr=said, timeout=120, check=False)
            assert done.returncode == code
            assert b"Traceback" not in (done.stderr or b"")
            assert b"ignored" not in (done.stderr or b"")
            assert code or not done.stderr


@pytest.mark.parametrize(
    ("command", "encoding"),
    [("demo", "ascii"), ("recommend titled.yaml --json", "cp1252"), ("check wrong.yaml", "ascii")],
)
def test_a_terminal_or_file_that_knows_few_characters(command: str, encoding: str, tmp_path: Path) -> None:
    """As when the output goes to a file on Windows. A tick may be replaced, but the text gets out; JSON stays whole."""
    titled = sa.dump_problem(sa.load_example("loan")) | {"title": "貸付 ✓"}
    (tmp_path / "titled.yaml").write_text(json.dumps(titled, ensure_ascii=False), encoding="utf-8")
    (tmp_path / "wrong.yaml").write_text("safear: 1\n貸付: ✓\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "safear", *command.split()],
        cwd=tmp_path,
        env=os.environ | {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert b"Traceback" not in done.stderr
    assert done.returncode == (2 if "wrong" in command else 0)
    assert len(done.stdout + done.stderr) > 200
    if "--json" in command:
        assert json.loads(done.stdout)["problem"] == "貸付 ✓"


LOCKED_OUT = """
import os
from contextlib import suppress
from safear.cli import main
with suppress(Exception):  # Python itself may lie where nobody else may look
    main.cli(["check", "/nowhere.yaml"], standalone_mode=False)
os.setgroups([]); os.setgid(65534); os.setuid(65534)
main.main()"""


@only_root
@pytest.mark.parametrize("name", ["p.yaml", "p"])
def test_a_problem_that_one_may_not_look_at(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        (Path(folder) / "locked").mkdir(mode=0o700)
        asked = [sys.executable, "-c", LOCKED_OUT, "check", f"{folder}/locked/{name}"]
        done = subprocess.run(asked, cwd="/", capture_output=True, encoding="utf-8", timeout=60, check=False)
        told = f"{folder}/locked/{name}: cannot be read: Permission denied\n"
        assert (done.returncode, done.stderr) == (2, told)


@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"])
def test_streams_that_are_closed(closed: str, tmp_path: Path) -> None:
    done = shell(f"$SAFEAR recommend loan {closed}", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (done.stdout == "") == ("1>" in closed)


def test_what_is_written_to_a_closed_stream_is_refused(tmp_path: Path) -> None:
    done = shell("$SAFEAR recommend loan -o /dev/stdout 1>&-", tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("/dev/stdout: cannot be written: ")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ("BrokenPipeError(32, 'Broken pipe')", "a process that this one needs has ended\n"),
        ("PermissionError(13, 'Permission denied', 'a.txt')", "a.txt: Permission denied\n"),
        ("OSError(24, 'Too many open files')", "the system refuses: Too many open files\n"),
        ("OSError(28, 'No space left on device')", "cannot be written: No space left on device\n"),
    ],
)
def test_what_the_system_refuses_is_told_as_what_it_is(error: str, told: str, tmp_path: Path) -> None:
    """A broken pipe that is none of the program's own streams is news."""
    program = f"""
from safear.cli import examples, main
def fail(**_): raise {error}
examples.schema.callback = fail
main.main()"""
    asked = [sys.executable, "-c", program, "schema"]
    done = subprocess.run(asked, cwd=tmp_path, capture_output=True, encoding="utf-8", timeout=60, check=False)
    assert done.returncode
    assert done.stderr == told


LONG = "x" * 50_000


@pytest.mark.parametrize(
    "command",
    [
        f"--{LONG}",
        LONG,
        f"recommend {LONG}",
        f"recommend loan --{LONG}",
        f"recommend loan --classifier {LONG}",
        f"recommend loan --classifier {LONG}.skops",
        f"recommend loan --person {LONG}",
        f"recommend loan -o {LONG}",
        f"audit loan {LONG} --group job",
        f"resume {LONG}",
    ],
    ids=lambda command: command.replace(LONG, "LONG"),
)
def test_however_long_a_name_is_the_message_is_short(command: str, safear: Safear) -> None:
    assert 20 < len(safear(*command.split()).refusal) < 2000


def test_what_the_system_refuses_is_short(safear: Safear, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENAMETOOLONG, "File name too long", f"a\x1b{LONG}")

    monkeypatch.setattr("safear.cli.main.cli", refuse)
    refused = safear("demo").refusal
    assert len(refused) < 2000
    assert refused.startswith("a\\u001bxxx")


def test_a_problem_too_large_to_check_is_advised_what_the_command_has(
    safear: Safear, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Too large at once, since every state takes 100 MB here."""
    weigh_states(10**8, monkeypatch)
    names = [f"f{number}" for number in range(8)]
    document = {
        "safear": 1,
        "title": "t",
        "horizon": 13,
        "features": {name: {"kind": "ordinal", "levels": ["low", "high"]} for name in names},
        "classifier": {"rule": " and ".join(f"{name} == high" for name in names)},
        "actions": {f"raise {name}": {"cost": 1, "change": {name: "high"}} for name in names},
        "people": {"me": dict.fromkeys(names, "low")},
    }
    (tmp_path / "large.json").write_text(json.dumps(document), encoding="utf-8")
    told = safear("check", "large.json")
    assert "(--horizon), rule out actions, merge levels" in told.out + told.err
    assert "rule out actions (--forbid), merge" in safear("recommend", "large.json").refusal


@pytest.mark.parametrize("loaded", ["math", "duckdb"])
def test_python_ends_without_a_search_for_garbage(loaded: str, tmp_path: Path) -> None:
    """Unless others' compiled code counts on it: DuckDB complains about what is left."""
    program = tmp_path / "safear"  # a script without an ending, as the installed one
    program.write_text(
        f"import atexit, gc, {loaded}\n"
        "atexit.register(lambda: print(gc.get_freeze_count() > 0))\n"
        "from safear.cli.main import main\n"
        "main()"
    )
    command = [sys.executable, str(program), "recommend", "loan"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert (done.stdout.splitlines()[-1], done.stderr) == (str(loaded == "math"), "")
