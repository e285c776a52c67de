# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions of whole runs of onnx-lint: of the base, of the commit, and of the last release.

`python benchmarks/instructions.py [--rows ROW,ROW] [--base COMMIT] [--write]`. The commit is HEAD, or the working tree
if it has changes. The base is where HEAD left `--base`, the variable BASE, or the main branch of origin; else it is
HEAD^. All run in the same environment, under cachegrind, with byte code and with one seed of hashes. A row that grows
by more than 1 % fails, unless a message of a commit after the base has a line such as

    Instructions: constants +2.3 %: NaN in Constants is reported

The exit code is 1 if a row fails, and 77 with a reason if nothing can be measured. --write measures all rows and puts
the figures into `instructions.json` and `README.md`.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rows import ROWS, Row

ROOT: Final = Path(__file__).parent.parent
FIGURES: Final = Path(__file__).with_name("instructions.json")
README: Final = Path(__file__).with_name("README.md")
CODE: Final = ("onnx_lint", "rules")
"""The folders that are measured."""
THRESHOLD: Final = 1.0
"""By how many percent a row may grow."""
SLACK: Final = 0.3
"""By how many percent more than its message says."""
JOBS: Final = min(2, os.cpu_count() or 1)
CANNOT_RUN: Final = 77
PACKAGES: Final = ("protobuf", "numpy", "onnx")
"""Packages whose versions change the figures, or the models."""


class CannotMeasureError(Exception):
    """Why nothing can be measured here."""


# --- the commits


def git(*arguments: str) -> str:
    """Return what git prints in this repository; raise subprocess.CalledProcessError if it fails."""
    done = subprocess.run(("git", "-C", str(ROOT), *arguments), check=True, capture_output=True)
    return done.stdout.decode().strip()


def resolved(name: str) -> str | None:
    """Return the commit of a name, or None if this clone does not have it."""
    try:
        return git("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    except subprocess.CalledProcessError:
        return None


def is_changed() -> bool:
    """Return whether the working tree differs from HEAD in what is measured."""
    return bool(git("status", "--porcelain", "--", *CODE))


def code_of(commit: str) -> str:
    """Return the hashes of what is measured."""
    return git("rev-parse", *(f"{commit}:{folder}" for folder in CODE))


def base_commit(wanted: str | None) -> str:
    """Return the commit to compare with: where HEAD left `wanted`, or the main branch of origin, or HEAD^."""
    head = git("rev-parse", "HEAD")
    if wanted and wanted.strip("0"):
        if resolved(wanted) is None:
            raise CannotMeasureError(f"the base {wanted} is not in this clone: git fetch origin {wanted}")
        return _merge_base(wanted)
    for main in ("origin/HEAD", "origin/main"):
        if resolved(main) is not None:
            found = _merge_base(main)
            if found != head:
                return found
            break
    if is_changed():
        return head
    parent = resolved("HEAD^")
    if parent is None:
        is_shallow = git("rev-parse", "--is-shallow-repository") == "true"
        reason = "this clone is shallow: git fetch --unshallow" if is_shallow else "this is the first commit"
        raise CannotMeasureError(f"there is no commit to compare with: {reason}")
    return parent


def _merge_base(other: str) -> str:
    try:
        return git("merge-base", "HEAD", other)
    except subprocess.CalledProcessError:
        raise CannotMeasureError(
            f"HEAD and {other} have no common commit in this clone; if it is shallow: git fetch --unshallow"
        ) from None


# --- what runs


@dataclass(frozen=True, slots=True)
class Installation:
    """An environment with the run-time dependencies of this one, and with one state of onnx-lint as a wheel has it."""

    folder: Path

    @classmethod
    def make(cls, folder: Path) -> Installation:
        """Make the environment without onnx-lint."""
        venv.create(folder, symlinks=True)
        made = cls(folder)
        for path in _dependencies("onnx-lint"):
            link = made.packages / path.name
            if not link.exists():
                link.symlink_to(path)
        info = made.packages / "onnx_lint-0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.4\nName: onnx-lint\nVersion: 0\n")
        (info / "entry_points.txt").write_text("[console_scripts]\nonnx-lint = onnx_lint.__main__:command\n")
        (folder / "bin" / "onnx-lint").write_text(
            "import sys\nfrom onnx_lint.__main__ import command\nif __name__ == '__main__':\n    sys.exit(command())\n"
        )
        return made

    @property
    def packages(self) -> Path:
        """The folder site-packages."""
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        return self.folder / "lib" / version / "site-packages"

    def install(self, commit: str | None) -> None:
        """Install the code of a commit, or of the working tree."""
        copy = self.folder / "source"
        copy.mkdir()
        if commit is None:
            _copy_working_tree(copy)
        else:
            archive = subprocess.run(
                ("git", "-C", str(ROOT), "archive", commit, "--", *CODE), check=True, stdout=subprocess.PIPE
            )
            subprocess.run(("tar", "-x", "-C", str(copy)), check=True, input=archive.stdout)
        (copy / "rules").rename(copy / "onnx_lint" / "rules")
        (copy / "onnx_lint").rename(self.packages / "onnx_lint")

    def command(self, row: Row, model: str) -> list[str]:
        """Return the command line, as the console script runs it."""
        script = self.folder / "bin" / "onnx-lint"
        return [str(self.folder / "bin" / "python"), str(script), *row.options, model]


