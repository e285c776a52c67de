# SPDX-License-Identifier: Apache-2.0
"""The options about targets, baselines and configuration files, and the source of each option."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import click
from click.core import ParameterSource

from onnx_lint.cli.request import COMMAND_LINE, ENVIRONMENT
from onnx_lint.cli.sections import section
from onnx_lint.cli.shared_options import config_option, no_config_option, opset_schema_option, plugin_option
from onnx_lint.spec.clauses import CONSUMERS

_SOURCES: Final = {
    ParameterSource.COMMANDLINE: COMMAND_LINE,
    ParameterSource.PROMPT: COMMAND_LINE,
    ParameterSource.ENVIRONMENT: ENVIRONMENT,
}


def given_of(ctx: click.Context, names: Iterable[str]) -> dict[str, str]:
    """Return the source of each option that is set: `COMMAND_LINE` or `ENVIRONMENT`."""
    sources = {name: ctx.get_parameter_source(name) for name in names}
    return {name: _SOURCES[source] for name, source in sources.items() if source in _SOURCES}


target_options = section(
    "Targets and operators",
    click.option(
        "--target-ir",
        type=int,
        metavar="N",
        help="Report what a consumer of IR version N does not support.",
    ),
    click.option(
        "--target-opset",
        "target_opsets",
        multiple=True,
        metavar="[DOMAIN=]N",
        help="Report what a consumer of this operator set does not support.",
    ),
    click.option(
        "--consumer",
        "consumers",
        multiple=True,
        type=click.Choice(CONSUMERS),
        metavar="NAME",
        help="Report as errors what onnx.checker, or the model loader of onnxruntime, rejects.",
    ),
    click.option(
        "--target",
        "products",
        multiple=True,
        metavar="NAME=VERSION",
        help="Report what this release cannot load, such as onnxruntime=1.17.",
    ),
    opset_schema_option,
    plugin_option,
)

baseline_options = section(
    "Baseline",
    click.option(
        "--baseline",
        metavar="FILE",
        type=click.Path(),
        help="Do not report findings that this file lists.",
    ),
    click.option(
        "--write-baseline",
        metavar="FILE",
        type=click.Path(),
        help="Write all findings to this file and exit with 0.",
    ),
    click.option("--prune-baseline", is_flag=True, help="Remove findings that no longer occur from the baseline."),
    click.option("--show-suppressed", is_flag=True, help="Also report suppressed findings, marked as such."),
)

configuration_options = section(
    "Configuration",
    config_option,
    no_config_option,
    click.option("--show-settings", is_flag=True, help="Print the settings and where each one comes from."),
)
