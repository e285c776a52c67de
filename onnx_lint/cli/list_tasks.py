# SPDX-License-Identifier: Apache-2.0
"""Lists the tasks of a run: its files, each with its settings. Also chooses what the reports show."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from onnx_lint.cli.paths import Exclusion, find_inputs, paths_of
from onnx_lint.configuration.errors import RequestError
from onnx_lint.engine.settings import PARTS
from onnx_lint.input.limits import DEFAULT_LIMITS
from onnx_lint.input.locations import is_remote, shown_location
from onnx_lint.report import Context
from onnx_lint.reporters import Options, shown_context, shown_parts
from onnx_lint.reporters.escape import shown_path, visible
from onnx_lint.tasks.lint_one import Task

if TYPE_CHECKING:
    from onnx_lint.cli.outputs import Output
    from onnx_lint.cli.paths import Input
    from onnx_lint.cli.plan import Plan
    from onnx_lint.configuration.settings import Request
    from onnx_lint.fixing.files import FixOptions


def tasks_of(plan: Plan, outputs: Sequence[Output] = ()) -> list[Task]:
    """Return the files to lint, each with its settings and what the reports show of it.

    All configurations are read, so that a fault in one is reported before the first model. Raises RunError and
    RequestError for a run that cannot be carried out.
    """
    own = plan.run_request()
    inputs = inputs_of(plan)
    forms = [output.format_name for output in outputs]
    context = shown_context(forms) if own.context else Context.NONE
    # A verdict in the cache serves every form.
    parts = PARTS if own.cache else shown_parts(forms, quiet=own.quiet, statistics=own.statistics)
    cache = _cache_folder(own, inputs) if own.cache else None
    fix_options = _fix_options(own, inputs) if own.fix or own.diff else [None] * len(inputs)
    tasks = []
    for item, options in zip(inputs, fix_options, strict=True):
        name = own.stdin_filename if item.path == "-" else item.name
        settings = plan.settings_for(name or item.path, parts)
        tasks.append(Task(item.path, settings, item.problem, name, context, item.listed, cache, options))
    paths_of_reports = [output.path for output in outputs]
    if set(paths_of_reports) - {None}:
        from onnx_lint.cli.protected_files import check_reports

        check_reports(paths_of_reports, [*(item.path for item in inputs), *plan.files_in_use()])
    if "sarif" in forms:
        _warn_about_outside([task.name or task.path for task in tasks], own.sarif_root)
    return tasks


def _warn_about_outside(paths: Iterable[str], root: str | None) -> None:
    """Print which files code scanning cannot show, as they are outside of the folder that it knows."""
    from onnx_lint.reporters.uri import default_root, is_outside

    known = root or default_root()
    outside = [path for path in paths if is_outside(path, known)]
    if outside:
        more = f" and {len(outside) - 1:,} more are" if len(outside) > 1 else " is"
        sys.stderr.write(
            f"Warning: {shown_path(outside[0])}{more} outside {visible(known)}: code scanning cannot show results"
            " with absolute URIs (--sarif-root sets the directory)\n"
        )


def inputs_of(plan: Plan) -> list[Input]:
    """Return the inputs of a run. Raises RunError and RequestError as `paths_of` does."""
    own = plan.run_request()
    paths = tuple(paths_of(own))
    limits = plan.settings_for("-").limits if any(map(is_remote, paths)) else DEFAULT_LIMITS
    found = find_inputs(paths, Exclusion(own.exclude), may_be_none=own.allow_no_input, limits=limits)
    if not found:
        sys.stderr.write(f"Nothing to lint: {'every file is excluded' if paths else 'no file is listed'}.\n")
    return found


def _fix_options(own: Request, inputs: Sequence[Input]) -> list[FixOptions]:
    """Return how to fix each of the files. Raises RequestError if one cannot be fixed in this way."""
    from onnx_lint.fixing.files import FixOptions

    if own.fixed_folder is not None and any(item.path == "-" for item in inputs):
        raise RequestError("standard input goes to standard output; --output is for files")
    remote = [item.path for item in inputs if is_remote(item.path)]
    if remote and not own.diff:
        raise RequestError(f"{remote[0]!r} is in a store, and only local files are fixed")
    if own.fixed_folder is None:
        return [FixOptions(own.unsafe_fixes, own.diff)] * len(inputs)
    targets = _targets(own.fixed_folder, own.paths, inputs)
    return [FixOptions(own.unsafe_fixes, own.diff, target) for target in targets]


def _targets(fixed_folder: str, paths: Iterable[str], inputs: Sequence[Input]) -> list[str]:
    """Return the paths of the fixed files. Raises RequestError for two of one path, and for one outside of the folder.

    `paths`: those that the user named.
    """
    from onnx_lint.ir.tensors.data_folder import is_below

    folders = [path for path in paths if os.path.isdir(path)]
    targets = [os.path.join(fixed_folder, _below(item.path, folders)) for item in inputs]
    for target, count in Counter(targets).items():
        if count > 1:
            raise RequestError(f"two files would be written to {target!r}")
    for target in targets:
        if not is_below(os.path.realpath(target), os.path.realpath(fixed_folder)):
            raise RequestError(f"{target!r} is outside of {fixed_folder!r}, because of a link")
    return targets


def _below(path: str, folders: Iterable[str]) -> str:
    """Return the path below the folder in which it was found; the name of a file that was named itself."""
    for folder in folders:
        below = os.path.relpath(path, folder) if path.startswith(os.path.join(folder, "")) else os.pardir
        if not below.startswith(os.pardir):  # FOLDER/../other.onnx is a file that was named itself
            return below
    return os.path.basename(path)


def _cache_folder(own: Request, inputs: Iterable[Input]) -> str | None:
    """Return the folder of the cache; None, with a line on standard error, if it must not or cannot be used."""
    from onnx_lint.cache.folder import CacheFolderError, cache_folder, prepare, refuse_beside_models

    try:
        import onnx_lint.cache.checks  # noqa: F401  # Python can be built without SQLite

        folder, is_chosen = cache_folder(os.environ)
        if is_chosen:
            folders = {os.path.dirname(item.path) for item in inputs if item.path != "-" and not is_remote(item.path)}
            refuse_beside_models(folder, folders | {path for path in own.paths if os.path.isdir(path)})
        prepare(folder)
    except (ImportError, CacheFolderError) as error:
        sys.stderr.write(f"The cache is not used: {error}\n")
        return None
    return folder


def report_options(request: Request, forms: Container[str]) -> Options:
    """Return the options of the request for the reporters of these forms."""
    own: dict[str, Any] = {
        "color": False,  # standard output has it by what it is, see `for_standard_output`
        "root": request.sarif_root,
        # With --fail-on never, JUnit still shows as failed tests the findings that would fail the run.
        "failing": "error" if request.fail_on == "never" else request.fail_on,
        "has_command": "PRE_COMMIT" not in os.environ,
        "origin": _origin() if "html" in forms else "",
    }
    return Options(**request.carried(Options) | own)


def _origin() -> str:
    """Return the time and the command of the run, and the commit if a CI service states it."""
    import shlex
    import time

    from onnx_lint.common.distribution import NAME

    seconds = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = time.gmtime(int(seconds[:10]) if seconds.isdecimal() else time.time())
    command = shlex.join([NAME, *map(shown_location, sys.argv[1:])])
    commit = next((f"; commit {os.environ[name]}" for name in _COMMITS if os.environ.get(name)), "")
    return f"{time.strftime('%Y-%m-%d %H:%M UTC', now)}: {command}{commit}"


_COMMITS: Final = ("GITHUB_SHA", "CI_COMMIT_SHA", "BUILD_SOURCEVERSION")
"""The variables in which GitHub, GitLab and Azure state the commit."""