def _dependencies(name: str) -> Iterator[Path]:
    """Yield the folders and files of what a distribution requires, without its extras."""
    for line in importlib.metadata.requires(name) or ():
        if "extra ==" in line:
            continue
        required = re.match(r"[\w.-]+", line)[0]  # type: ignore[index]  # each requirement begins with a name
        try:
            files = importlib.metadata.distribution(required).files or ()
        except importlib.metadata.PackageNotFoundError:
            continue  # its marker does not apply here
        for top in sorted({file.parts[0] for file in files} - {"..", "__pycache__"}):
            yield Path(str(importlib.metadata.distribution(required).locate_file(top)))
        yield from _dependencies(required)


def _copy_working_tree(folder: Path) -> None:
    names = git("ls-files", "--cached", "--others", "--exclude-standard", "--", *CODE).splitlines()
    for name in names:
        if (ROOT / name).is_file():  # a file that git knows may be deleted
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)


# --- counting


COUNT: Final = re.compile(r"^==\d+== I\s+refs:\s+([\d,]+)$", re.MULTILINE)


def counted(log: str) -> int:
    """Return the instructions that cachegrind reports."""
    found = COUNT.findall(log)
    if len(found) != 1:
        raise SystemExit(f"valgrind reports no instructions:\n{log}")
    return int(found[0].replace(",", ""))


class Counter:
    """Writes the models of rows into a folder, and counts the instructions of runs on them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._models = folder / "models"
        self._models.mkdir()
        kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}  # of Python itself
        self._environment = {
            **kept,
            "PATH": "/usr/bin:/bin",
            "HOME": str(folder),
            "LC_ALL": "C.UTF-8",
            "PYTHONHASHSEED": "0",
            "OPENBLAS_NUM_THREADS": "1",
        }
        self._prefix = ("setarch", platform.machine(), "-R") if _can_fix_addresses() else ()

    def write(self, names: Collection[str]) -> None:
        """Write the models of these rows."""
        for name in names:
            ROWS[name].write(self._models / f"{name}.onnx")

    def count(self, name: str, installation: Installation) -> int:
        """Return the instructions of a run, after another run has written the byte code."""
        command = installation.command(ROWS[name], f"{name}.onnx")
        self._run(command)
        log = self._folder / f"{installation.folder.name}-{name}.log"
        tool = ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")
        self._run([*self._prefix, *tool, f"--log-file={log}", *command])
        return counted(log.read_text())

    def _run(self, command: Sequence[str]) -> None:
        done = subprocess.run(command, cwd=self._models, env=self._environment, capture_output=True)
        if done.returncode not in (0, 1):
            raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr.decode()}")


def _can_fix_addresses() -> bool:
    """Return whether addresses can be the same in each run, which the order of some sets depends on."""
    if shutil.which("setarch") is None:
        return False
    return subprocess.run(("setarch", platform.machine(), "-R", "true"), capture_output=True).returncode == 0


Counts = dict[str, dict[str, int]]
"""The instructions by the name of a state, and by the name of a row.

