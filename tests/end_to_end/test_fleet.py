# SPDX-License-Identifier: Apache-2.0
"""Scans of many models on real clusters of Dask, with everything killed that can be: `python -m pytest -m fleet`.

The workers are processes of their own; a plugin harms the process of a few models, as a fault in a rule might.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Set
from pathlib import Path
from typing import Any, Final

import pytest
from onnx import TensorProto, helper
from support.models.clean_model import CLEAN
from support.processes.signals import heed_signals
from support.project.checkout import ROOT
from support.reports.fleet_models import write_fleet, write_plugin

from onnx_lint.reporters.wording import counted

pytestmark = pytest.mark.fleet

SECONDS: Final = 300

MANY: Final = 1_000
"""The number of models. One more hangs, so that no scan of them ends before it is killed or interrupted."""

IMPATIENT: Final = ("--time-limit", "3")
"""Options that make a scan of these models end, with exit code 3."""

FAILURES: Final = {
    "models/dies.onnx": "the process that linted the file ended by signal SIGKILL",
    "models/eats.onnx": "the model took more than 200 MB of memory (option --memory-limit)",
    "models/ends.onnx": "the process that linted the file ended with exit code 7",
    "models/hangs.onnx": "the model took longer than 12 seconds (option --time-limit)",
}


class Place:
    """A working directory with a fleet, and the plugin that harms some of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "site").mkdir()
        write_plugin(folder / "site")
        path = os.pathsep.join([str(ROOT), str(folder / "site")])
        self.environment = {**os.environ, "PYTHONPATH": path, "COVERAGE_PROCESS_START": ""}

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "onnx_lint", *arguments]

    def run(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments),
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
            **options,
        )

    def scan(self, reports: str, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        return self.run("scan", "models", "--to", reports, "--workers", "2", *arguments, **options)

    @contextlib.contextmanager
    def started(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """A scan under way; it is killed at the end if it has not ended."""
        process = subprocess.Popen(
            self.command("scan", "models", *arguments),
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=heed_signals,
        )
        try:
            yield process
        finally:
            process.kill()
            process.communicate()

    def records(self, reports: str, name: str = "models") -> list[dict[str, Any]]:
        """The records of the report, in its order."""
        return [json.loads(line) for line in self.content(reports)[f"{name}.jsonl"].splitlines()]

    def content(self, reports: str) -> dict[str, bytes]:
        """All files of an export with their bytes."""
        target = self.folder / f"{reports}.export"
        done = self.run("scan", "--summary", reports, "--export", str(target), "--quiet")
        assert done.stderr == "", done.stderr
        return {path.name: path.read_bytes() for path in sorted(target.iterdir())}

    def landed(self, reports: str) -> int:
        """Return the number of models that have landed."""
        return len(self.paths(reports))

    def paths(self, reports: str) -> list[str]:
        """The models that have landed."""
        address = f"file:{self.folder / reports}/scan.db?mode=ro"
        with (
            contextlib.suppress(sqlite3.OperationalError),  # before there is a database, and tables in it
            contextlib.closing(sqlite3.connect(address, uri=True)) as connection,
        ):
            return [path for (path,) in connection.execute("SELECT path FROM models")]
        return []

    def totals(self, reports: str, *arguments: str) -> dict[str, Any]:
        done = self.run("scan", "--summary", reports, "-f", "json", *arguments)
        totals: dict[str, Any] = json.loads(done.stdout)
        return totals


@pytest.fixture
def place(tmp_path: Path) -> Place:
    write_fleet(tmp_path / "models", 150)
    return Place(tmp_path)


def _wait_for(condition: Callable[[], bool], what: str, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"no {what} in {seconds} seconds"
        time.sleep(0.1)


def _processes_of(session: int, word: str) -> list[Any]:
    """The processes of the session whose command line has the word in it."""
    import psutil

    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.status() != psutil.STATUS_ZOMBIE and os.getsid(process.pid) == session:
                found += [process] if word in " ".join(process.cmdline()) else []
    return found


class Killer(threading.Thread):
    """Kills a worker of a scan every few seconds, five times.

    Not for ever: a model that every worker dies with is reported by name, whoever kills them.
    """

    def __init__(self, session: int) -> None:
        super().__init__(daemon=True)
        self._session = session
        self._rng = random.Random(5)
        self.killed = 0

    def run(self) -> None:
        import psutil

        while self.killed < 5:
            time.sleep(4)
            workers = _processes_of(self._session, "spawn_main")
            if workers:
                with contextlib.suppress(psutil.Error):
                    self._rng.choice(workers).kill()
                    self.killed += 1


def _as_checked(place: Place, without: Set[str] = frozenset()) -> list[bytes]:
    """The lines about files and findings that one process writes about the same models, by path."""
    paths = sorted(str(path.relative_to(place.folder)) for path in (place.folder / "models").rglob("*.onnx"))
    done = place.run("check", "-f", "jsonl", "--files-from", "-", input="\n".join(set(paths) - without))
    assert done.returncode in {0, 1}, done.stderr
    lines = done.stdout.encode().splitlines(keepends=True)[1:-1]
    return sorted(lines, key=lambda line: (json.loads(line)["path"], json.loads(line)["record"] == "file"))


def _without_identity(place: Place, reports: str, without: Set[str] = frozenset()) -> list[bytes]:
    """The lines of the report in the same order, without what identifies the objects."""
    lines: dict[str, list[bytes]] = {}
    content = place.content(reports)
    for name in ("findings", "models"):
        for line in content[f"{name}.jsonl"].splitlines(keepends=True):
            lines.setdefault(json.loads(line)["path"], []).append(line)
    kept = [line for path in sorted(lines) if path not in without for line in lines[path]]
    return [_cut(line) for line in kept]


def _cut(line: bytes) -> bytes:
    record = json.loads(line)
    if "object" not in record:
        return line
    identity = json.dumps(record["object"], separators=(",", ":")).encode()
    assert line.endswith(b',"object":' + identity + b"}\n")
    return line.replace(b',"object":' + identity, b"")


def test_five_thousand_models_whatever_is_killed(tmp_path: Path) -> None:
    write_fleet(tmp_path / "models", 5_000, troubles=("dies", "eats", "ends", "hangs"))
    place = Place(tmp_path)
    limits = ("--time-limit", "12", "--memory-limit", "200")
    expected = _as_checked(place, set(FAILURES))
    with place.started("--to", "killed", "--workers", "2", *limits) as scan:
        killer = Killer(scan.pid)
        killer.start()
        _wait_for(lambda: place.landed("killed") > 500, "models")
        scan.kill()
        scan.communicate()
        # A model that hangs for twice twelve seconds is among them, so that the scan cannot be over.
        assert place.landed("killed") < 5_004
    _wait_for(lambda: not _processes_of(scan.pid, "onnx_lint"), "end of the processes of a killed client")
    with place.started("--to", "killed", "--workers", "2", *limits) as scan:
        again = Killer(scan.pid)
        again.start()
        output, errors = scan.communicate(timeout=SECONDS)
    assert scan.returncode == 3, errors
    assert killer.killed + again.killed >= 2

    assert _without_identity(place, "killed", set(FAILURES)) == expected
    files = place.records("killed")
    assert [record["path"] for record in files] == sorted(record["path"] for record in files)
    failed = {
        record["path"]: record["internal_errors"][0]["exception"] for record in files if record["internal_errors"]
    }
    assert failed == FAILURES
    for path, why in FAILURES.items():
        assert f"{path}: onnx-lint: {why}" in output

    one = place.scan("one", "--workers", "1", *limits)
    assert one.returncode == 3, one.stderr
    assert one.stdout == output
    assert place.content("one") == place.content("killed")

    totals = place.totals("killed")
    findings = [json.loads(line) for line in expected if b'"record":"finding"' in line]
    levels = Counter(finding["severity"] for finding in findings)
    assert {name: totals[f"{name}s"] for name in ("error", "warning", "note")} == {
        name: levels[name] for name in ("error", "warning", "note")
    }
    assert (totals["models"], totals["crashed"], totals["complete"]) == (5_004, 4, True)
    by_rule = Counter((finding["rule"], finding["severity"]) for finding in findings)
    assert {(row["rule"], row["severity"]): row["findings"] for row in totals["by_rule"]} == by_rule
    for name in ("by_producer", "by_edition"):
        assert sum(row["models"] for row in totals[name]) == 5_004
        assert sum(row["errors"] for row in totals[name]) == levels["error"]
    with_errors = {finding["path"] for finding in findings if finding["severity"] == "error"}
    assert totals["models_with_errors"] == len(with_errors)
    assert totals["conforming"] + len(with_errors) + totals["crashed"] == 5_004


def test_a_model_that_ends_its_worker_takes_no_other_with_it(place: Place) -> None:
    expected = _as_checked(place)
    write_fleet(place.folder / "models", 0, troubles=["slays"])
    done = place.scan("reports")
    assert done.returncode == 3, done.stderr
    assert _without_identity(place, "reports", {"models/slays.onnx"}) == expected
    failed = [record for record in place.records("reports") if record["internal_errors"]]
    assert [record["path"] for record in failed] == ["models/slays.onnx"]
    assert failed[0]["internal_errors"][0]["exception"] == "each worker that was to lint the file ended"


def test_what_lies_in_the_working_directory_is_not_run(place: Place) -> None:
    for name in ("json", "selectors", "socket", "psutil", "numpy", "distributed", "onnx_lint"):
        (place.folder / f"{name}.py").write_text(f"import os; os.mkdir({str(place.folder / 'run')!r})")
    command = [str(Path(sys.executable).with_name("onnx-lint")), "scan", "models", "--to", "reports", "--workers", "2"]
    done = subprocess.run(command, cwd=place.folder, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 1, done.stderr
    assert not (place.folder / "run").exists()


def test_the_log_of_a_job_tells_how_far_it_is(place: Place) -> None:
    """Off a terminal there is a line every half minute; here time goes faster."""
    code = (
        "import sys; from onnx_lint.cli import scan_progress; scan_progress._LINE_SECONDS = 0.0;"
        "from onnx_lint.cli.application import run; sys.exit(run(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "scan", "models", "--to", "reports", "--workers", "2"],
        cwd=place.folder,
        env=place.environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    form = re.compile(r"[\d,]+ of 150 models: [\d,]+/s, [\d,]+ findings, [\d.]+ [kMG]?B read")
    assert [line for line in lines if not form.fullmatch(line)] == []
    assert lines[-1].startswith("150 of 150 models: ")
    assert place.scan("quiet", "-q").stderr == ""


def test_what_cannot_be_read_is_told_as_check_tells_it(place: Place) -> None:
    (place.folder / "models" / "empty.onnx").touch()
    (place.folder / "models" / "cut.onnx").write_bytes(b"\x08\x0a\x3a\xff")
    os.mkfifo(place.folder / "models" / "pipe.onnx")
    (place.folder / "models" / "nowhere.onnx").symlink_to("not-there.onnx")
    paths = sorted(str(path.relative_to(place.folder)) for path in (place.folder / "models").rglob("*.onnx"))
    checked = place.run("check", "-f", "jsonl", *paths)
    scanned = place.scan("reports")
    assert (checked.returncode, scanned.returncode) == (2, 2), scanned.stderr
    expected = checked.stdout.encode().splitlines(keepends=True)[1:-1]
    assert _without_identity(place, "reports") == expected


def test_a_scan_goes_on_where_it_was_killed(place: Place) -> None:
    """Landed models are not linted again: one is damaged without a change of its size and time, and stays unnoticed."""
    write_fleet(place.folder / "models", MANY, seed=2, troubles=["hangs"])
    with place.started("--to", "reports", "--workers", "2") as scan:
        _wait_for(lambda: place.landed("reports") > 0, "models")
        os.killpg(scan.pid, signal.SIGKILL)
        scan.communicate()
    landed = place.paths("reports")
    assert 0 < len(landed) <= MANY
    summary = place.run("scan", "--summary", "reports", "--exit-zero")
    assert f"{counted(MANY + 1 - len(landed), 'model')} not linted yet" in summary.stdout
    whole = place.scan("whole", *IMPATIENT)
    for path in landed:
        _spoil(place.folder / path)
    done = place.scan("reports", *IMPATIENT)
    assert done.returncode == whole.returncode == 3, done.stderr
    assert place.content("reports") == place.content("whole")
    assert {path.name for path in (place.folder / "reports").iterdir()} == {"lock", "scan.db"}


def _spoil(path: Path) -> None:
    """Change the content of a file without changing its size or time."""
    before = path.stat()
    path.write_bytes(b"\xff" * before.st_size)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_the_next_scan_lints_what_is_new_or_changed_alone(place: Place) -> None:
    assert place.scan("reports").returncode == 1
    files = sorted((place.folder / "models").rglob("*.onnx"))
    gone, changed, *others = files
    for path in others:
        _spoil(path)
    gone.unlink()
    changed.write_bytes(b"")
    (place.folder / "models" / "new.onnx").write_bytes(b"\x08\x0a\x3a\x00")
    before = {record["path"]: record for record in place.records("reports")}
    assert place.scan("reports").returncode == 1
    after = {record["path"]: record for record in place.records("reports")}
    names = {path: str(path.relative_to(place.folder)) for path in files}
    assert set(after) == {names[path] for path in (changed, *others)} | {"models/new.onnx"}
    assert all(after[names[path]] == before[names[path]] for path in others)
    assert after[names[changed]]["size"] == 0

    unchanged = place.content("reports")
    again = place.scan("reports")
    assert (again.returncode, place.content("reports")) == (1, unchanged)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_scan_has_landed_and_goes_on(place: Place, number: int) -> None:
    write_fleet(place.folder / "models", MANY, seed=2, troubles=["hangs"])
    with place.started("--to", "reports", "--workers", "2") as scan:
        _wait_for(lambda: place.landed("reports") > 0, "models")
        os.killpg(scan.pid, number) if number == signal.SIGINT else scan.send_signal(number)
        _, errors = scan.communicate(timeout=SECONDS)
    assert scan.returncode == 130, errors
    assert "the same command continues" in errors
    assert "Traceback" not in errors
    assert 0 < place.landed("reports") <= MANY
    _wait_for(lambda: not _processes_of(scan.pid, "onnx_lint"), "end of the processes of an interrupted scan")
    assert place.scan("reports", *IMPATIENT).returncode == 3
    assert len(place.records("reports")) == MANY + 1


def test_two_scans_do_not_write_to_one_folder(place: Place) -> None:
    write_fleet(place.folder / "models", 1_000, seed=2)
    with place.started("--to", "reports", "--workers", "2") as scan:
        _wait_for((place.folder / "reports" / "scan.db").exists, "scan")
        other = place.scan("reports")
        assert (other.returncode, other.stderr) == (2, "Error: reports: another scan is writing to it\n")
        _, errors = scan.communicate(timeout=SECONDS)
    assert scan.returncode == 1, errors
    assert len(place.records("reports")) == 1_000


def test_a_full_disk_ends_a_scan_that_goes_on_when_there_is_room(place: Place) -> None:
    import resource

    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))

    done = place.scan("reports", preexec_fn=little_room)
    assert done.returncode == 2
    assert re.fullmatch(r"Error: reports/scan\.db: (disk I/O error|database or disk is full)\n", done.stderr)
    assert place.landed("reports") < 150
    assert place.scan("reports").returncode == 1
    assert len(place.records("reports")) == 150


def test_reports_of_another_scan_are_not_gone_on_with(place: Place) -> None:
    assert place.scan("reports").returncode == 1
    before = place.content("reports")
    other = place.scan("reports", "--edition", "1.16")
    assert other.returncode == 2
    assert "differs in the edition or variant" in other.stderr
    assert place.content("reports") == before
    anew = place.scan("reports", "--edition", "1.16", "--anew")
    assert anew.returncode == 1
    assert [row["edition"] for row in place.totals("reports")["by_edition"]] == ["ONNX 1.16"]


def test_a_truncated_database_is_told(place: Place) -> None:
    assert place.scan("reports").returncode == 1
    path = place.folder / "reports" / "scan.db"
    path.write_bytes(path.read_bytes()[:-5_000])
    for arguments in (("scan", "--summary", "reports"), ("scan", "models", "--to", "reports")):
        done = place.run(*arguments)
        assert done.returncode == 2
        assert done.stderr.startswith("Error: reports/scan.db is damaged: ")


def test_internal_errors_have_their_tracebacks_and_advice(place: Place) -> None:
    write_fleet(place.folder / "models", 0, troubles=["raises"])
    model = place.folder / "models" / "raises.onnx"
    (place.folder / "models" / "again.onnx").write_bytes(model.read_bytes())
    advice = "To go on: --exclude leaves files out, and --internal-errors warning keeps internal errors from failing"
    for arguments in (("models", "--to", "reports"), ("--summary", "reports"), ("--summary", "reports", "-q")):
        done = place.run("scan", *arguments)
        assert done.returncode == 3
        said = "Error: internal error: the rule 'trouble' crashed on models/again.onnx: RuntimeError: boom\n  Traceback"
        assert done.stderr.count(said) == done.stderr.count("Traceback (") == 1
        assert f"The same or other internal errors occurred 1 more time.\n{advice}" in done.stderr
    lenient = place.run("scan", "--summary", "reports", "--internal-errors", "warning", "--exit-zero")
    assert lenient.returncode == 0
    assert "Warning: internal error: the rule 'trouble' crashed" in lenient.stderr
    assert advice not in lenient.stderr


CRASH_AT_ERF: Final = """
from onnx_lint.inference.flow.outcome_memo import OutcomeMemo

shapes = OutcomeMemo.shapes

def broken(self, *arguments):
    if self.operator is not None and self.operator.schema.name == "Erf":
        raise RuntimeError("boom")
    return shapes(self, *arguments)

OutcomeMemo.shapes = broken
"""
"""A module that each worker imports when it starts. It breaks the shape rule of one operator."""


def test_a_crash_at_a_node_costs_no_finding_of_a_scan(place: Place) -> None:
    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    models = place.folder / "few"
    models.mkdir()
    for operator in ("Erf", "Tanh"):
        nodes = [helper.make_node(operator, ["x"], ["t"], name="target"), helper.make_node("Relu", ["nothing"], ["y"])]
        model = helper.make_model(helper.make_graph(nodes, "g", [value], []))
        (models / f"{operator}.onnx").write_bytes(model.SerializeToString())
    sound = place.run("scan", "few", "--to", "sound")
    (place.folder / "site" / "sitecustomize.py").write_text(CRASH_AT_ERF)
    broken = place.run("scan", "few", "--to", "broken")
    assert (sound.returncode, broken.returncode) == (1, 3)
    assert broken.stderr.count("Error: internal error:") == broken.stderr.count("Traceback (") == 1
    assert "crashed on few/Erf.onnx at node 'target' (Erf), graph.node[0]: RuntimeError: boom\n" in broken.stderr
    place.run("scan", "--summary", "broken", "--export", "exported")
    findings = (place.folder / "exported" / "findings.jsonl").read_bytes()
    assert findings == place.content("sound")["findings.jsonl"] != b""


def test_totals_never_replace_external_data(place: Place) -> None:
    tensor = TensorProto(name="w", data_type=TensorProto.INT8, dims=[2], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="weights")
    graph = helper.make_graph([], "g", [], [], [tensor])
    (place.folder / "models" / "data.onnx").write_bytes(helper.make_model(graph).SerializeToString())
    (place.folder / "models" / "weights").write_bytes(b"AB")
    said = "Error: models/weights: is external data of models/data.onnx; it was not changed, and scan --summary prints"
    for _ in range(2):  # the second scan lints nothing
        done = place.scan("reports", "-o", "models/weights")
        assert done.returncode == 2
        assert said in done.stderr
    assert (place.folder / "models" / "weights").read_bytes() == b"AB"
    assert place.run("scan", "--summary", "reports").returncode == 1


def test_parts_are_all_models(place: Place) -> None:
    parts = [place.scan(f"part{index}", "--part", f"{index}/3") for index in (1, 2, 3)]
    assert [done.returncode for done in parts] == [1, 1, 1]
    paths = [record["path"] for index in (1, 2, 3) for record in place.records(f"part{index}")]
    assert place.scan("whole").returncode == 1
    assert sorted(paths) == [record["path"] for record in place.records("whole")]
    summaries = [argument for index in (1, 2, 3) for argument in ("--summary", f"part{index}")]
    together = place.run("scan", *summaries, "-f", "json")
    assert json.loads(together.stdout) == place.totals("whole")


def test_what_is_new_decides_against_an_old_scan(place: Place) -> None:
    assert place.scan("old").returncode == 1
    bad = next(record["path"] for record in place.records("old") if record["summary"]["errors"])
    good = next(record["path"] for record in place.records("old") if not record["summary"]["errors"])
    assert place.scan("same", "--against", "old").returncode == 0
    model = (place.folder / bad).read_bytes()
    (place.folder / "models" / "copy.onnx").write_bytes(model)
    (place.folder / good).unlink()
    done = place.scan("new", "--against", "old")
    assert done.returncode == 1
    assert "gone: 0 findings; models: 1 new, 1 removed" in done.stdout
    new = place.totals("new", "--against", "old")["new"]
    assert {finding["path"] for finding in new["findings"]} == {"models/copy.onnx"}


@contextlib.contextmanager
def _cluster(place: Place, workers: int) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A scheduler and workers as processes of their own, as on other machines: started in another folder."""
    elsewhere = place.folder / "elsewhere"
    elsewhere.mkdir()
    script = (
        "import asyncio, sys\n"
        "from distributed import Scheduler\n"
        "async def main():\n"
        "    async with Scheduler(host='127.0.0.1', port=0, dashboard_address=None) as scheduler:\n"
        "        print(scheduler.address, flush=True)\n"
        "        await scheduler.finished()\n"
        "asyncio.run(main())\n"
    )
    with contextlib.ExitStack() as stack:

        def start(*command: str) -> subprocess.Popen[str]:
            process = subprocess.Popen(
                [sys.executable, *command],
                cwd=elsewhere,
                env=place.environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            stack.callback(process.communicate)
            stack.callback(process.kill)
            return process

        scheduler = start("-c", script)
        assert scheduler.stdout is not None
        address = scheduler.stdout.readline().strip()
        for _ in range(workers):
            start("-m", "distributed.cli.dask_worker", address, "--nthreads", "2", "--no-dashboard")
        yield address, scheduler


def test_a_cluster_that_is_there(place: Place) -> None:
    with _cluster(place, 2) as (address, _):
        done = place.run("scan", "models", "--to", "remote", "--scheduler", address)
        assert (done.returncode, done.stderr) == (1, "")
    assert place.scan("local").returncode == 1
    assert place.content("remote") == place.content("local")


def test_a_scheduler_that_goes_or_is_not_there(place: Place) -> None:
    nobody = place.run("scan", "models", "--to", "reports", "--scheduler", "tcp://127.0.0.1:9")
    assert nobody.returncode == 2
    assert nobody.stderr.startswith("Error: no scheduler of Dask answers at tcp://127.0.0.1:9")
    write_fleet(place.folder / "models", MANY, seed=2, troubles=["hangs"])
    with _cluster(place, 1) as (address, scheduler):
        with place.started("--to", "reports", "--scheduler", address) as scan:
            _wait_for(lambda: place.landed("reports") > 0, "models")
            scheduler.kill()
            _, errors = scan.communicate(timeout=600)
        assert scan.returncode == 2
        assert "Error: " in errors
        assert "Traceback" not in errors
    assert 0 < place.landed("reports") <= MANY
    assert place.scan("reports", *IMPATIENT).returncode == 3
    assert len(place.records("reports")) == MANY + 1


HOUSE_RULE: Final = '''
from onnx_lint.rule import Finding, own_clause, rule
from onnx_lint.model import ROOT

LICENCE = own_clause("ACME-1", "A model states its licence.")

@rule(clause=LICENCE, since="1.0")
def missing_licence(model):
    """The model does not state its licence."""
    if not model.proto.metadata_props:
        yield Finding(ROOT, "the metadata has no licence")
'''


def test_a_policy_a_plugin_and_suppressions_are_those_of_check(tmp_path: Path) -> None:
    place = Place(tmp_path)
    for folder in (".git", "models"):  # a plugin runs from the root of a repository alone
        (tmp_path / folder).mkdir()
    for name in "abc":
        (tmp_path / "models" / f"{name}.textproto").write_text(CLEAN)
    allowed = 'metadata_props { key: "onnx-lint.suppress.disallowed-ir-version" value: "ours" }'
    wrong = 'metadata_props { key: "onnx-lint.suppress.cycle" value: "ours" }'
    (tmp_path / "models" / "d.textproto").write_text(CLEAN + allowed + wrong)
    (tmp_path / "house.py").write_text(HOUSE_RULE)
    entry = '[[suppress]]\nrule = "missing-licence"\nreason = "old"\nfile = "{}"\n{}'
    (tmp_path / "onnx-lint.toml").write_text(
        "suppressions-in-models = true\n"
        'plugins = ["house.py"]\n'
        '[policy]\nir-version = "..3"\n'
        + entry.format("a.*", "")
        + entry.format("d.*", "")
        + entry.format("b.*", "until = 2020-01-31\n")
    )
    complaints = {
        "Warning: onnx-lint.toml:9: the suppression of missing-licence matches no finding",
        "Warning: onnx-lint.toml:13: the suppression of missing-licence expired on 2020-01-31",
        "Warning: models/d.textproto: metadata_props[1]: the suppression of cycle matches no finding",
    }
    check = place.run("models", "-f", "jsonl")
    scan = place.scan("reports")
    for done in (check, scan):
        assert done.returncode == 1
        assert {line for line in done.stderr.splitlines() if "the suppression of" in line} == complaints
    expected = [json.loads(line) for line in check.stdout.splitlines()]
    found = [(each["path"], each["rule"]) for each in place.records("reports", "findings")]
    assert sorted(found) == sorted((each["path"], each["rule"]) for each in expected if each["record"] == "finding")
    assert sorted(found) == [
        ("models/a.textproto", "disallowed-ir-version"),
        *(("models/b.textproto", rule) for rule in ("disallowed-ir-version", "missing-licence")),
        *(("models/c.textproto", rule) for rule in ("disallowed-ir-version", "missing-licence")),
    ]
    assert place.totals("reports")["suppressed"] == 2
    assert "; 2 suppressed" in scan.stdout
    again = place.scan("reports")
    assert {line for line in again.stderr.splitlines() if "the suppression of" in line} == complaints
