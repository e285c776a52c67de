# SPDX-License-Identifier: Apache-2.0
"""The options of `check` and `scan` that choose the rules and what is read."""

from __future__ import annotations

import click

from onnx_lint.cli.completion import complete_names
from onnx_lint.cli.sections import COMMON, section
from onnx_lint.spec.messages import FILE_MESSAGES
from onnx_lint.spec.standard import DEFAULT_STANDARD, EDITIONS, VARIANTS

edition_option = click.option(
    "--edition",
    type=click.Choice(EDITIONS),
    metavar="EDITION",
    default=DEFAULT_STANDARD.edition,
    show_default=True,
    help=f"Check against the specification of ONNX {', '.join(EDITIONS[:-1])} or {EDITIONS[-1]}.",
)

selection_options = section(
    COMMON,
    click.option(
        "--select",
        multiple=True,
        metavar="NAMES",
        shell_complete=complete_names,
        help="Run only these rules: rule ids, chapters, error, warning, note or ALL.",
    ),
    click.option("--ignore", multiple=True, metavar="NAMES", shell_complete=complete_names, help="Skip these rules."),
    click.option("--pedantic", is_flag=True, help="Also report, one by one, faults that nearly every real model has."),
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
        help="Exit with 1 for findings of this severity or higher: error, warning, note or never.",
    ),
)

rule_options = section(
    "Rules and severities",
    click.option(
        "--extend-select",
        multiple=True,
        metavar="NAMES",
        shell_complete=complete_names,
        help="Run these rules as well.",
    ),
    click.option(
        "--per-file-ignores",
        multiple=True,
        metavar="GLOB:NAMES",
        help="Skip these rules for files that match GLOB.",
    ),
    click.option(
        "--severity",
        "severities",
        multiple=True,
        metavar="RULE=LEVEL",
        help="Set the severity of a rule: error, warning, note or off.",
    ),
    click.option(
        "--min-severity",
        type=click.Choice(("error", "warning", "note")),
        metavar="LEVEL",
        default="note",
        show_default=True,
        help="Hide findings below this severity: error, warning or note.",
    ),
    click.option("--errors-only", "min_severity", flag_value="error", help="Same as --min-severity error."),
    click.option("--exit-zero", is_flag=True, help="Same as --fail-on never."),
    click.option(
        "--internal-errors",
        type=click.Choice(("error", "warning")),
        metavar="LEVEL",
        default="error",
        show_default=True,
        help="Report a crash of onnx-lint itself as error (exit code 3) or as warning.",
    ),
    click.option(
        "--variant",
        type=click.Choice(VARIANTS),
        metavar="VARIANT",
        default=DEFAULT_STANDARD.variant,
        show_default=True,
        help="Check against onnx-ml, or onnx, which has no classical machine learning.",
    ),
)

extent_options = section(
    "What is read",
    click.option(
        "--proto",
        type=click.Choice(FILE_MESSAGES),
        metavar="MESSAGE",
        help="The protobuf message in the files, such as TensorProto.",
    ),
    click.option(
        "--opset-import",
        "opset_imports",
        multiple=True,
        metavar="[DOMAIN=]N",
        help="The operator set to assume for files that hold a graph, function or node without a model.",
    ),
    click.option(
        "--no-external-data",
        "external_data",
        flag_value=False,
        default=True,
        type=bool,
        help="Do not look at external data files.",
    ),
    click.option(
        "--follow-links",
        is_flag=True,
        help="Follow links to external data inside the model's folder; by fix also to the model.",
    ),
    click.option(
        "--external-data-root",
        "external_data_roots",
        multiple=True,
        metavar="DIR",
        type=click.Path(),
        help="Follow links to external data into this folder as well.",
    ),
    click.option("--verify-checksums", is_flag=True, help="Read external data files and compare their checksums."),
    click.option("--download", is_flag=True, help="Download remote files whole if the server has no range requests."),
    click.option(
        "--limit",
        "limits",
        multiple=True,
        metavar="NAME=VALUE",
        help="Set a limit, such as memory=4GiB or findings_per_rule=100.",
    ),
)