The states are base, head and last. These names are folders in the paths of modules, and have one length.
"""


def measure(states: Mapping[str, str | None], names: Collection[str]) -> Counts:
    """Count the instructions of each state in each row. A state is a commit, or None: the working tree.

    States with the same code are measured once.
    """
    codes = {state: code_of(commit) if commit else "" for state, commit in states.items()}
    first = {code: state for state, code in reversed(codes.items())}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        installations = {code: Installation.make(folder / state) for code, state in first.items()}
        for code, state in first.items():
            installations[code].install(states[state])
        counter = Counter(folder)
        counter.write(names)
        with ThreadPoolExecutor(JOBS) as pool:
            tasks = {
                code: {name: pool.submit(counter.count, name, installation) for name in names}
                for code, installation in installations.items()
            }
            found = {code: {name: task.result() for name, task in row.items()} for code, row in tasks.items()}
    return {state: found[code] for state, code in codes.items()}


# --- judging


@dataclass(frozen=True, slots=True)
class Allowance:
    """What the messages of commits say of a row: its growth in percent, and what the user gets."""

    growth: float
    reason: str


LINE: Final = re.compile(r"^Instructions: *([\w-]+) *\+ *(\d+(?:\.\d+)?) ?%: *(\S.*)$")


def allowances(messages: str) -> dict[str, Allowance]:
    """Return what the messages allow, by row. What several commits state of a row adds up."""
    found: dict[str, Allowance] = {}
    for line in messages.splitlines():
        match = LINE.match(line.strip())
        if match is None:
            continue
        name, growth, reason = match.groups()
        before = found.get(name)
        if before is None:
            found[name] = Allowance(float(growth), reason)
        else:
            found[name] = Allowance(before.growth + float(growth), f"{before.reason}; {reason}")
    return found


def unreadable_lines(messages: str) -> list[str]:
    """Return the lines that begin like an allowance and are none, or name a row that does not exist."""
    lines = [line.strip() for line in messages.splitlines() if line.strip().startswith("Instructions:")]
    return [line for line in lines if not (match := LINE.match(line)) or match[1] not in ROWS]


def growth(before: int, after: int) -> float:
    """Return by how many percent `after` is more than `before`."""
    return 100 * (after - before) / before


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a row may be as it is, and a sentence."""

    has_failed: bool
    text: str


def judge(name: str, before: int, after: int, allowed: Allowance | None) -> Verdict:
    """Judge the growth of a row."""
    measured = growth(before, after)
    if measured <= THRESHOLD:
        return Verdict(False, "")
    if allowed is None:
        example = f"Instructions: {name} +{measured:.1f} %: what the user gets"
        return Verdict(True, f"FAILED: more than {THRESHOLD:g} %, and no message of a commit says `{example}`")
    if measured > allowed.growth + SLACK:
        return Verdict(True, f"FAILED: the messages state +{allowed.growth:g} %")
    return Verdict(False, f"stated (+{allowed.growth:g} %): {allowed.reason}")


# --- the file of figures, and the table


@dataclass(frozen=True, slots=True)
class Release:
    """The last release: its name, and its commit if this clone has it."""

    name: str
    commit: str | None


def last_release(figures: Mapping[str, Any]) -> Release:
    """Return the newest tag that HEAD has in its past, else the commit that the file of figures names."""
    try:
        tag = git("describe", "--tags", "--abbrev=0", "--match", "v[0-9]*", "HEAD")
    except subprocess.CalledProcessError:
        recorded = figures["release"]
        return Release(recorded["name"], resolved(recorded["commit"]))
    return Release(tag, resolved(tag))


def versions() -> dict[str, str]:
    """Return the versions on which figures depend."""
    return {"Python": platform.python_version(), **{name: importlib.metadata.version(name) for name in PACKAGES}}


def recorded_figures(figures: Mapping[str, Any], release: Release) -> dict[str, int]:
    """Return the recorded figures of a release, none if they are of other versions of Python or packages."""
    if figures["versions"] != versions() or figures["release"]["name"] != release.name:
        return {}
    return {name: row["release"] for name, row in figures["instructions"].items()}


def table(names: Collection[str], counts: Counts, verdicts: Mapping[str, Verdict]) -> Iterator[str]:
    """Yield the lines of the table in M, millions of instructions."""
    yield f"{'row':<16}{'base M':>10}{'commit M':>10}{'growth':>10}{'to release':>12}"
    for name in names:
        base, head, last = counts["base"][name], counts["head"][name], counts.get("last", {}).get(name)
        since = "-" if last is None else f"{growth(last, head):+.2f} %"
        line = f"{name:<16}{base / 1e6:>10,.1f}{head / 1e6:>10,.1f}{growth(base, head):>+8.2f} %{since:>12}"
        yield f"{line}  {verdicts[name].text}".rstrip()


