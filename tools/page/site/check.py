# SPDX-License-Identifier: Apache-2.0
"""Runs onnx-lint on the files that the page has mounted. `worker.mjs` imports it in Pyodide."""

from __future__ import annotations

import contextlib
import filecmp
import io
import json
import os
import posixpath
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

MODELS: Final = "/models"
"""The mounted files. They are read only."""
REPORTS: Final = Path("/reports")
FIXED: Final = Path("/fixed")

FORMATS: Final = ("html", "json", "sarif", "markdown")
"""The reports that a check writes."""


def prepare() -> None:
    """Import what each check needs, so that the first one does not wait for it."""
    os.environ["PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION"] = "python"
    import onnx_lint.cli.application
    import onnx_lint.cli.run
    import onnx_lint.reporters.html
    import onnx_lint.reporters.json
    import onnx_lint.reporters.sarif  # noqa: F401 - as above
    from onnx_lint.engine.lint import import_usual_rules
    from onnx_lint.engine.settings import Settings

    import_usual_rules(Settings())


def check(request: str, on_progress: Callable[[int], object]) -> str:
    """Check the files, and return what the page shows. `on_progress` is called with the number of files so far."""
    asked = json.loads(request)
    reports = _emptied(REPORTS)
    outputs = [part for name in FORMATS for part in ("-o", f"{name}={reports / name}")]
    options = [*_options(asked["settings"]), *outputs, "-f", "jsonl", "--jobs", "1"]
    inputs = inputs_among(asked["paths"])
    done = _run([*options, "--", *map(_argument, inputs)], on_progress)
    written = [{"name": path.name, "at": str(path)} for path in sorted(reports.iterdir())]
    answer = {"code": done.code, "said": _without_usage(done.errors), "files": written, **_summary(reports / "json")}
    answer["left_out"] = left_out(asked["paths"], inputs, reports / "json")
    return json.dumps(answer)


def fix(request: str, on_progress: Callable[[int], object]) -> str:
    """Fix copies of the files, and return what changes and where the copies are."""
    asked = json.loads(request)
    settings, inputs = asked["settings"], inputs_among(asked["paths"])
    unsafe = ["--unsafe-fixes"] if settings["unsafe"] else []
    options = [*_options(settings), *unsafe, "--jobs", "1"]
    shown = _run(["fix", *options, "--diff", "--", *map(_argument, inputs)], on_progress)
    folder = _emptied(FIXED)
    made = []
    for target, paths in _targets(folder, inputs):
        target.mkdir(exist_ok=True)
        written = ["--output", str(target), "-f", "concise"]
        made.append(_run(["fix", *options, *written, "--", *map(_argument, paths)], on_progress))
    copies = [
        {"name": path.relative_to(folder).as_posix(), "at": str(path)}
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not _is_unchanged(path, folder)
    ]
    said = "\n".join(filter(None, (_without_usage(done.errors) for done in made)))
    return json.dumps(
        {"code": max(done.code for done in made), "said": said, "difference": shown.output, "files": copies}
    )


def _targets(folder: Path, inputs: Sequence[str]) -> list[tuple[Path, list[str]]]:
    """Return where the copies of which inputs go: the command leaves out the name of a folder, so each has its own."""
    folders = [path for path in inputs if Path(MODELS, path).is_dir()]
    files = [path for path in inputs if path not in folders]
    return [*([(folder, files)] if files else []), *((folder / path, [path]) for path in folders)]


def _is_unchanged(copy: Path, folder: Path) -> bool:
    """Return whether a copy has the bytes of the file that was chosen, as data files often do."""
    original = Path(MODELS, copy.relative_to(folder))
    return original.is_file() and filecmp.cmp(copy, original, shallow=False)


def inputs_among(paths: Sequence[str]) -> list[str]:
    """Return what to check: each folder, which onnx-lint searches itself, and the files with the suffix of a model.

    If there is neither, each file is checked. Otherwise, a file without such a suffix may be the data of a model.
    """
    from onnx_lint.input.locations import MODEL_SUFFIXES, SHARED_SUFFIXES

    folders = {path.partition("/")[0] for path in paths if "/" in path}
    files = [path for path in paths if "/" not in path]
    models = {path for path in files if path.lower().endswith((*MODEL_SUFFIXES, *SHARED_SUFFIXES))}
    return sorted(folders | models or files)


def left_out(paths: Sequence[str], inputs: Sequence[str], report: Path) -> list[str]:
    """Return the files that were chosen one by one, but neither checked nor named by a model as its data."""
    if not report.exists():
        return []
    models = json.loads(report.read_text(encoding="utf-8"))["files"]
    data = {
        posixpath.normpath(posixpath.join(posixpath.dirname(model["path"]), name))
        for model in models
        for name in model.get("data_files", ())
    }
    return [path for path in paths if "/" not in path and path not in inputs and path not in data]


def _argument(path: str) -> str:
    return "./-" if path == "-" else path  # otherwise it would mean standard input


def _options(settings: dict[str, Any]) -> list[str]:
    options = ["--no-config", "--edition", settings["edition"]]
    for name in ("target", "select"):
        options += [part for value in settings[name].split() for part in (f"--{name}", value.strip(","))]
    return [*options, "--pedantic"] if settings["pedantic"] else options


def _summary(path: Path) -> dict[str, Any]:
    """Return what the page shows around the report; nothing if no report was written."""
    if not path.exists():
        return {}
    report = json.loads(path.read_text(encoding="utf-8"))
    found = [item for file in report["files"] for item in file["diagnostics"]]
    fixes = [item["fix"]["safe"] for item in found if item.get("fix")]
    return {
        "summary": {**report["summary"], "verdict": _without_options(report["summary"]["verdict"])},
        "safe_fixes": fixes.count(True),
        "unsafe_fixes": fixes.count(False),
        "lacks_data": any(item["rule"] == "missing-external-file" for item in found),
    }


def _without_options(verdict: str) -> str:
    """Return the verdict in words for a page, which has a button for what the command has options for."""
    return verdict.replace(" with --fix --unsafe-fixes", " if its meaning may change").replace(" with --fix", "")


def _without_usage(errors: str) -> str:
    """Return what a run said on standard error, without the lines on how to type the command."""
    return errors[max(errors.find("Error: "), 0) :].strip() if errors.startswith("Usage: ") else errors.strip()


def _emptied(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


# --- a run of the command


class _Output(io.StringIO):
    """Standard output of a run. It counts the files in a report of JSON Lines, and keeps anything else."""

    def __init__(self, on_progress: Callable[[int], object]) -> None:
        super().__init__()
        self._on_progress = on_progress
        self._count = 0

    def write(self, text: str, /) -> int:
        if not text.startswith('{"record":'):
            return super().write(text)
        if text.startswith('{"record":"file"'):
            self._count += 1
            self._on_progress(self._count)
        return len(text)


class _Done:
    def __init__(self, code: int, output: str, errors: str) -> None:
        self.code = code
        self.output = output
        self.errors = errors


def _run(arguments: Sequence[str], on_progress: Callable[[int], object]) -> _Done:
    """Run the command line in the folder of the models."""
    from onnx_lint.cli.application import run

    os.chdir(MODELS)
    output, errors = _Output(on_progress), io.StringIO()
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            code = run(arguments)
    finally:
        os.chdir("/")  # so that the folder can be unmounted
    return _Done(code, output.getvalue(), errors.getvalue())
