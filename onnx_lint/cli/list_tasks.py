# SPDX-License-Identifier: Apache-2.0
"""Lists the tasks of a run: its files, each with its settings."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from onnx_lint.cli.outputs import warn_about_outside
from onnx_lint.cli.paths import Exclusion, find_inputs, paths_of
from onnx_lint.cli.request import STANDARD_INPUT
from onnx_lint.configuration.errors import RequestError
from onnx_lint.engine.settings import PARTS
from onnx_lint.input.limits import DEFAULT_LIMITS
from onnx_lint.input.locations import file_name_of, is_local, is_remote
from onnx_lint.report import Context
from onnx_lint.reporters import shown_context, shown_parts
from onnx_lint.tasks.lint_one import Task

if TYPE_CHECKING:
    from onnx_lint.cli.outputs import Output
    from onnx_lint.cli.paths import Input
    from onnx_lint.cli.plan import Plan
    from onnx_lint.configuration.settings import Request
    from onnx_lint.fixing.files import FixOptions


def tasks_of(plan: Plan, outputs: Sequence[Output] = ()) -> list[Task]:
    """Return the files to lint, each with its settings and what the reports show of it.

    Prepares the folder of the cache. Prints a line on standard error if there is nothing to lint, if the cache is not
    used, and for files that a SARIF report cannot locate.

    All configurations are read, so that a fault in one is reported before the first model. Raises RunError and
    RequestError for a run that cannot be carried out.
    """
    request = plan.request_of_run()
    inputs = inputs_of(plan)
    forms = [output.format_name for output in outputs]
    # A verdict in the cache serves every form.
    parts = PARTS if request.cache else shown_parts(forms, quiet=request.quiet, statistics=request.statistics)
    context = shown_context(forms) if request.context else Context.NONE
    cache = _cache_folder(request, inputs) if request.cache else None
    tasks = [
        Task(
            path=item.path,
            settings=plan.settings_for(item.reported_path, parts),
            problem=item.problem,
            name=item.name,
            context=context,
            listed=item.listed,
            cache=cache,
            fix_options=fix_options,
        )
        for item, fix_options in zip(inputs, _fix_options(request, inputs), strict=True)
    ]
    paths = [task.reported_path for task in tasks]
    if any(output.path is not None for output in outputs):
        from onnx_lint.cli.protected_files import check_reports

        used = (*(item.path for item in inputs), *plan.configurations_of(paths).files())
        check_reports([output.path for output in outputs], used)
    if "sarif" in forms:
        warn_about_outside(paths, request.sarif_root)
    return tasks


def inputs_of(plan: Plan) -> list[Input]:
    """Return the inputs of a run. If there are none, print why on standard error.

    Raises RunError and RequestError as `paths_of` does.
    """
    request = plan.request_of_run()
    paths = tuple(paths_of(request))
    limits = plan.settings_of_run().limits if any(map(is_remote, paths)) else DEFAULT_LIMITS
    found = find_inputs(paths, Exclusion(request.exclude), may_be_none=request.allow_no_input, limits=limits)
    if not found:
        sys.stderr.write(f"Nothing to lint: {'every file is excluded' if paths else 'no file is listed'}.\n")
    return [item.named(request) for item in found]


def _fix_options(request: Request, inputs: Sequence[Input]) -> Sequence[FixOptions | None]:
    """Return how to fix each of the files, in their order; None for files that are only checked.

    Raises RequestError if one cannot be fixed in this way.
    """
    if not request.fix and not request.diff:
        return [None] * len(inputs)
    from onnx_lint.fixing.files import FixOptions

    if request.fixed_folder is not None and any(item.path == STANDARD_INPUT for item in inputs):
        raise RequestError("standard input goes to standard output; --output is for files")
    remote = [item.path for item in inputs if is_remote(item.path)]
    if remote and not request.diff:
        raise RequestError(f"{remote[0]!r} is in a store, and only local files are fixed")
    if request.fixed_folder is None:
        return [FixOptions(request.unsafe_fixes, request.diff)] * len(inputs)
    targets = _targets(request.fixed_folder, request.paths, inputs)
    return [FixOptions(request.unsafe_fixes, request.diff, target) for target in targets]


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
        if path.startswith(os.path.join(folder, "")):
            below = os.path.relpath(path, folder)
            if not below.startswith(os.pardir):  # FOLDER/../other.onnx is a file that was named itself
                return below
    return file_name_of(path)


def _cache_folder(request: Request, inputs: Iterable[Input]) -> str | None:
    """Return the folder of the cache; None, with a line on standard error, if it must not or cannot be used."""
    from onnx_lint.cache.folder import CacheFolderError, cache_folder, prepare, refuse_beside_models

    try:
        import onnx_lint.cache.checks  # noqa: F401  # Python can be built without SQLite

        folder = cache_folder(os.environ)
        if folder.is_chosen:
            local = filter(is_local, (item.path for item in inputs))
            named_folders = filter(os.path.isdir, request.paths)
            refuse_beside_models(folder.path, {*map(os.path.dirname, local), *named_folders})
        prepare(folder.path)
    except (ImportError, CacheFolderError) as error:
        sys.stderr.write(f"The cache is not used: {error}\n")
        return None
    return folder.path