HEADING: Final = "| row | what is linted | last release, M | this commit, M | growth |\n|---|---|--:|--:|--:|\n"
SECTION: Final = re.compile(rf"Measured with .*\n.*\n\n{re.escape(HEADING)}(?:\|.*\n)*")
"""What `--write` replaces in README.md."""


def markdown(figures: Mapping[str, Any]) -> str:
    """Return the figures as README.md has them."""
    shown = ", ".join(f"{package} {version}" for package, version in figures["versions"].items())
    text = f"Measured with {shown}.\nThe last release is {figures['release']['name']}.\n\n{HEADING}"
    for name, row in figures["instructions"].items():
        last, head = row["release"], row["commit"]
        growing = f"{growth(last, head):+.1f} %"
        text += f"| `{name}` | {ROWS[name].title} | {last / 1e6:,.0f} | {head / 1e6:,.0f} | {growing} |\n"
    return text


def read_figures() -> dict[str, Any]:
    """Return the content of the file of figures."""
    found: dict[str, Any] = json.loads(FIGURES.read_text(encoding="utf-8"))
    return found


def write_figures(figures: Mapping[str, Any], release: Release, counts: Counts) -> None:
    """Put the figures of the release and the commit into the file and into README.md."""
    missing = ROWS.keys() - counts["last"].keys() | ROWS.keys() - counts["head"].keys()
    if missing:
        raise SystemExit(f"not written: there are no figures for {', '.join(sorted(missing))}")
    new = {
        "release": {"name": release.name, "commit": release.commit or figures["release"]["commit"]},
        "versions": versions(),
        "instructions": {name: {"release": counts["last"][name], "commit": counts["head"][name]} for name in ROWS},
    }
    FIGURES.write_text(json.dumps(new, indent=2) + "\n", encoding="utf-8")
    text = README.read_text(encoding="utf-8")
    README.write_text(SECTION.sub(lambda _: markdown(new), text), encoding="utf-8")


# --- the command


def main() -> int:
    """Measure, print the table, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", metavar="ROW,ROW", help=f"only these rows of {', '.join(ROWS)}")
    parser.add_argument("--base", metavar="COMMIT", help="compare with where HEAD left this commit or branch")
    parser.add_argument("--no-release", action="store_true", help="do not measure the last release")
    parser.add_argument("--write", action="store_true", help="put the figures into instructions.json and README.md")
    arguments = parser.parse_args()
    names = arguments.rows.split(",") if arguments.rows else list(ROWS)
    unknown = [name for name in names if name not in ROWS]
    if unknown:
        parser.error(f"unknown rows: {', '.join(unknown)}")
    try:
        return _run(names, arguments)
    except CannotMeasureError as reason:
        print(reason)
        return CANNOT_RUN


def _run(names: Sequence[str], arguments: argparse.Namespace) -> int:
    if shutil.which("valgrind") is None:
        raise CannotMeasureError("valgrind is not installed")
    base = base_commit(arguments.base or os.environ.get("BASE"))
    head = None if is_changed() else git("rev-parse", "HEAD")
    if not (arguments.rows or arguments.write) and head is not None and code_of(head) == code_of(base):
        print(f"no change of {' or '.join(CODE)} since {base[:10]}: nothing to measure")
        return 0
    figures = read_figures()
    release = last_release(figures)
    states = {"base": base, "head": head}
    if release.commit is not None and not arguments.no_release:
        states["last"] = release.commit
    counts = measure(states, names)
    if "last" not in counts:
        counts["last"] = recorded_figures(figures, release)
    messages = git("log", "--format=%B", f"{base}..HEAD")
    allowed = allowances(messages)
    verdicts = {name: judge(name, counts["base"][name], counts["head"][name], allowed.get(name)) for name in names}
    shown = ", ".join(f"{package} {version}" for package, version in versions().items())
    commit = "the working tree" if head is None else f"commit {head[:10]}"
    print(f"base {base[:10]}, {commit}, last release {release.name}; {shown}")
    print("\n".join(table(names, counts, verdicts)))
    for line in unreadable_lines(messages):
        print(f"not understood, or of an unknown row: {line}")
    if arguments.write:
        write_figures(figures, release, counts)
    failed = [name for name in names if verdicts[name].has_failed]
    print(f"grew by too much: {', '.join(failed)}" if failed else "no row grew by too much")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
