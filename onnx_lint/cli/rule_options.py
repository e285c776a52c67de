# SPDX-License-Identifier: Apache-2.0
"""The options of `check` and `scan` that say by which rules models are judged, and how much of them is read."""

from __future__ import annotations

import click

from onnx_lint.cli.completion import (
    complete_file_ignores,
    complete_files,
    complete_limits,
    complete_selectors,
    complete_severities,
)
from onnx_lint.cli.sections import COMMON, section
from onnx_lint.spec.messages import FILE_MESSAGES
from onnx_lint.spec.standard import DEFAULT_STANDARD, EDITIONS, VARIANTS

edition_option = click.option(
    "--edition",
    type=click.Choice(EDITIONS),
    metavar="EDITION",
    default=DEFAULT_STANDARD.edition,
    show_default=True,
    help=f"The specification of ONNX {', '.join(EDITIONS[:-1])} or {EDITIONS[-1]}.",
)

selection_options = section(
    COMMON,
    click.option(
        "--select",
        multiple=True,
        metavar="NAMES",
        shell_complete=complete_selectors,
        help="Only these: rules, chapters, MUST, SHOULD, ALL.",
    ),
    click.option("--ignore", multiple=True, metavar="NAMES", shell_complete=complete_selectors, help="None of these."),
    click.option("--pedantic", is_flag=True, help="Also what nearly every real model breaks, each by itself."),
    edition_option,
)

gate_options = section(
    COMMON,
    click.option(
        "--fail-on",
        type=click.Choice(("error", "warning", "note", "never")),
        metavar="LEVEL",
        default="error",
        show_default=True,
        help="Least severity that exits with 1: error, warning, note or never.",
    ),
)

rule_options = section(
    "Rules and severities",
    click.option(
        "--extend-select",
        multiple=True,
        metavar="NAMES",
        shell_complete=complete_selectors,
        help="These besides the others.",
    ),
    click.option(
        "--per-file-ignores",
        multiple=True,
        metavar="GLOB:NAMES",
        shell_complete=complete_file_ignores,
        help="None of these for some files.",
    ),
    click.option(
        "--severity",
        "severities",
        multiple=True,
        metavar="RULE=LEVEL",
        shell_complete=complete_severities,
        help="Make a rule error, warning, note or off.",
    ),
    click.option(
        "--min-severity",
        type=click.Choice(("error", "warning", "note")),
        metavar="LEVEL",
        default="note",
        show_default=True,
        help="Report nothing less severe than error, warning or note.",
    ),
    click.option("--errors-only", "min_severity", flag_value="error", help="The same as --min-severity error."),
    click.option("--exit-zero", is_flag=True, help="The same as --fail-on never."),
    click.option(
        "--internal-errors",
        type=click.Choice(("error", "warning")),
        metavar="LEVEL",
        default="error",
        show_default=True,
        help="What a crash of onnx-lint is: error, or warning without exit code 3.",
    ),
    click.option(
        "--variant",
        type=click.Choice(VARIANTS),
        metavar="VARIANT",
        default=DEFAULT_STANDARD.variant,
        show_default=True,
        help="onnx-ml or onnx, without classical learning.",
    ),
)

extent_options = section(
    "What is read",
    click.option(
        "--proto",
        type=click.Choice(FILE_MESSAGES),
        metavar="MESSAGE",
        help="The message that files hold, such as TensorProto.",
    ),
    click.option(
        "--opset-import",
        "opset_imports",
        multiple=True,
        metavar="[DOMAIN=]N",
        help="The operator set that graphs and nodes without a model are meant for.",
    ),
    click.option(
        "--no-external-data",
        "external_data",
        flag_value=False,
        default=True,
        type=bool,
        help="Leave files of tensors beside the model alone.",
    ),
    click.option("--follow-links", is_flag=True, help="Follow links to such files inside the model's folder."),
    click.option(
        "--external-data-root",
        "external_data_roots",
        multiple=True,
        metavar="DIR",
        shell_complete=complete_files,
        help="Follow links to such files into this folder, too.",
    ),
    click.option("--verify-checksums", is_flag=True, help="Read such files, and compare their checksums."),
    click.option("--download", is_flag=True, help="Fetch remote files whole if their server gives no parts."),
    click.option(
        "--limit",
        "limits",
        multiple=True,
        metavar="NAME=VALUE",
        shell_complete=complete_limits,
        help="Set a limit, such as nodes or findings_per_rule.",
    ),
)
