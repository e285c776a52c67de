# SPDX-License-Identifier: Apache-2.0
"""The options about targets, baselines and configuration files, and where the options of a run come from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import click
from click.core import ParameterSource

from onnx_lint.cli.completion import complete_files
from onnx_lint.cli.request import COMMAND_LINE, ENVIRONMENT
from onnx_lint.cli.sections import section
from onnx_lint.cli.shared_options import config_option, no_config_option, opset_schema_option
from onnx_lint.spec.clauses import CONSUMERS

_SOURCES: Final = {
    ParameterSource.COMMANDLINE: COMMAND_LINE,
    ParameterSource.PROMPT: COMMAND_LINE,
    ParameterSource.ENVIRONMENT: ENVIRONMENT,
}


def given_of(ctx: click.Context, names: Iterable[str]) -> dict[str, str]:
    """Where each of the options comes from that are given: `COMMAND_LINE` or `ENVIRONMENT`."""
    sources = {name: ctx.get_parameter_source(name) for name in names}
    return {name: _SOURCES[source] for name, source in sources.items() if source in _SOURCES}


target_options = section(
    "Targets and operators",
    click.option(
        "--target-ir",
        type=int,
        metavar="N",
        help="What does a consumer of IR version N not know?",
    ),
    click.option(
        "--target-opset",
        "target_opsets",
        multiple=True,
        metavar="[DOMAIN=]N",
        help="What does one of this operator set not know?",
    ),
    click.option(
        "--consumer",
        "consumers",
        multiple=True,
        type=click.Choice(CONSUMERS),
        metavar="NAME",
        help="What onnx.checker or the loader of onnxruntime refuses is an error.",
    ),
    opset_schema_option,
)

baseline_options = section(
    "Baseline",
    click.option(
        "--baseline",
        metavar="FILE",
        shell_complete=complete_files,
        help="Do not report what this file lists.",
    ),
    click.option(
        "--write-baseline",
        metavar="FILE",
        shell_complete=complete_files,
        help="List all findings there instead of failing.",
    ),
    click.option("--prune-baseline", is_flag=True, help="Take what is no longer found out of it."),
    click.option("--show-suppressed", is_flag=True, help="Report what it lists as well, marked."),
)

configuration_options = section(
    "Configuration",
    config_option,
    no_config_option,
    click.option("--show-settings", is_flag=True, help="Show the settings and where each comes from."),
)
