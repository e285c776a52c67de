# SPDX-License-Identifier: Apache-2.0
"""The table of settings: each option of `check` and `fix`, and each key of the configuration, is declared here once.

The options, `Request`, the merging of configurations, `--show-settings`, the weakened verdict, the JSON Schema and the
documentation are made of it. It imports no click, as most runs need none.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from onnx_lint.common.record import EMPTY, Record, RecordType, field_names
from onnx_lint.engine.value_kinds import (
    ANY,
    DATE,
    DOMAINS,
    ELEMENT_TYPES,
    FILE_PATTERN,
    FLAG,
    FOLDER,
    FOLDERS,
    IR_VERSIONS,
    LISTED,
    METADATA,
    NAMED_DOMAINS,
    NAMES,
    NEW_FOLDER,
    OPERATORS,
    OPSETS,
    PATH,
    PATH_PATTERNS,
    PATHS,
    PATTERNS,
    PROCESSES,
    SECONDS,
    SIZE,
    TARGET_NAMES,
    TEXT,
    TEXTS,
    VALUES,
    WHOLE,
    ValueKind,
    at_least_one,
    choice,
    fields,
    table,
)
from onnx_lint.input.limits import BYTE_LIMITS, SIZE_PATTERN, is_allowed, least, most, wanted
from onnx_lint.input.limits import NAMES as LIMIT_NAMES
from onnx_lint.ir.documents.kinds import KINDS
from onnx_lint.reporters import REPORTERS
from onnx_lint.spec.standard import DEFAULT_STANDARD, EDITIONS
from onnx_lint.spec.target import TARGET_GATES

if TYPE_CHECKING:
    from onnx_lint.engine.suppressions import Suppression

LEVELS: Final = ("error", "warning", "note")
GATES: Final = ("error", "warning", "note", "never")

COMMON: Final = "Common options"
FIXES: Final = "Fixes"
RULES: Final = "Rules and severities"
TARGETS: Final = "Targets and operators"
READ: Final = "What is read"
REPORTS: Final = "Reports"
BASELINE: Final = "Baseline"
CONFIGURATION: Final = "Configuration"
SECTIONS: Final = (COMMON, FIXES, RULES, TARGETS, READ, REPORTS, BASELINE, CONFIGURATION)
"""The sections of the help, in order."""


class Setting(Record):
    """An option of the command line, a key of the configuration, or both."""

    kind: ValueKind
    default: Any
    """The default of the field of `Request`."""
    text: str
    """One sentence that says what the setting does: the help of the option, and the summary of the key."""
    section: str = ""
    """The section of the help; empty if there is no option."""
    details: str | None = None
    """What the documentation adds for the key; None if the configuration has no such key."""
    option: str = ""
    """The spellings of the option; if empty, the name of the field, with dashes."""
    metavar: str | None = None
    key: str = ""
    """The key; if empty, the name of the field, with dashes."""
    example: str = ""
    """TOML for the documentation; if empty, a line with the default."""
    shows_default: bool = False
    """True if the help ends with the default."""
    is_run_wide: bool = False
    """True if the key applies to the run as a whole, not to single files."""
    merging: str = "value"
    """How the key goes into the field: as a `value`, `tuple`, `path`, `paths` or `table`, or by code of its `own`."""
    is_added_to: bool = False
    """True if the command line adds to the value of the key; it replaces the value of any other key."""
    replaced_by: str = ""
    """The field of another option that replaces the key."""
    only_adds: bool = False
    """True if the key can only add findings."""
    is_rare: bool = False
    """True if only --help-all shows the option."""
    field: str = ""
    """The name of the field of `Request`, which its class sets."""

    @property
    def summary(self) -> str:
        """The text without the default, which only the help shows."""
        return self.text.partition("  [")[0]

    @property
    def is_list(self) -> bool:
        """True if the option can be repeated."""
        return isinstance(self.default, (tuple, Mapping))

    @property
    def is_pairs(self) -> bool:
        """True if the value of the option is pairs of a name and a value."""
        return isinstance(self.default, Mapping)

    @property
    def spellings(self) -> Mapping[str, bool | None]:
        """The spellings of the option, each with the value that it sets if it is a flag."""
        if self.kind.option != "flag":
            return dict.fromkeys(self.option.split())
        values: dict[str, bool | None] = {}
        for option in self.option.split():
            turning, separator, back = option.partition("/")
            values[turning] = not self.default
            if separator:
                values[back] = self.default
        return values

    @property
    def is_key(self) -> bool:
        """True if the configuration has a key for it."""
        return self.details is not None

    @property
    def key_default(self) -> Any:
        """The value of the key if nothing sets it, as TOML has it; None for no value."""
        if self.kind.is_table:
            return {}
        return list(self.default) if isinstance(self.default, tuple) else self.default

    @property
    def shown(self) -> str:
        """The lines of the documentation that set the key."""
        if self.example:
            return self.example
        import json

        return f"{self.key} = {json.dumps(self.key_default)}"


class _DeclaredSetting(dict[str, Any]):
    """The fields of a `Setting`, apart from those that follow from the name of the field of `Request`."""


def setting(kind: ValueKind, default: Any, text: str, section: str = "", **properties: Any) -> Any:
    """Declare a field of `Request` as a setting, see `Setting`."""
    return _DeclaredSetting(kind=kind, default=default, text=text, section=section, **properties)


class _RequestType(RecordType):
    """The metaclass of `Request`, which collects the settings and leaves their defaults to the record."""

    settings: Mapping[str, Setting]
    """The settings by the field of `Request`."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> _RequestType:
        settings = {}
        for field, declared in namespace.items():
            if isinstance(declared, _DeclaredSetting):
                words = field.replace("_", "-")
                settings[field] = Setting(**{"key": words, "option": f"--{words}", **declared, "field": field})
        namespace.update({field: each.default for field, each in settings.items()})
        namespace["settings"] = MappingProxyType(settings)
        return super().__new__(cls, name, bases, namespace)  # type: ignore[return-value]  # it is of this class


