# SPDX-License-Identifier: Apache-2.0
"""What one run is asked to do."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

from onnx_lint.common.record import EMPTY, Record
from onnx_lint.spec.standard import DEFAULT_STANDARD

COMMANDS: Final = frozenset({"check", "clauses", "completions", "config", "explain", "rules", "scan", "shapes"})
"""The commands of the program. A path of such a name cannot come first."""

_ENVIRONMENT: Final = ("ONNX_LINT_", "_ONNX_LINT_")
"""What the names of environment variables begin with that set options, or ask for completions."""

COMMAND_LINE: Final = "command line"
ENVIRONMENT: Final = "environment"
"""Where an option can come from."""


class Request(Record):
    """The paths, and every option of the command `check`, by the name of its parameter and with its default."""

    paths: tuple[str, ...]
    given: Mapping[str, str] = EMPTY
    """Where each option comes from that is given: `COMMAND_LINE` or `ENVIRONMENT`."""

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
    opset_schemas: tuple[str, ...] = ()
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
    """How many processes lint; 0 for as many as there are processors and enough to do for."""
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

    baseline: str | None = None
    write_baseline: str | None = None
    prune_baseline: bool = False
    show_suppressed: bool = False

    config: tuple[str, ...] = ()
    no_config: bool = False
    show_settings: bool = False

    rule_options: Mapping[str, Mapping[str, Any]] = EMPTY
    """Options by rule, which only a configuration gives."""
    set_aside: tuple[str, ...] = ()
    """What a configuration ignores and the command line may undo."""
    file_ignores: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    """Folder, pattern and names of what `per_file_ignores` and a configuration ignore in some files."""


def request_of_paths(arguments: Sequence[str]) -> Request | None:
    """The request that arguments are which are paths alone, or paths and `--jobs N`.

    None where another option, a command or a variable may be, or a fault.
    """
    if not arguments or arguments[0] in COMMANDS:
        return None
    jobs, paths = _jobs_and_paths(arguments)
    if not paths or any(path.startswith("-") and path != "-" for path in paths):
        return None
    if any(name.startswith(_ENVIRONMENT) for name in os.environ):
        return None
    if jobs is None:
        return Request(paths)
    # More digits are a fault, or no matter for speed.
    return Request(paths, {"jobs": COMMAND_LINE}, jobs=int(jobs)) if jobs.isdecimal() and len(jobs) < 5 else None


def _jobs_and_paths(arguments: Sequence[str]) -> tuple[str | None, tuple[str, ...]]:
    """The value of the last option `--jobs` as it is written, None where there is none; and what else is there."""
    jobs: str | None = None
    others: list[str] = []
    left = iter(arguments)
    for argument in left:
        if argument in ("-j", "--jobs"):
            jobs = next(left, "")
        elif argument.startswith("--jobs="):
            jobs = argument.removeprefix("--jobs=")
        else:
            others.append(argument)
    return jobs, tuple(others)
