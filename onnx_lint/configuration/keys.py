# SPDX-License-Identifier: Apache-2.0
"""The one table that declares the keys of the configuration.

Documentation, starter file, JSON Schema and checks are all made from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from onnx_lint.common.record import Record
from onnx_lint.configuration.value_kinds import ANY, COUNT, FLAG, TEXT, TEXTS, URL, WHOLE, ValueKind, choice, table
from onnx_lint.input.limits import NAMES as LIMIT_NAMES
from onnx_lint.reporters import REPORTERS
from onnx_lint.spec.clauses import CONSUMERS
from onnx_lint.spec.messages import FILE_MESSAGES
from onnx_lint.spec.standard import DEFAULT_STANDARD, EDITIONS, VARIANTS

LEVELS: Final = ("error", "warning", "note", "off")
GATES: Final = ("error", "warning", "note", "never")
DEFAULT_OPSET_DOMAIN: Final = "ai.onnx"


class Key(Record):
    """A key of the configuration."""

    name: str
    kind: ValueKind
    default: Any
    """What holds where nobody says anything; None for nothing."""
    summary: str
    """One sentence that says what the key does."""
    details: str
    example: str
    """A line of TOML (of a table: the table), which the starter file holds as a comment."""
    option: str
    """The option of the command line that says the same; empty where there is none."""
    of_run: bool = False
    """Whether it is about the run as a whole, and not about single files."""


_LIMIT_SCHEMA: Final = {
    "additionalProperties": False,
    "properties": {name: {"type": "integer", "minimum": 1} for name in LIMIT_NAMES},
}
_WHOLE_OR_TABLE: Final = ValueKind(
    "a whole number of at least 1, or a table of them by domain",
    MappingProxyType({"oneOf": [dict(WHOLE.schema), {"type": "object", "additionalProperties": dict(WHOLE.schema)}]}),
    lambda value: WHOLE.accepts(value) or isinstance(value, dict),
    WHOLE,
)
_CONSUMERS: Final = ValueKind(
    f"an array of names, each one of {', '.join(CONSUMERS)}",
    MappingProxyType({"type": "array", "items": {"enum": list(CONSUMERS)}}),
    lambda value: isinstance(value, list) and all(name in CONSUMERS for name in value),
)
_SELECTORS: Final = "Rule ids, chapters (the folders of the rules), or keywords (MUST, SHOULD, ..., ALL)."

_DECLARED: Final = (
    Key(
        "extend",
        TEXT,
        None,
        "The configuration file that this one adds to.",
        "A path, relative to this file. What stands here takes the place of what stands there; tables are merged entry "
        "by entry. Without it nothing is taken from files further up. It may lead to a pyproject.toml.",
        'extend = "../onnx-lint.toml"',
        "",
    ),
    Key(
        "edition",
        choice(EDITIONS),
        DEFAULT_STANDARD.edition,
        "The edition of the specification, named after the ONNX release that published it.",
        "The edition gives the severities, and decides which clauses there are.",
        f'edition = "{DEFAULT_STANDARD.edition}"',
        "--edition",
    ),
    Key(
        "variant",
        choice(VARIANTS),
        DEFAULT_STANDARD.variant,
        "The variant of the standard; onnx lacks classical machine learning.",
        "",
        f'variant = "{DEFAULT_STANDARD.variant}"',
        "--variant",
    ),
    Key(
        "select",
        TEXTS,
        [],
        "The rules to report; empty for the default set.",
        f"{_SELECTORS} On the command line --select also puts aside what ignore and extend-select of the configuration "
        "say.",
        'select = ["MUST", "name"]',
        "--select",
    ),
    Key(
        "extend-select",
        TEXTS,
        [],
        "The rules to report besides those of select, or of the default set.",
        f"{_SELECTORS} On the command line it adds to the configuration, and brings back what ignore leaves out.",
        'extend-select = ["unused-opset-import"]',
        "--extend-select",
    ),
    Key(
        "ignore",
        TEXTS,
        [],
        "The rules not to report.",
        f"{_SELECTORS} It wins over select and extend-select. On the command line it adds to the configuration.",
        'ignore = ["non-c90-name"]',
        "--ignore",
    ),
    Key(
        "per-file-ignores",
        table(TEXTS),
        {},
        "The rules not to report for some files.",
        "A pattern without a slash is for the name of a file in any folder, another for its path, relative to the "
        "folder of the configuration file: * and ? stop at a slash, ** does not.",
        '[per-file-ignores]\n"legacy/**" = ["name", "duplicate-node-name"]',
        "--per-file-ignores",
    ),
    Key(
        "severity",
        table(choice(LEVELS)),
        {},
        "Severities by rule id, in place of those that the clauses give.",
        "error, warning, note, or off.",
        '[severity]\nnon-c90-name = "note"',
        "--severity",
    ),
    Key(
        "pedantic",
        FLAG,
        False,
        "Whether to report what nearly every real model breaks.",
        "",
        "pedantic = false",
        "--pedantic",
    ),
    Key(
        "fail-on",
        choice(GATES),
        "error",
        "The least severity that gives exit code 1.",
        "A file is judged by the configuration that is nearest to it.",
        'fail-on = "error"',
        "--fail-on",
    ),
    Key(
        "internal-errors",
        choice(("error", "warning")),
        "error",
        "Whether a crash of onnx-lint itself gives exit code 3, or only a warning.",
        "With warning the findings alone decide the exit code; a file without any verdict counts as not checked. Taken "
        "from the configuration of the working directory.",
        'internal-errors = "error"',
        "--internal-errors",
        of_run=True,
    ),
    Key(
        "baseline",
        TEXT,
        None,
        "The file of the findings that are known and not reported again.",
        "A path, relative to this file; --write-baseline makes it.",
        'baseline = "onnx-lint-baseline.json"',
        "--baseline",
    ),
    Key(
        "target-ir",
        WHOLE,
        None,
        "The newest IR version that the consumer of the models knows.",
        "What such a consumer would not understand is reported.",
        "target-ir = 10",
        "--target-ir",
    ),
    Key(
        "target-opset",
        _WHOLE_OR_TABLE,
        {},
        "The newest operator set version that the consumer of the models knows.",
        "A number for ai.onnx, or a table of numbers by domain. What such a consumer would not understand is reported.",
        "target-opset = 21",
        "--target-opset",
    ),
    Key(
        "consumers",
        _CONSUMERS,
        [],
        "The programs that have to take the models; what they are known to refuse is an error.",
        f"Any of {', '.join(CONSUMERS)}. Each clause that one of them refuses says so: onnx-lint clauses.",
        'consumers = ["onnx.checker"]',
        "--consumer",
    ),
    Key(
        "proto",
        choice(FILE_MESSAGES),
        None,
        "The message that the files hold; told by their content where nothing is said.",
        "For a folder of documents that do not say what they are. onnx-lint explain MESSAGE tells how each is told.",
        'proto = "ModelProto"',
        "--proto",
    ),
    Key(
        "external-data",
        FLAG,
        True,
        "Whether to look up the files that hold tensors outside the model.",
        "",
        "external-data = true",
        "--no-external-data",
    ),
    Key(
        "follow-links",
        FLAG,
        False,
        "Whether to follow links to such files that stay in the folder of the model.",
        "A link that leads out of it is followed only into a folder of external-data-roots; the rest is told as not "
        "verified.",
        "follow-links = false",
        "--follow-links",
    ),
    Key(
        "external-data-roots",
        TEXTS,
        [],
        "Folders into which links to such files are followed, as in the caches of model hubs, DVC, Bazel and Nix.",
        "Paths, relative to this file. Whatever is below them may be read, wherever the link is.",
        'external-data-roots = ["../hub"]',
        "--external-data-root",
    ),
    Key(
        "opset-schemas",
        TEXTS,
        [],
        "Schema files, which describe the operators of further domains.",
        "Paths, relative to this file; docs/opset-schema.md describes the files. Operator-set documents do as well.",
        'opset-schemas = ["vision.json"]',
        "--opset-schema",
    ),
    Key(
        "limits",
        table(WHOLE, _LIMIT_SCHEMA),
        {},
        "How much of a file is taken on, and how much is reported.",
        f"The limits are {', '.join(LIMIT_NAMES)}.",
        "[limits]\nfindings_per_rule = 1000",
        "--limit",
    ),
    Key(
        "rules",
        table(table(ANY, wanted="a table of options")),
        {},
        "The options of single rules.",
        "A table for each rule; onnx-lint explain RULE tells its options.",
        "[rules.oversized-message]\nmax_bytes = 104857600",
        "",
    ),
    Key(
        "format",
        choice(tuple(REPORTERS)),
        "text",
        "The form of the report.",
        "Taken from the configuration of the working directory.",
        'format = "text"',
        "--format",
        of_run=True,
    ),
    Key(
        "exclude",
        TEXTS,
        [],
        "Files and directories to leave out.",
        "Patterns, as in per-file-ignores. Taken from the configuration of the working directory; the command line "
        "adds to it.",
        'exclude = ["third_party/**"]',
        "--exclude",
        of_run=True,
    ),
    Key(
        "jobs",
        COUNT,
        0,
        "How many files to lint at a time.",
        "0 for one a processor, where there is enough to do. Taken from the configuration of the working directory.",
        "jobs = 0",
        "--jobs",
        of_run=True,
    ),
    Key(
        "context",
        FLAG,
        True,
        "Whether reports show the lines of the model around a finding.",
        "In the text report and in SARIF. Taken from the configuration of the working directory.",
        "context = true",
        "--no-context",
        of_run=True,
    ),
    Key(
        "documentation-url",
        URL,
        None,
        "The address of the documentation site, to which reports link the names of rules.",
        "For those who host the site that python docs/build.py makes; without it, reports refer to onnx-lint explain. "
        "Taken from the configuration of the working directory.",
        'documentation-url = "https://docs.example.org/onnx-lint/"',
        "--documentation-url",
        of_run=True,
    ),
)

KEYS: Final[Mapping[str, Key]] = MappingProxyType({key.name: key for key in _DECLARED})
"""The keys by their names."""