def _limit(name: str) -> ValueKind:
    """Return the kind of the values of a limit."""
    number = {"type": ["integer", "string"], "minimum": least(name), "maximum": most(name)}
    pattern = SIZE_PATTERN if name in BYTE_LIMITS else r"^\s*[0-9][0-9_]*\s*$"
    return ValueKind(wanted(name), {**number, "pattern": pattern}, lambda value: is_allowed(name, value))


_POLICY: Final = fields(
    {
        "operators": fields({"allow": at_least_one(OPERATORS), "forbid": OPERATORS}),
        "domains": fields({"allow": at_least_one(DOMAINS), "forbid": DOMAINS}),
        "element-types": fields({"allow": at_least_one(ELEMENT_TYPES), "forbid": ELEMENT_TYPES}),
        "weight-types": fields({"allow": at_least_one(ELEMENT_TYPES), "forbid": ELEMENT_TYPES}),
        "opsets": OPSETS,
        "ir-version": IR_VERSIONS,
        "metadata": at_least_one(METADATA),
        "producers": at_least_one(PATTERNS),
        "max-size": SIZE,
        "max-nodes": WHOLE,
        "max-parameters": WHOLE,
        "only-listed": at_least_one(LISTED),
        "inputs": VALUES,
        "outputs": VALUES,
    }
)
_SUPPRESSION: Final = fields({"rule": TEXT, "reason": TEXT, "place": TEXT, "file": FILE_PATTERN, "until": DATE})
_SUPPRESSIONS: Final = ValueKind(
    "a list of tables",
    {"type": "array", "items": {**_SUPPRESSION.schema, "required": ["rule", "reason"]}},
    lambda value: isinstance(value, dict),
    _SUPPRESSION,
)


_SELECTORS: Final = "Rule ids, chapters, severities (error, warning, note), or ALL."
_RUN_WIDE: Final = "Read only from the configuration of the working directory."


