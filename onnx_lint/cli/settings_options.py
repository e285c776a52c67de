# SPDX-License-Identifier: Apache-2.0
"""The options of `check` about targets, baselines and configuration files."""

from __future__ import annotations

import click

from onnx_lint.cli.completion import complete_configurations, complete_files
from onnx_lint.cli.sections import section

target_options = section(
    "Targets and operators",
    click.option(
        "--target-ir",
        type=int,
        metavar="N",
        help="Also what a consumer that knows IR version N and earlier would not understand.",
    ),
    click.option(
        "--target-opset",
        "target_opsets",
        multiple=True,
        metavar="[DOMAIN=]N",
        help="Also what a consumer that knows operator set N of the domain (ai.onnx) would not understand. Repeatable.",
    ),
    click.option(
        "--opset-schema",
        "opset_schemas",
        multiple=True,
        metavar="FILE",
        shell_complete=complete_files,
        help="A schema file, which describes the operators of a domain. Repeatable.",
    ),
)

baseline_options = section(
    "Baseline",
    click.option(
        "--baseline",
        metavar="FILE",
        shell_complete=complete_files,
        help="Do not report the findings that this file lists.",
    ),
    click.option(
        "--write-baseline",
        metavar="FILE",
        shell_complete=complete_files,
        help="List all findings in this file instead of failing.",
    ),
    click.option("--prune-baseline", is_flag=True, help="Take what is no longer found out of the file of --baseline."),
    click.option("--show-suppressed", is_flag=True, help="Report what the baseline lists as well, marked."),
)

configuration_options = section(
    "Configuration",
    click.option(
        "--config",
        multiple=True,
        metavar="FILE|KEY=VALUE",
        shell_complete=complete_configurations,
        help="Use this configuration file in place of the nearest ones; or set a key of it. Repeatable.",
    ),
    click.option("--no-config", is_flag=True, help="Look for no configuration file."),
    click.option("--show-settings", is_flag=True, help="Show the settings for PATH and where each comes from."),
)
