# SPDX-License-Identifier: Apache-2.0
"""No name of a file or folder is taken for an option, a command or standard input."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.models.clean_model import CLEAN, binary
from support.project.each_case import each_case
from support.project.sampled import one_in

from onnx_lint import __main__
from onnx_lint.cli.request import COMMANDS, refuse_ambiguous
from onnx_lint.configuration.errors import RunError

STALE = binary(CLEAN.replace("graph {", 'graph { value_info { name: "gone" }', 1))
"""A model that `fix` changes."""
VARIABLES = {name: value for name, value in os.environ.items() if not name.startswith(("ONNX_LINT_", "_ONNX_LINT"))}
EVIL = "open('ran', 'w').close()\nimport os\nos._exit(0)\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "m.onnx").write_bytes(STALE)
    (tmp_path / "folder" / "bad.onnx").write_bytes(b"\x08\x07junk")
    (tmp_path / "folder" / "evil.onnx").write_text(EVIL)
    monkeypatch.chdir(tmp_path / "folder")
    return tmp_path / "folder"


def _content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def _end(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    capfd.readouterr()
    return __main__._code(arguments), *capfd.readouterr()


OPTIONS = (
    "--plugin=evil.onnx",
    "--exclude=*.onnx",
    "--config=x.onnx",
    "--baseline",
    "--fix",
    "--output=json=m.onnx",
    "-o",
    "-om.onnx",
    "-q",
    "-vq",
    "-fjson",
    "-j2",
    "--help",
    "-h",
    "--version",
    "--no-such-option.onnx",
    "--files-from=m.onnx",
    "--\nnew",
    "-\udcff",
    "--",
)
AS = ("file", "folder", "dangling link", "link to a folder")


def _make(path: Path, kind: str) -> None:
    """Make something of this name, for which `exists`, `isfile` or neither may be true."""
    if kind == "file":
        path.write_bytes(b"")
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("." if kind == "link to a folder" else "nowhere")


@pytest.mark.skipif(os.name != "posix", reason="Windows allows neither these names nor links")
@pytest.mark.parametrize("kind", AS)
def test_a_name_is_neither_an_option_nor_a_command(kind: str, folder: Path, capfd: pytest.CaptureFixture[str]):
    """As pre-commit, xargs and `*` pass names: before or after others, and after the options of the user."""
    for name in OPTIONS:
        _make(folder / name, kind)
        before = _content(folder)
        for arguments in (
            [name],
            [name, "m.onnx"],
            ["m.onnx", name],
            ["check", "--allow-no-input", "--fail-on", "warning", "bad.onnx", name, "m.onnx"],
            ["fix", name, "m.onnx"],
            ["shapes", name, "m.onnx"],
            ["explain", name, "cycle"],
            ["rules", name],
            ["new-rule", name, "my-rule"],
        ):
            code, out, errors = _end(arguments, capfd)
            assert (code, out) == (2, "")
            assert re.fullmatch(
                "Error: '--?[^\n]*' (begins like an option|ends the options), but [^\n]+: write [^\n]+\n", errors
            )
        assert _content(folder) == before
        (folder / name).rmdir() if kind == "folder" else (folder / name).unlink()
    for name in COMMANDS:
        _make(folder / name, kind)
        before = _content(folder)
        for arguments in ([name], [name, "m.onnx"], [name, "bad.onnx", "m.onnx"], [name, "--files-from", "m.onnx"]):
            code, out, errors = _end(arguments, capfd)
            assert (code, out) == (2, "")
            assert re.fullmatch(
                f"Error: '{name}' is a command, and a file or folder here has this name: write onnx-lint -- {name} for "
                rf"the file or folder, or onnx-lint {name} \[OPTIONS\] -- \.\.\. for the command\n",
                errors,
            )
        assert _content(folder) == before
        (folder / name).rmdir() if kind == "folder" else (folder / name).unlink()


def test_without_such_files_the_same_words_are_options_and_commands(folder: Path, capfd: pytest.CaptureFixture[str]):
    """The control: the guard refuses nothing else."""
    for name in (*OPTIONS, *COMMANDS):
        refuse_ambiguous([name, "m.onnx"])
    assert _end(["--exclude=*.onnx", "--allow-no-input", "m.onnx"], capfd)[0] == 0
    assert _end(["fix", "--select", "unknown-value-info-name", "m.onnx"], capfd)[0] == 0
    assert _content(folder)["m.onnx"] == binary(CLEAN)


@pytest.mark.skipif(os.name != "posix", reason="Windows allows no such names")
def test_the_message_shows_a_name_on_one_line_and_starts_no_command_of_a_ci_server(folder: Path):
    (folder / "--\x1b[2J\n##[error]x").touch()
    done = subprocess.run(
        [sys.executable, "-m", "onnx_lint", "--\x1b[2J\n##[error]x"], capture_output=True, text=True, env=VARIABLES
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(r"Error: '--\x1b[2J\n#\x23[error]x' begins")
    assert done.stderr.count("\n") == 1


# --- what the messages say to write works


def test_after_two_dashes_names_are_paths(folder: Path, capfd: pytest.CaptureFixture[str]):
    for name in ("--plugin=evil.onnx", "-q", "fix", "check"):
        (folder / name).write_bytes(STALE)
    (folder / "rules").mkdir()
    (folder / "rules" / "a.onnx").write_bytes(STALE)
    names = ["--plugin=evil.onnx", "-q", "fix", "check"]
    for arguments in (["--", *names, "rules"], ["check", "--", *names, "rules"], ["-v", "--", *names, "rules"]):
        code, out, errors = _end(["-v", *arguments] if arguments[0] == "--" else arguments, capfd)
        assert (code, errors) == (0, "")
        assert [name for name in (*names, "rules/a.onnx") if f"{name}:" not in out and f" {name}: " not in out] == []


def test_a_path_with_a_folder_in_front_is_a_path(folder: Path, capfd: pytest.CaptureFixture[str]):
    for name in ("--fix", "fix"):
        (folder / name).write_bytes(STALE)
        code, out, _ = _end([f"./{name}"], capfd)
        assert (code, f"./{name}:" in out) == (0, True)
    assert (folder / "fix").read_bytes() == STALE


def test_a_name_of_a_command_that_is_not_first_is_a_path(folder: Path, capfd: pytest.CaptureFixture[str]):
    for name in COMMANDS:
        (folder / name).write_bytes(STALE)
    assert _end(["m.onnx", *sorted(COMMANDS)], capfd)[0] == 0
    assert _end(["-q", "fix", "m.onnx"], capfd)[0] == 0
    assert {content for name, content in _content(folder).items() if name in {"m.onnx", *COMMANDS}} == {STALE}
    assert _end(["fix/", "m.onnx"], capfd)[0] == 2, "a file with a slash is not there; nothing was fixed"
    assert (folder / "m.onnx").read_bytes() == STALE


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (["check", "--", "m.onnx"], "m.onnx: "),
        (["shapes", "--", "m.onnx"], "m.onnx: "),
        (["rules", "--"], "RULE "),
        (["explain", "--", "cycle"], "# cycle\n"),
        (["new-rule", "--", "my-rule"], "my_rule.py\n"),
        (["fix", "--diff", "--select", "unknown-value-info-name", "--", "m.onnx"], "--- "),
    ],
)
def test_a_command_runs_beside_a_folder_of_its_name(
    folder: Path, arguments: list[str], printed: str, capfd: pytest.CaptureFixture[str]
):
    (folder / arguments[0]).mkdir()
    code, out, errors = _end(arguments, capfd)
    assert (code, errors) == (1 if "--diff" in arguments else 0, "")
    assert printed in out
    assert _end([word for word in arguments if word != "--"], capfd)[0] == 2


def test_an_option_runs_beside_a_file_of_another_spelling(folder: Path, capfd: pytest.CaptureFixture[str]):
    (folder / "--format").touch()
    assert _end(["--format=json", "m.onnx"], capfd)[0] == 0
    assert _end(["--format", "json", "m.onnx"], capfd)[0] == 2
    (folder / "-x").write_bytes(STALE)
    assert _end(["--baseline", "-x", "m.onnx"], capfd)[0] == 2
    assert "could not" not in _end(["-o", "./-y.json", "m.onnx"], capfd)[2]
    assert (folder / "-y.json").exists()


# --- standard input


@one_in(2)
def test_a_file_called_like_standard_input_is_not_left_out(
    step: int, folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    """A folder with a file `-`, and a good model on standard input."""
    (folder / "list").write_text("m.onnx\n-\n")
    command = [sys.executable, "-m", "onnx_lint"]
    commands = [["-"], ["m.onnx", "-"], ["--", "-"], ["shapes", "-"], ["--files-from", "list"]]
    for is_there in (False, True):
        if is_there:
            (folder / "-").write_bytes(b"\x08\x07junk")
        for arguments in commands[step - 1 :: step]:
            done = subprocess.run([*command, *arguments], input=STALE, capture_output=True, env=VARIABLES)
            assert done.returncode == (2 if is_there else 0), done.stderr
            assert (b"Error: '-' is standard input, but a file" in done.stderr) == is_there
    assert _end(["./-"], capfd)[0] == 1
    done = subprocess.run([*command, "--files-from", "-"], input=b"m.onnx", capture_output=True, env=VARIABLES)
    assert done.returncode == 0, "the value of an option is not a path of the run"


# --- the ways into the program, and the programs that pass names


CONSOLE = Path(sys.executable).with_name("onnx-lint")


@pytest.mark.parametrize("command", [[sys.executable, "-m", "onnx_lint"], [str(CONSOLE)]], ids=["module", "script"])
def test_each_way_into_the_program_is_guarded(folder: Path, command: list[str]):
    if not Path(command[0]).exists():
        pytest.skip("onnx-lint is not installed as a script")
    (folder / "--plugin=evil.onnx").touch()
    (folder / "fix").mkdir()
    for arguments in (
        ["--plugin=evil.onnx", "bad.onnx"],
        ["fix", "m.onnx"],
        ["check", "bad.onnx", "--plugin=evil.onnx"],
    ):
        done = subprocess.run([*command, *arguments], capture_output=True, text=True, env=VARIABLES)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert not (folder / "ran").exists()
    assert (folder / "m.onnx").read_bytes() == STALE


@pytest.mark.skipif(os.name != "posix", reason="needs sh")
@pytest.mark.parametrize(
    ("script", "code"),
    [
        ('"$PYTHON" -m onnx_lint *.onnx', 2),
        ('"$PYTHON" -m onnx_lint *', 2),
        ('"$PYTHON" -m onnx_lint fix *', 2),
        ("printf '%s\\0' * | xargs -0 \"$PYTHON\" -m onnx_lint check --allow-no-input", 123),
        ("find . -mindepth 1 -printf '%P\\0' | sort -z | xargs -0 \"$PYTHON\" -m onnx_lint", 123),
        ('git ls-files -z --others | xargs -0 "$PYTHON" -m onnx_lint check --allow-no-input', 123),
        ('"$PYTHON" -m onnx_lint -- *.onnx', 1),
        ('"$PYTHON" -m onnx_lint ./*.onnx', 1),
        ("git ls-files -z --others -- '*.onnx' | xargs -0 \"$PYTHON\" -m onnx_lint check --allow-no-input --", 123),
        ("git ls-files -z --others -- '*.onnx' | \"$PYTHON\" -m onnx_lint --files-from -", 1),
    ],
)
def test_names_from_a_shell_xargs_and_git_steer_nothing(folder: Path, script: str, code: int):
    """The folder has a broken model, and names of a stranger that would hide it, run a plugin, or rewrite a model."""
    (folder / "--exclude=*.onnx").touch()
    (folder / "--plugin=evil.onnx").touch()
    (folder / "fix").mkdir()
    subprocess.run(["git", "init", "--quiet"], check=True)
    done = subprocess.run(
        ["sh", "-c", script], capture_output=True, text=True, env={**VARIABLES, "PYTHON": sys.executable, "LC_ALL": "C"}
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert ("bad.onnx" in done.stdout) == ("--" in script.split() or "./*" in script or "--files-from" in script)
    assert not (folder / "ran").exists()
    assert (folder / "m.onnx").read_bytes() == STALE


@pytest.mark.skipif(os.name != "posix", reason="needs sh")
@pytest.mark.parametrize(
    "pipe", ["xargs -0 {} check --allow-no-input {}", "{} check --allow-no-input --files-from - {}"]
)
def test_names_of_deleted_files_and_of_other_folders_are_paths_after_two_dashes_and_in_lists(folder: Path, pipe: str):
    """No file has this name, so only `--` and `--files-from` can prevent that it becomes an option."""
    (folder / "sub").mkdir()
    words = pipe.format('"$PYTHON" -m onnx_lint', "--" if "xargs" in pipe else "--skip-missing")
    for before in ("", "cd sub; "):
        script = f"{before}printf '%s\\0' '--exclude=*.onnx' {'../' if before else ''}bad.onnx | {words}"
        done = subprocess.run(
            ["sh", "-c", script], capture_output=True, text=True, env={**VARIABLES, "PYTHON": sys.executable}
        )
        assert done.returncode == (123 if "xargs" in pipe else 1), done.stderr
        assert "error[" in done.stdout
        assert "bad.onnx" in done.stdout


def test_completion_works_beside_such_names(folder: Path):
    for name in ("--sel", "fix", "-"):
        (folder / name).touch()
    asked = {"_ONNX_LINT_COMPLETE": "bash_complete", "COMP_WORDS": "onnx-lint\n--sel", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "onnx_lint"], capture_output=True, text=True, env={**VARIABLES, **asked}
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "file,--sel\nplain,--select\n", "")


@each_case(
    ("arguments", "looked_up"),
    [
        (["m.onnx", "models", "fix"], []),
        (["-"], []),
        ([], []),
        (["-q", "m.onnx", "--jobs", "2"], ["-q", "--jobs"]),
        (["check", "m.onnx"], ["check"]),
        (["check", "-q", "--", "-x", "--", "fix"], ["-q", "--"]),
    ],
)
def test_only_what_may_be_ambiguous_is_looked_up(
    arguments: list[str], looked_up: list[str], monkeypatch: pytest.MonkeyPatch
):
    """A run of paths alone asks the file system nothing more."""
    asked: list[str] = []
    monkeypatch.setattr(os.path, "lexists", lambda path: asked.append(path) or False)
    refuse_ambiguous(arguments)
    assert asked == looked_up


@each_case(
    ("before", "is_refused"),
    [
        (["--exclude"], True),
        (["-o"], True),
        (["-qo"], True),
        (["fix", "--output"], True),
        (["explain", "--plugin"], True),
        (["--exclude", "x", "-o"], True),
        (["--exclude", "-o"], False),  # -o is the value
        (["--exclude", "-o", "-o"], True),
        (["-oq"], False),
        (["-q"], False),
        (["--exclude=x"], False),
        (["check", "--allow-no-input"], False),
        (["m.onnx"], False),
        (["foo"], False),
        (["-"], False),
        (["--no-such-option"], False),
        ([], False),
    ],
)
def test_two_dashes_are_no_value(before: list[str], is_refused: bool):
    """As in `--exclude $UNSET -- *.onnx`: names after the `--` would be options."""
    arguments = [*before, "--", "--plugin=evil.onnx"]
    if not is_refused:
        refuse_ambiguous(arguments)
        return
    with pytest.raises(RunError, match=f"'{before[-1]}' has no value"):
        refuse_ambiguous(arguments)


def test_an_existing_separator_does_not_make_a_name_a_command(monkeypatch: pytest.MonkeyPatch):
    """`fix -- m.onnx` from `find`, in a folder where both are files."""
    monkeypatch.setattr(os.path, "lexists", lambda path: True)
    with pytest.raises(RunError, match="'--' ends the options"):
        refuse_ambiguous(["fix", "--", "m.onnx"])