class Request(Record, metaclass=_RequestType):
    """Everything that the user asks of one run: the paths, and the settings, each with its default.

    The options appear in the help in the order of this class.
    """

    paths: tuple[str, ...]
    given: frozenset[str] = frozenset()
    """The fields of the options that are set."""

    extend: str | None = setting(
        PATH,
        None,
        "A configuration file that this one extends.",
        details="A path, relative to this file; it may be a pyproject.toml. Values in this file replace those of the "
        "other file; tables are merged entry by entry. Without this key, files in parent folders are ignored.",
        example='extend = "../onnx-lint.toml"',
        merging="own",
    )
    select: tuple[str, ...] = setting(
        NAMES,
        (),
        "Run only these rules: rule ids, chapters, error, warning, note or ALL.",
        COMMON,
        metavar="NAMES",
        details="If empty, the default set runs. --select on the command line replaces select, extend-select and "
        "ignore of the configuration.",
        example='select = ["error", "name"]',
        merging="own",
    )
    ignore: tuple[str, ...] = setting(
        NAMES,
        (),
        "Skip these rules.",
        COMMON,
        metavar="NAMES",
        details=f"{_SELECTORS} It overrides select and extend-select. The command line adds to it.",
        example='ignore = ["non-c90-name"]',
        merging="own",
        replaced_by="select",
        is_added_to=True,
    )
    pedantic: bool = setting(
        FLAG,
        False,
        "Also report, one by one, faults that nearly every real model has.",
        COMMON,
        details="",
        only_adds=True,
    )
    edition: str = setting(
        choice(EDITIONS),
        DEFAULT_STANDARD.edition,
        f"Use the specification of ONNX {', '.join(EDITIONS[:-1])} or {EDITIONS[-1]}.",
        TARGETS,
        metavar="EDITION",
        shows_default=True,
        details="The edition determines which clauses apply, and their severities.",
    )
    fail_on: str = setting(
        choice(GATES),
        "error",
        "Exit with 1 for findings of this severity or higher: error, warning, note or never.",
        COMMON,
        metavar="LEVEL",
        shows_default=True,
        details="Each file uses the configuration that is nearest to it.",
    )
    format_name: str = setting(
        choice(tuple(REPORTERS)),
        "text",
        f"{', '.join(REPORTERS)}.",
        COMMON,
        option="-f --format",
        metavar="FORMAT",
        shows_default=True,
        key="format",
        details=f"The format of the report. {_RUN_WIDE}",
        is_run_wide=True,
    )
    outputs: tuple[str, ...] = setting(
        PATHS,
        (),
        "Write to this file; its suffix implies the format. FORMAT=PATH adds a report.",
        COMMON,
        option="-o --output",
        metavar="[FORMAT=]PATH",
    )
    quiet: bool = setting(
        FLAG,
        False,
        "Print only findings and, for several files, the total; no progress bar.",
        COMMON,
        option="-q --quiet",
    )
    verbose: bool = setting(
        FLAG,
        False,
        "Print a line for each file, also without findings, and what was not verified in it.",
        COMMON,
        option="-v --verbose",
    )
    jobs: int = setting(
        PROCESSES,
        0,
        "Check N files at a time.  [default: auto: up to one process per core]",
        COMMON,
        option="-j --jobs",
        metavar="N",
        details=f"0: up to one process per core. {_RUN_WIDE}",
        is_run_wide=True,
    )
    cluster: str | None = setting(
        TEXT,
        None,
        "Check on the workers of a Dask scheduler, such as tcp://host:8786, which must see the same files.",
        COMMON,
        metavar="ADDRESS",
        is_rare=True,
    )
    cache: bool = setting(
        FLAG,
        False,
        "Reuse the verdicts on files that have not changed.",
        COMMON,
        option="--cache/--no-cache",
        details=f"The cache is in ~/.cache/onnx-lint, or in the folder that ONNX_LINT_CACHE_DIR names. {_RUN_WIDE}",
        is_run_wide=True,
    )
    time_limit: float | None = setting(
        SECONDS, None, "Stop checking a model after this time.", READ, metavar="SECONDS", is_rare=True
    )

    fix: bool = setting(
        FLAG, False, "Fix what can be fixed, as onnx-lint fix does, and report the rest.", FIXES, is_rare=True
    )
    diff: bool = setting(FLAG, False, "Show what --fix would change, and change nothing.", FIXES, is_rare=True)
    unsafe_fixes: bool = setting(
        FLAG, False, "Also make fixes that may change what the model means.", FIXES, is_rare=True
    )
    fixed_folder: str | None = setting(
        NEW_FOLDER,
        None,
        "Write the models and their external data into DIR; a file found in a folder PATH keeps its path below PATH.",
        FIXES,
        option="--output",
        metavar="DIR",
    )
    extend_select: tuple[str, ...] = setting(
        NAMES,
        (),
        "Run these rules as well.",
        RULES,
        metavar="NAMES",
        details=f"{_SELECTORS} On the command line it adds to the configuration, and overrides its ignore.",
        example='extend-select = ["unused-opset-import"]',
        merging="own",
        replaced_by="select",
        is_added_to=True,
        only_adds=True,
    )
    severities: Mapping[str, str] = setting(
        table(choice(LEVELS)),
        EMPTY,
        "Set the severity of a rule: error, warning or note.",
        RULES,
        option="--severity",
        metavar="RULE=LEVEL",
        key="severity",
        details="By rule id, instead of the severities of its clauses.",
        example='[severity]\nnon-c90-name = "note"',
        merging="table",
        is_added_to=True,
    )
    suppressions: tuple[Suppression, ...] = setting(
        _SUPPRESSIONS,
        (),
        "Findings to accept, each entry with a reason.",
        key="suppress",
        details="place is a pattern for the place of a finding, or for the name of its node or value; file is a "
        "pattern as in exclude; until is the last day. An expired or unused entry is reported.",
        example='[[suppress]]\nrule = "unaligned-external-offset"\nreason = "read as a whole"\nuntil = "2099-12-31"',
        merging="own",
    )
    policy: tuple[str, ...] = setting(
        _POLICY,
        (),
        "Requirements for models beyond the specification.",
        details="Allowed and forbidden operators, domains and element types; versions; metadata; inputs and outputs; "
        "the size. Each finding names its entry here. docs/configuration.md describes the entries.",
        example='[policy.operators]\nforbid = ["Loop", "com.microsoft::*"]',
        merging="own",
        replaced_by="select",
        only_adds=True,
    )
    """The rules that the policy turns on."""
    rule_options: Mapping[str, Mapping[str, Any]] = setting(
        table(table(ANY, wanted="a table of options")),
        EMPTY,
        "The options of individual rules.",
        key="rules",
        details="A table for each rule; onnx-lint explain RULE lists its options.",
        example="[rules.oversized-message]\nmax_bytes = 104857600",
        merging="own",
    )

    targets: tuple[str, ...] = setting(
        TARGET_NAMES,
        (),
        "Exit with 1 unless the model suits this target: onnxruntime=1.32, ir=10, ai.onnx=17, onnx.full_check, or onnx "
        "(the specification; the default). Of several, it must suit each.",
        COMMON,
        option="--target",
        metavar="WHAT",
        details="onnx, onnx.checker, onnx.full_check, onnx-without-ml, a release such as onnxruntime=1.32, "
        "openvino=2026.4 or tensorrt=10.15, ir=N for an IR version, or DOMAIN=N for an operator set; docs/targets.md "
        "describes them.",
        example='targets = ["onnxruntime=1.32"]',
        merging="tuple",
    )
    target_gate: str = setting(
        choice(TARGET_GATES),
        "violations",
        "Of the programs of --target, exit with 1 for a model that one refuses (refused), also for a violation of ONNX "
        "that one is not proven to load (violations), or also for anything not judged (unproven).",
        TARGETS,
        metavar="WHAT",
        shows_default=True,
        details="With refused, a violation that no program is known to refuse is a warning. With unproven, a file "
        "passes only if every node, type and file was judged.",
        example='target-gate = "unproven"',
    )
    registered: tuple[str, ...] = setting(
        NAMED_DOMAINS,
        (),
        "Domains whose operators a library registers in the targets.",
        details="Without it, a node of such a domain is an error under a release of onnxruntime.",
        example='registered = ["com.acme"]',
        merging="tuple",
    )
    opset_schemas: tuple[str, ...] = setting(
        PATHS,
        (),
        "Read the operators of a custom domain from this file.",
        TARGETS,
        option="--opset-schema",
        metavar="FILE",
        details="Paths, relative to this file; docs/opset-schema.md describes the format. Operator-set documents work "
        "as well.",
        example='opset-schemas = ["vision.json"]',
        merging="paths",
        is_rare=True,
    )
    plugins: tuple[str, ...] = setting(
        PATHS,
        (),
        "Also use the rules in this Python file.",
        TARGETS,
        option="--plugin",
        metavar="FILE",
        details="Paths or globs, relative to this file. Python files run only if --config names this file, or if the "
        "user's own configuration trusts its folder (docs/plugins.md).",
        example='plugins = ["rules/*.py"]',
        is_run_wide=True,
        merging="own",
        is_added_to=True,
    )

    files_from: str | None = setting(
        TEXT,
        None,
        "Also check the paths listed in FILE (- for standard input), separated by newlines or NUL.",
        READ,
        metavar="FILE",
    )
    exclude: tuple[str, ...] = setting(
        PATH_PATTERNS,
        (),
        "Skip files that match GLOB; a GLOB without a slash matches file names in any folder.",
        READ,
        metavar="GLOB",
        details="A pattern without a slash matches the name of a file or folder. A pattern with a slash matches the "
        "path, relative to the folder of the configuration file: * and ? stop at a slash, ** does not. "
        f"{_RUN_WIDE} The command line adds to it.",
        example='exclude = ["third_party/**"]',
        is_run_wide=True,
        merging="own",
        is_added_to=True,
    )
    skip_missing: bool = setting(
        FLAG, False, "Leave out the paths in --files-from that do not exist.", READ, is_rare=True
    )
    allow_no_input: bool = setting(
        FLAG,
        False,
        "Exit with 0 if --files-from lists no file, or every file is excluded.",
        READ,
        is_rare=True,
    )
    stdin_filename: str | None = setting(
        TEXT, None, "The path to report for standard input.", READ, metavar="FILE", is_rare=True
    )
    proto: str | None = setting(
        choice(tuple(KINDS)),
        None,
        "The protobuf message in the files, such as TensorProto.",
        READ,
        metavar="MESSAGE",
        details="By default, onnx-lint recognizes it by the content (docs/documents.md).",
        example='proto = "ModelProto"',
        is_rare=True,
    )
    opset_imports: Mapping[str, int] = setting(
        TEXTS,
        EMPTY,
        "The operator set to assume for files that hold a graph, function or node without a model.",
        READ,
        option="--opset-import",
        metavar="[DOMAIN=]N",
        is_rare=True,
    )
    external_data: bool = setting(
        FLAG, True, "Look at external data files.", READ, option="--no-external-data", details=""
    )
    follow_links: bool = setting(
        FLAG,
        False,
        "Follow links to external data that stay in the model's folder; fix also follows a link to the model.",
        READ,
        details="A link that leads out of the folder is followed only into a folder of external-data-roots. The "
        "tensors behind other links are listed as not verified.",
        is_rare=True,
    )
    external_data_roots: tuple[str, ...] = setting(
        FOLDERS,
        (),
        "Follow links to external data into this folder as well.",
        READ,
        option="--external-data-root",
        metavar="DIR",
        details="Folders, relative to this file, such as the caches of model hubs, DVC, Bazel and Nix. Every file "
        "below them may be read, wherever the link is.",
        example='external-data-roots = ["../hub"]',
        merging="paths",
        is_rare=True,
    )
    verify_checksums: bool = setting(
        FLAG, False, "Compare checksums of external data files above 16 MiB as well.", READ, is_rare=True
    )
    verify_numbers: bool = setting(
        FLAG, False, "Check the numbers in large tensors and data files.", READ, is_rare=True
    )
    limits: Mapping[str, Any] = setting(
        fields({name: _limit(name) for name in LIMIT_NAMES}),
        EMPTY,
        "Set a limit, such as memory=4GiB or findings_per_rule=100.",
        READ,
        option="--limit",
        metavar="NAME=VALUE",
        details="Limits on the size of files, on memory, on time, and on the number of findings: "
        f"{', '.join(LIMIT_NAMES)}. Limits in bytes accept a unit: memory = '4GiB'.",
        example="[limits]\nmemory = '4GiB'",
        merging="table",
        is_added_to=True,
        is_rare=True,
    )

    context: bool = setting(
        FLAG,
        True,
        "Print the lines of the model around a finding.",
        REPORTS,
        option="--no-context",
        details=f"In the text report, the HTML page and SARIF. {_RUN_WIDE}",
        is_run_wide=True,
        is_rare=True,
    )
    statistics: bool = setting(FLAG, False, "Print tables of operators, rules and producers.", REPORTS)
    sarif_root: str | None = setting(
        FOLDER,
        None,
        "Make paths in SARIF, GitHub and GitLab reports relative to DIR.  [default: the Git repository]",
        REPORTS,
        metavar="DIR",
        is_rare=True,
    )

    baseline: str | None = setting(
        PATH,
        None,
        "Do not report findings that this file lists; --write-baseline FILE writes it.",
        COMMON,
        metavar="FILE",
        details="A path, relative to this file.",
        example='baseline = "onnx-lint-baseline.json"',
        merging="path",
    )
    write_baseline: str | None = setting(
        PATH, None, "Write all findings to this file and exit with 0.", BASELINE, metavar="FILE"
    )
    prune_baseline: bool = setting(
        FLAG, False, "Remove findings that no longer occur from the baseline.", BASELINE, is_rare=True
    )
    show_suppressed: bool = setting(FLAG, False, "Also report suppressed findings, marked as such.", BASELINE)

    config: str | None = setting(
        PATH, None, "Use this configuration file instead of the nearest one.", CONFIGURATION, metavar="FILE"
    )
    no_config: bool = setting(FLAG, False, "Ignore configuration files.", CONFIGURATION)
    show_settings: bool = setting(
        FLAG, False, "Print the settings and where each one comes from.", CONFIGURATION, is_rare=True
    )

    policy_files: Mapping[str, str] = EMPTY
    """The file of each entry of the policy."""
    set_aside: tuple[str, ...] = ()
    """The selectors that a configuration ignores and the command line may override."""

    def carried(self, record: type[Record]) -> dict[str, Any]:
        """Return the settings that a record has fields of the same names for."""
        return {name: getattr(self, name) for name in field_names(record) if name in Request.settings}


CHECK: Final = tuple(
    field for field, setting in Request.settings.items() if setting.section and field != "fixed_folder"
)
"""The fields that the options of `check` set; the option for `fixed_folder` belongs to `fix`."""


@cache
def keys() -> Mapping[str, Setting]:
    """Return the settings that are keys of the configuration, by the key."""
    return MappingProxyType({each.key: each for each in Request.settings.values() if each.is_key})


def kinds_by_name() -> Mapping[str, ValueKind]:
    """Return the kind of each key, and of each entry of a policy or suppression, by its own name."""
    return {**_POLICY.fields, **_SUPPRESSION.fields, **{name: key.kind for name, key in keys().items()}}
