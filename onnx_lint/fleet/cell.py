# SPDX-License-Identifier: Apache-2.0
"""The process beside a worker, which lints the models of jobs."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from onnx_lint.common.cached import Memory
from onnx_lint.common.memory import release_memory
from onnx_lint.engine.lint import import_usual_rules, lint_file
from onnx_lint.engine.reports import with_own_settings
from onnx_lint.engine.settings import Settings
from onnx_lint.fleet.jobs import Job, Outcome
from onnx_lint.fleet.records import outcome_of
from onnx_lint.input.locations import is_remote
from onnx_lint.report import FileReport, InternalError
from onnx_lint.spec.clauses import Severity

if TYPE_CHECKING:
    from onnx_lint.input.source import Source
    from onnx_lint.remote.ahead import Ahead

_settings: Final[Memory[bytes, Settings]] = Memory(1_000)


def prepared() -> Callable[[Job], Outcome | Exception]:
    """Prepare this process; return the function that lints the model of a job."""
    import_usual_rules(Settings())
    return _JobLinter()


class _JobLinter:
    """Lints the models of jobs. Models in stores are opened before their turn."""

    def __init__(self) -> None:
        self._ahead: Ahead | None = None

    def expect(self, job: Job) -> None:
        """Begin to open the model of a job if it is in a store."""
        if not is_remote(job.path):
            return
        _enter(job.folder)
        try:
            settings = _settings_of(job.settings)
        except Exception:
            return  # `lint` reports it
        if self._ahead is None:
            from onnx_lint.remote.ahead import Ahead  # late, as few models are in stores

            self._ahead = Ahead()
        self._ahead.begin(id(job), job.path, settings)

    def __call__(self, job: Job) -> Outcome | Exception:
        return lint(job, self._ahead.take(id(job)) if self._ahead is not None else None)


def lint(job: Job, opening: Callable[[], Source] | None = None) -> Outcome | Exception:
    """The outcome of a job; settings that cannot be used here give the exception that says why.

    `opening`: returns the source if another thread has opened it already.
    """
    release_memory()
    _enter(job.folder)
    try:
        usual = _settings_of(job.usual)
        own = usual if job.settings == job.usual else _settings_of(job.settings)
    except Exception as error:
        return error
    try:
        file = _report_of(job, own, opening)
    except Exception as error:
        file = FileReport(job.name, 0, internal_errors=(InternalError.of(error),))
    used = _used_in(file)
    file = with_own_settings(file, own, usual).at_least(Severity(job.level))
    return outcome_of(job.path, file, job.identity, used)


def _used_in(file: FileReport) -> list[str]:
    """Return the descriptions of the suppressions in the configuration that suppress a finding of the file."""
    if not file.suppressed:
        return []
    from onnx_lint.engine.suppressions import used_in  # late, as few scans have suppressions

    return sorted(used_in(file))


def _report_of(job: Job, settings: Settings, opening: Callable[[], Source] | None) -> FileReport:
    """The report on the model of a job, from the cache if it is used and the model has not changed."""
    if job.cache:
        from onnx_lint.cache.checks import cached_or_linted  # late, as Python can be built without SQLite
        from onnx_lint.cache.verdicts import FileCheck

        check = FileCheck(job.path, settings, job.name, (), False)
        if check.may_be_kept:
            return cached_or_linted(check, job.cache)
    return lint_file(job.path, settings, job.name, opening=opening)


def _enter(folder: str) -> None:
    """Make this the working directory. Without such a folder, relative paths cannot be resolved."""
    if folder:
        try:
            os.chdir(folder)
        except OSError:
            os.chdir(os.sep)


def _settings_of(pickled: bytes) -> Settings:
    """The settings; of models that have the same ones they are one object, so that rules are selected once."""
    known = _settings.get(pickled)
    return known if known is not None else _settings.keep(pickled, pickle.loads(pickled))
