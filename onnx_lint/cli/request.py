# SPDX-License-Identifier: Apache-2.0
"""The request: everything that the user asks of one run."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from onnx_lint.common.record import EMPTY, Record
from onnx_lint.spec.standard import DEFAULT_STANDARD

if TYPE_CHECKING:
    from onnx_lint.engine.suppressions import Suppression

COMMANDS: Final = frozenset(
    [
        "cache",
        "check",
        "clauses",
        "completions",
        "config",
        "explain",
        "fix",
        "new-rule",
        "rules",
        "shapes",
    ]
)
"""The commands of the program. A path with such a name cannot be the first argument."""

_ENVIRONMENT: Final = ("ONNX_LINT_", "_ONNX_LINT_")
"""The prefixes of environment variables that set options or ask for completions."""

COMMAND_LINE: Final = "command line"
ENVIRONMENT: Final = "environment"
"""The sources of an option."""


class Request(Record):
    """The paths, and every option of `check` and `fix` by the name of its parameter, with its default."""

    paths: tuple[str, ...]
    given: Mapping[str, str] = EMPTY
    """The source of each option that is set: `COMMAND_LINE` or `ENVIRONMENT`."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    per_file_ignores: tuple[str, ...] = ()
    severities: tuple[str, ...] = ()
    pedantic: bool = False
    edition: str = DEFAULT_STANDARD.edition
    variant: str = DEFAULT_STANDARD.variant
    fail_on: str = "error"
    exit_zero: bool = False
    internal_errors: str = "error"
    min_severity: str = "note"

    proto: str | None = None
    opset_imports: tuple[str, ...] = ()
    target_ir: int | None = None
    target_opsets: tuple[str, ...] = ()
    consumers: tuple[str, ...] = ()
    products: tuple[str, ...] = ()
    """The releases that must load the models, such as `onnxruntime=1.17`."""
    opset_schemas: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    external_data: bool = True
    follow_links: bool = False
    external_data_roots: tuple[str, ...] = ()
    verify_checksums: bool = False
    download: bool = False
    limits: tuple[str, ...] = ()
    files_from: str | None = None
    stdin_filename: str | None = None
    exclude: tuple[str, ...] = ()
    allow_no_input: bool = False
    jobs: int = 0
    """The number of processes; 0 for as many as there are processors and enough work for."""
    cache: bool = False
    """Whether to reuse the verdicts on files that have not changed."""
    time_limit: float | None = None
    memory_limit: int | None = None

    format_name: str = "text"
    outputs: tuple[str, ...] = ()
    quiet: bool = False
    verbose: bool = False
    statistics: bool = False
    context: bool = True
    color: str = "auto"
    no_progress: bool = False
    sarif_region: str | None = None
    sarif_root: str | None = None
    documentation_url: str | None = None
    timings: bool = False

    fix: bool = False
    unsafe_fixes: bool = False
    diff: bool = False
    fixed_folder: str | None = None
    """The folder for the mended files; None to replace the files."""

    baseline: str | None = None
    write_baseline: str | None = None
    prune_baseline: bool = False
    show_suppressed: bool = False

    config: tuple[str, ...] = ()
    no_config: bool = False
    show_settings: bool = False

    rule_options: Mapping[str, Mapping[str, Any]] = EMPTY
    """Options by rule. Only a configuration sets them."""
    policy: tuple[str, ...] = ()
    """The rules that the policy of a configuration turns on."""
    policy_lines: Mapping[str, str] = EMPTY
    """The file and line of each entry of the policy."""
    suppressions: tuple[Suppression, ...] = ()
    """The findings that a configuration accepts."""
    set_aside: tuple[str, ...] = ()
    """The selectors that a configuration ignores and the command line may override."""
    file_ignores: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    """Folder, pattern and names of each entry of `per_file_ignores` and the configuration."""


def request_of_paths(arguments: Sequence[str]) -> Request | None:
    """Return the request for arguments that are paths, perhaps with `--jobs N` or `--cache`, without importing click.

    Returns None if there may be another option, a command, a variable or an error.
    """
    if not arguments or arguments[0] in COMMANDS:
        return None
    options, paths = _options_and_paths(arguments)
    if not paths or any(path.startswith("-") and path != "-" for path in paths):
        return None
    variables = {name for name in os.environ if name.startswith(_ENVIRONMENT)}
    if variables:
        from onnx_lint.cache.folder import VARIABLE

        if variables != {VARIABLE}:
            return None
    if "jobs" in options:
        jobs = options["jobs"]
        if not jobs.isdecimal() or len(jobs) > 4:  # a number of five digits or more is left to click
            return None
        options["jobs"] = int(jobs)
    return Request(paths, dict.fromkeys(options, COMMAND_LINE), **options)


def _options_and_paths(arguments: Sequence[str]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the options that stand among the paths, the last of each, and the other arguments.

    The number of jobs is a text.
    """
    options: dict[str, Any] = {}
    others: list[str] = []
    left = iter(arguments)
    for argument in left:
        if argument in ("-j", "--jobs"):
            options["jobs"] = next(left, "")
        elif argument.startswith("--jobs="):
            options["jobs"] = argument.removeprefix("--jobs=")
        elif argument in ("--cache", "--no-cache"):
            options["cache"] = argument == "--cache"
        else:
            others.append(argument)
    return options, tuple(others)
