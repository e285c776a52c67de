# SPDX-License-Identifier: Apache-2.0
"""Applies the settings and the baselines of a run to the reports of its files, and notes which had an effect."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from onnx_lint.cli.plan import ConfigurationsOfRun, Plan
from onnx_lint.common.record import Record, replace
from onnx_lint.configuration.errors import RunError
from onnx_lint.engine.selection import with_own_settings
from onnx_lint.reporters.escape import visible
from onnx_lint.spec.releases import DOMAIN_ALIAS, normalized_domain
from onnx_lint.tasks.lint_one import Task
from onnx_lint.wording import quote

if TYPE_CHECKING:
    from onnx_lint.cli.results import Results
    from onnx_lint.engine.settings import Settings
    from onnx_lint.report.file_report import FileReport


class FilesOfRun(Record):
    """The files of a run, and its settings."""

    plan: Plan
    tasks: Sequence[Task]
    paths: Sequence[str]
    """The paths of the tasks in the report."""
    configurations: ConfigurationsOfRun


def files_of_run(tasks: Sequence[Task], plan: Plan) -> FilesOfRun:
    """Return the run over these tasks."""
    paths = [task.reported_path for task in tasks]
    return FilesOfRun(plan, tasks, paths, plan.configurations_of(paths))


class Judgement:
    """Applies the settings and the baselines of a run to the reports of its files."""

    def __init__(self, run: FilesOfRun, rules: Sequence[str]) -> None:
        """`rules`: those that run."""
        self._run = run
        self._rules = rules
        self.used: set[str] = set()
        """The descriptions of the suppressions that suppressed something."""
        self.lowered: set[str] = set()
        """The rules with a finding whose severity the settings lowered."""
        self._hints: dict[str, str] = {}
        """What the suppressions may mean that match nothing in a file, by their descriptions."""
        self._of_targets: set[str] = set()
        """The domains whose versions the targets name, those of any model of the run."""
        self._imported: set[str] = set()
        """Those of them that a model imports."""
        self._baselines = None
        if run.configurations.have_baseline:
            from onnx_lint.cli.baselines import Baselines

            self._baselines = Baselines(run.plan, run.paths, rules)

    def apply(self, index: int, file: FileReport) -> FileReport:
        """Return the report on the file of a task as it is shown."""
        try:
            settings = self._run.tasks[index].settings
            file = with_own_settings(file, settings, self._run.tasks[0].settings)
            if file.unreadable is not None:
                from onnx_lint.cli.failures import with_suggestion

                file = replace(file, unreadable=with_suggestion(file.path, file.unreadable))
            self._note_effects(file, settings)
            return file if self._baselines is None else self._baselines.apply(file)
        except RunError:
            raise
        except Exception as error:
            return file.with_crash(error, "comparing the findings with the settings and the baseline")

    def _note_effects(self, file: FileReport, settings: Settings) -> None:
        """Note which settings had an effect on the report of a file."""
        if file.suppressed:
            from onnx_lint.engine.suppressions import used_in

            self.used.update(used_in(file))
        if settings.severities:
            from onnx_lint.cli.weakened import lowered_in

            self.lowered.update(lowered_in(file, settings))
        for description, hint in file.unmatched:
            if not self._hints.get(description):
                self._hints[description] = hint
        versions = settings.target.opset_versions
        if versions and file.facts is not None:
            self._of_targets.update(versions)
            self._imported.update(normalized_domain(domain) for domain, _ in file.facts.opset_imports)

    def finish(self, results: Results) -> int:
        """Print what had no effect, write the baselines, and return the number of stale baseline entries.

        Without effect are suppressions that suppressed nothing, and targets for a domain that no model imports.
        """
        for domain in sorted(self._of_targets - self._imported):
            name = visible(domain) or DOMAIN_ALIAS
            sys.stderr.write(f"Warning: target {quote(name)}: no model of this run imports the domain\n")
        if self._run.configurations.have_suppressions:
            with results.last_step("reporting unused suppressions"):
                from onnx_lint.engine.suppressions import complaints

                requests = {id(request): request for request in map(self._run.plan.request_for, self._run.paths)}
                entries = {entry: None for request in requests.values() for entry in request.suppressions}
                for sentence in complaints(entries, self._run.paths, self.used, self._rules, self._hints):
                    sys.stderr.write(f"Warning: {visible(sentence)}\n")
        if self._baselines is not None:
            with results.last_step("finishing the baseline"):
                sys.stderr.writelines(f"Note: {note}\n" for note in self._baselines.notes())
                return self._baselines.finish()
        return 0
