# SPDX-License-Identifier: Apache-2.0
"""The table that declares the keys of the configuration.

Documentation, starter file, JSON Schema and checks are generated from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from onnx_lint.common.record import Record
from onnx_lint.configuration.value_kinds import (
    ANY,
    COUNT,
    DATE,
    ELEMENT_TYPE,
    ELEMENT_TYPES,
    FLAG,
    RANGE,
    SHAPE,
    SIZE,
    TEXT,
    TEXTS,
    URL,
    WHOLE,
    ValueKind,
    at_least_one,
    choice,
    fields,
    table,
)
from onnx_lint.input.limits import BYTE_LIMITS, SIZE_PATTERN
from onnx_lint.input.limits import NAMES as LIMIT_NAMES
from onnx_lint.reporters import REPORTERS
from onnx_lint.spec.clauses import CONSUMERS
from onnx_lint.spec.messages import FILE_MESSAGES
from onnx_lint.spec.standard import DEFAULT_STANDARD, EDITIONS, VARIANTS

LEVELS: Final = ("error", "warning", "note", "off")
GATES: Final = ("error", "warning", "note", "never")
DEFAULT_OPSET_DOMAIN: Final = "ai.onnx"


class ConfigurationKey(Record):
    """A key of the configuration."""

    name: str
    kind: ValueKind
    default: Any
    """The value if nothing sets the key; None for no value."""
    summary: str
    """One sentence that says what the key does."""
    details: str
    example: str
    """A line of TOML, or a table, which the starter file contains as a comment."""
    option: str
    """The option of the command line with the same meaning; empty if there is none."""
    is_run_wide: bool = False
    """True if it applies to the run as a whole, not to single files."""
    field: str = ""
    """The field of `Request` with the same meaning; if empty, the name of the key, with underscores."""
    merging: str = "value"
    """How the value goes into that field: as a `value`, `tuple`, `path`, `paths` or `table`, or by its `own` code."""
    is_added_to: bool = False
    """True if the command line adds to the value; it replaces the value of any other key."""
    only_adds: bool = False
    """True if it can only add findings."""

    def __post_init__(self) -> None:
        """Derive the field."""
        object.__setattr__(self, "field", self.field or self.name.replace("-", "_"))


_LIMIT_SCHEMA: Final = {
    "additionalProperties": False,
    "properties": {
        name: {"type": ["integer", "string"], "minimum": 1, "pattern": SIZE_PATTERN}
        if name in BYTE_LIMITS
        else {"type": "integer", "minimum": 1}
        for name in LIMIT_NAMES
    },
}
_LIMIT: Final = ValueKind(
    "a whole number of at least 1, or a size such as '4GiB'",
    MappingProxyType({"type": ["integer", "string"]}),
    lambda value: WHOLE.accepts(value) or isinstance(value, str),
)
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
_VALUE: Final = fields({"type": ELEMENT_TYPE, "shape": SHAPE})
_POLICY: Final = fields(
    {
        "operators": fields({"allow": at_least_one(TEXTS), "forbid": TEXTS}),
        "domains": fields({"allow": at_least_one(TEXTS), "forbid": TEXTS}),
        "element-types": fields({"allow": at_least_one(ELEMENT_TYPES), "forbid": ELEMENT_TYPES}),
        "opsets": table(RANGE),
        "ir-version": RANGE,
        "metadata": TEXTS,
        "max-size": SIZE,
        "inputs": table(_VALUE),
        "outputs": table(_VALUE),
    }
)
_SUPPRESSION: Final = fields({"rule": TEXT, "reason": TEXT, "place": TEXT, "file": TEXT, "until": DATE})
_SUPPRESSIONS: Final = ValueKind(
    "a list of tables",
    MappingProxyType({"type": "array", "items": {**_SUPPRESSION.schema, "required": ["rule", "reason"]}}),
    lambda value: isinstance(value, dict),
    _SUPPRESSION,
)
_SELECTORS: Final = "Rule ids, chapters, severities (error, warning, note), keywords (MUST, SHOULD, ...), or ALL."

_DECLARED: Final = (
    ConfigurationKey(
        "extend",
        TEXT,
        None,
        "A configuration file that this one extends.",
        "A path, relative to this file; it may be a pyproject.toml. Values in this file replace those of the other "
        "file; tables are merged entry by entry. Without this key, files in parent folders are ignored.",
        'extend = "../onnx-lint.toml"',
        "",
        merging="own",
    ),
    ConfigurationKey(
        "edition",
        choice(EDITIONS),
        DEFAULT_STANDARD.edition,
        "The edition of the specification, named after the ONNX release that published it.",
        "The edition determines which clauses apply, and their severities.",
        f'edition = "{DEFAULT_STANDARD.edition}"',
        "--edition",
    ),
    ConfigurationKey(
        "variant",
        choice(VARIANTS),
        DEFAULT_STANDARD.variant,
        "The variant of the standard; onnx does not include classical machine learning.",
        "",
        f'variant = "{DEFAULT_STANDARD.variant}"',
        "--variant",
    ),
    ConfigurationKey(
        "select",
        TEXTS,
        [],
        "The rules to run; if empty, the default set.",
        f"{_SELECTORS} --select on the command line replaces select, extend-select and ignore of the configuration.",
        'select = ["error", "name"]',
        "--select",
        merging="own",
    ),
    ConfigurationKey(
        "extend-select",
        TEXTS,
        [],
        "Rules to run in addition to select or the default set.",
        f"{_SELECTORS} On the command line it adds to the configuration, and overrides its ignore.",
        'extend-select = ["unused-opset-import"]',
        "--extend-select",
        merging="own",
        is_added_to=True,
        only_adds=True,
    ),
    ConfigurationKey(
        "ignore",
        TEXTS,
        [],
        "The rules to skip.",
        f"{_SELECTORS} It overrides select and extend-select. On the command line it adds to the configuration.",
        'ignore = ["non-c90-name"]',
        "--ignore",
        merging="own",
        is_added_to=True,
    ),
    ConfigurationKey(
        "per-file-ignores",
        table(TEXTS),
        {},
        "The rules to skip for some files.",
        "A pattern without a slash matches the file name in any folder. A pattern with a slash matches the path, "
        "relative to the folder of the configuration file: * and ? stop at a slash, ** does not.",
        '[per-file-ignores]\n"legacy/**" = ["name", "duplicate-node-name"]',
        "--per-file-ignores",
        merging="own",
        is_added_to=True,
    ),
    ConfigurationKey(
        "suppress",
        _SUPPRESSIONS,
        {},
        "Findings to accept, each entry with a reason.",
        "place is a pattern for the place of a finding, or for the name of its node or value; file is a pattern as in "
        "per-file-ignores; until is the last day. An entry that has expired or matches nothing is reported.",
        '[[suppress]]\nrule = "unaligned-external-offset"\nreason = "read as a whole"\nuntil = "2099-12-31"',
        "",
        field="suppressions",
        merging="own",
    ),
    ConfigurationKey(
        "severity",
        table(choice(LEVELS)),
        {},
        "Severities by rule id, instead of those of the clauses.",
        "error, warning, note, or off.",
        '[severity]\nnon-c90-name = "note"',
        "--severity",
        field="severities",
        merging="table",
        is_added_to=True,
    ),
    ConfigurationKey(
        "pedantic",
        FLAG,
        False,
        "Whether to list faults that nearly every real model has.",
        "",
        "pedantic = false",
        "--pedantic",
        only_adds=True,
    ),
    ConfigurationKey(
        "policy",
        _POLICY,
        {},
        "Requirements for models beyond the specification.",
        "Allowed and forbidden operators, domains and element types; versions; metadata; inputs and outputs; the size. "
        "Each finding names the line of this file. docs/configuration.md describes the entries.",
        '[policy.operators]\nforbid = ["Loop", "com.microsoft::*"]',
        "",
        merging="own",
        only_adds=True,
    ),
    ConfigurationKey(
        "fail-on",
        choice(GATES),
        "error",
        "The lowest severity that leads to exit code 1.",
        "Each file uses the configuration that is nearest to it.",
        'fail-on = "error"',
        "--fail-on",
    ),
    ConfigurationKey(
        "internal-errors",
        choice(("error", "warning")),
        "error",
        "Whether a crash of onnx-lint itself leads to exit code 3, or only to a warning.",
        "With warning, only the findings decide the exit code; a file without a verdict counts as not checked. Read "
        "only from the configuration of the working directory.",
        'internal-errors = "error"',
        "--internal-errors",
        is_run_wide=True,
    ),
    ConfigurationKey(
        "baseline",
        TEXT,
        None,
        "The file of known findings, which are not reported again.",
        "A path, relative to this file; --write-baseline writes it.",
        'baseline = "onnx-lint-baseline.json"',
        "--baseline",
        merging="path",
    ),
    ConfigurationKey(
        "target-ir",
        WHOLE,
        None,
        "The newest IR version that the consumer of the models supports.",
        "Everything that such a consumer does not support is reported.",
        "target-ir = 10",
        "--target-ir",
        only_adds=True,
    ),
    ConfigurationKey(
        "target-opset",
        _WHOLE_OR_TABLE,
        {},
        "The newest operator set version that the consumer of the models supports.",
        "A number for ai.onnx, or a table of numbers by domain. Everything that such a consumer does not support is "
        "reported.",
        "target-opset = 21",
        "--target-opset",
        field="target_opsets",
        merging="table",
        is_added_to=True,
        only_adds=True,
    ),
    ConfigurationKey(
        "consumers",
        _CONSUMERS,
        [],
        "The programs that must accept the models; what they are known to reject is an error.",
        f"Any of {', '.join(CONSUMERS)}. onnx-lint explain CLAUSE lists the consumers that reject a violation.",
        'consumers = ["onnx.checker"]',
        "--consumer",
        merging="tuple",
        only_adds=True,
    ),
    ConfigurationKey(
        "targets",
        TEXTS,
        [],
        "The releases that must load the models.",
        "NAME=VERSION, such as onnxruntime=1.17; docs/targets.md lists them.",
        'targets = ["onnxruntime=1.17"]',
        "--target",
        field="products",
        merging="tuple",
        only_adds=True,
    ),
    ConfigurationKey(
        "proto",
        choice(FILE_MESSAGES),
        None,
        "The protobuf message in the files; by default, onnx-lint recognizes it by the content.",
        "For documents whose content does not show what they are. onnx-lint explain MESSAGE says how each is "
        "recognized.",
        'proto = "ModelProto"',
        "--proto",
    ),
    ConfigurationKey(
        "external-data",
        FLAG,
        True,
        "Whether to look at external data files.",
        "",
        "external-data = true",
        "--no-external-data",
    ),
    ConfigurationKey(
        "follow-links",
        FLAG,
        False,
        "Whether to follow links to external data inside the folder of the model; by `fix` also a link to the model.",
        "A link that leads out of the folder is followed only into a folder of external-data-roots. The tensors behind "
        "other links are listed as not verified.",
        "follow-links = false",
        "--follow-links",
    ),
    ConfigurationKey(
        "external-data-roots",
        TEXTS,
        [],
        "Folders into which links to external data are followed, as in the caches of model hubs, DVC, Bazel and Nix.",
        "Paths, relative to this file. Every file below them may be read, wherever the link is.",
        'external-data-roots = ["../hub"]',
        "--external-data-root",
        merging="paths",
    ),
    ConfigurationKey(
        "opset-schemas",
        TEXTS,
        [],
        "Schema files, which describe the operators of custom domains.",
        "Paths, relative to this file; docs/opset-schema.md describes the format. Operator-set documents work as well.",
        'opset-schemas = ["vision.json"]',
        "--opset-schema",
        merging="paths",
    ),
    ConfigurationKey(
        "plugins",
        TEXTS,
        [],
        "Python files with rules of your own.",
        "Paths or globs, relative to this file. Python files run only if --config names this file, or if the user's "
        "own configuration trusts its folder (docs/plugins.md).",
        'plugins = ["rules/*.py"]',
        "--plugin",
        is_run_wide=True,
        merging="own",
        is_added_to=True,
    ),
    ConfigurationKey(
        "limits",
        table(_LIMIT, _LIMIT_SCHEMA),
        {},
        "Limits on the size of files, on memory, and on the number of findings.",
        f"The limits are {', '.join(LIMIT_NAMES)}. Limits in bytes accept a unit: memory = '4GiB'.",
        "[limits]\nmemory = '4GiB'",
        "--limit",
        merging="table",
        is_added_to=True,
    ),
    ConfigurationKey(
        "rules",
        table(table(ANY, wanted="a table of options")),
        {},
        "The options of individual rules.",
        "A table for each rule; onnx-lint explain RULE lists its options.",
        "[rules.oversized-message]\nmax_bytes = 104857600",
        "",
        field="rule_options",
        merging="own",
    ),
    ConfigurationKey(
        "format",
        choice(tuple(REPORTERS)),
        "text",
        "The format of the report.",
        "Read only from the configuration of the working directory.",
        'format = "text"',
        "--format",
        is_run_wide=True,
        field="format_name",
    ),
    ConfigurationKey(
        "exclude",
        TEXTS,
        [],
        "Files and directories to skip.",
        "Patterns, as in per-file-ignores. Read only from the configuration of the working directory; the command line "
        "adds to it.",
        'exclude = ["third_party/**"]',
        "--exclude",
        is_run_wide=True,
        merging="own",
        is_added_to=True,
    ),
    ConfigurationKey(
        "jobs",
        COUNT,
        0,
        "The number of files to check at a time.",
        "0: up to one process per core. Read only from the configuration of the working directory.",
        "jobs = 0",
        "--jobs",
        is_run_wide=True,
    ),
    ConfigurationKey(
        "cache",
        FLAG,
        False,
        "Whether to reuse the verdicts on files that have not changed.",
        "The cache is in ~/.cache/onnx-lint, or in the folder that ONNX_LINT_CACHE_DIR names; onnx-lint cache clear "
        "deletes it. Read only from the configuration of the working directory.",
        "cache = false",
        "--cache",
        is_run_wide=True,
    ),
    ConfigurationKey(
        "context",
        FLAG,
        True,
        "Whether reports show the lines of the model around a finding.",
        "In the text report and in SARIF. Read only from the configuration of the working directory.",
        "context = true",
        "--no-context",
        is_run_wide=True,
    ),
    ConfigurationKey(
        "documentation-url",
        URL,
        None,
        "The URL of the documentation site, to which reports link rule names.",
        "For those who host the site that python docs/build.py builds. Without it, reports refer to onnx-lint explain. "
        "Read only from the configuration of the working directory.",
        'documentation-url = "https://docs.example.org/onnx-lint/"',
        "--documentation-url",
        is_run_wide=True,
    ),
)

KEYS: Final[Mapping[str, ConfigurationKey]] = MappingProxyType({key.name: key for key in _DECLARED})
"""The keys by their names."""
