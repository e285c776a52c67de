# SPDX-License-Identifier: Apache-2.0
"""The public functions: lint and fix a model from Python."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Mapping
from html import escape
from typing import TYPE_CHECKING, Any, Final, Literal, Never, Protocol, TypedDict

from onnx_lint.cli import exit_codes
from onnx_lint.cli.baselines import Baselines
from onnx_lint.cli.plan import Plan
from onnx_lint.common.record import Record, field_names, replace
from onnx_lint.configuration.errors import RunError
from onnx_lint.configuration.python_values import request_fields
from onnx_lint.configuration.settings import Request
from onnx_lint.engine.lint import LintOptions, lint_source, opened
from onnx_lint.engine.registry import registry
from onnx_lint.engine.selection import report_of
from onnx_lint.engine.settings import Settings as EngineSettings
from onnx_lint.input.locations import IN_MEMORY, file_name_of, has_folder, shown_location
from onnx_lint.input.source import BytesSource, Source, SourceError
from onnx_lint.ir.documents.kinds import KINDS
from onnx_lint.report import Context
from onnx_lint.report.findings import Diagnostic
from onnx_lint.report.totals import Report as RunReport
from onnx_lint.report.verdict import verdict_lines
from onnx_lint.reporters import Options, write_report
from onnx_lint.spec.clauses import Severity
from onnx_lint.wording import suggestion

if TYPE_CHECKING:
    from onnx_lint.fixing.files import FixOptions
    from onnx_lint.input.patched_source import PatchedSource
    from onnx_lint.report.file_report import FileReport

ACCEPTED_MODELS: Final = (
    "a path, bytes, a buffer, or a message such as onnx.ModelProto (ONNXProgram.model_proto of torch.onnx)"
)


class SerializableModel(Protocol):
    """A model in memory, such as `onnx.ModelProto`."""

    def SerializeToString(self) -> bytes:  # noqa: N802 - the name that Protocol Buffers gives it
        """Return the model in binary form."""


Lintable = str | os.PathLike[str] | bytes | bytearray | memoryview | SerializableModel
"""The types that are accepted."""


Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
Edition = Literal["1.9", "1.16", "1.21", "1.23"]
Level = Literal["error", "warning", "note"]
Gate = Literal["error", "warning", "note", "never"]


class Report(RunReport):
    """The result of `lint` and `fix`. As text it is the report that the command line prints."""

    fail_on: str = "error"
    """The lowest severity that fails a model, or `never`: of the keyword, the setting or the configuration."""
    fixed_model: bytes | None = None
    """The bytes that `fix` made of a model in memory, in its form; None for a path, or if that failed."""

    @property
    def passes(self) -> bool:
        """True if the command line would exit with 0: everything was judged, and no new finding fails the run."""
        return exit_codes.of_report(self, self.fail_on) == exit_codes.CLEAN

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The diagnostics with severity error, in order."""
        return tuple(found for found in self.diagnostics if found.severity is Severity.ERROR)

    def of_rule(self, rule: str) -> tuple[Diagnostic, ...]:
        """Return the diagnostics of one rule, in order. Raises ValueError if there is no such rule."""
        if rule not in registry():
            raise ValueError(f"unknown rule {rule!r}{suggestion(rule, registry())}")
        return tuple(found for found in self.diagnostics if found.rule == rule)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the verdict. `print` shows the findings."""
        return f"<p>onnx-lint: {'<br>'.join(map(escape, verdict_lines(self)))}</p>"

    def __str__(self) -> str:
        """Return the text report, without colours."""
        stream = io.StringIO()
        write_report("text", self, stream, Options(shows_reasons=True))
        return stream.getvalue().rstrip("\n")


class Settings(TypedDict, total=False):
    """The settings of a check, by the names of the options of the command line. Those that are left out have defaults.

    A list may be one string, as on the command line: `"a,b"` for names, `"vision.json"` for paths. A table may be a
    string of pairs: `"memory=4GiB"`.
    """

    select: str | Iterable[str]
    """Rule ids, chapters, severities or `ALL`: the only rules to run."""
    extend_select: str | Iterable[str]
    """Rules to run as well."""
    ignore: str | Iterable[str]
    """Rules to skip."""
    pedantic: bool
    """Whether to report also faults that nearly every real model has."""
    severity: str | Mapping[str, Level]
    """The severities by rule id."""
    options: Mapping[str, Mapping[str, Any]]
    """The options of rules by rule id."""
    target: str | Iterable[str]
    """The programs that must load the model: `onnx`, `onnx.full_check`, or releases such as `onnxruntime=1.32`."""
    target_gate: Literal["refused", "violations", "unproven"]
    """Which result of a program of `target` fails the model (docs/targets.md)."""
    edition: Edition
    """The edition of the specification."""
    opset_schemas: Paths
    """Schema files, each with the operators of a further domain."""
    plugins: Paths
    """Python files with further rules."""
    external_data: bool
    """Whether to look at external data files, in the folder of the path or of `filename`."""
    follow_links: bool
    """Whether to follow links to external data files inside the folder of the model; by `fix` also a link to the model.
    """
    external_data_roots: Paths
    """Further folders into which to follow links to external data files."""
    verify_checksums: bool
    """Whether to compare checksums of external data files above 16 MiB as well."""
    verify_numbers: bool
    """Whether to search large tensors, and those in other files, for NaN."""
    limits: str | Mapping[str, int | str]
    """The values of limits by name, in place of the defaults of `onnx_lint.input.limits.Limits`."""
    proto: str | None
    """The message that is given, such as `TensorProto`; None to recognize it by the class or by the content."""
    opset_imports: int | str | Mapping[str, int] | None
    """The operator set versions to assume for a graph, function or node without a model: that of `ai.onnx`, or by
    domain."""
    baseline: str | os.PathLike[str] | None
    """The file of known findings, which are then in `Report.suppressed`."""
    fail_on: Gate
    """The lowest severity that fails the model."""


def lint(
    model: Lintable,
    settings: Settings | None = None,
    *,
    select: str | Iterable[str] | None = None,
    ignore: str | Iterable[str] | None = None,
    target: str | Iterable[str] | None = None,
    baseline: str | os.PathLike[str] | None = None,
    fail_on: Gate | None = None,
    config: str | os.PathLike[str] | bool = False,
    filename: str | os.PathLike[str] | None = None,
    **others: Never,  # for an error that says more than Python's
) -> Report:
    """Lint one model and return the report.

    - `model`: a path, the address of a remote model (with the extra `remote`), the bytes of a model in any form, or
      a message such as `onnx.ModelProto`, which may be any of the messages that the setting `proto` names.
    - `settings`: what else the command line takes, such as `Settings(severity={"cycle": "warning"})`. `select`,
      `ignore`, `target`, `baseline` and `fail_on` are settings as well; a keyword other than None replaces the entry.
    - `config`: a configuration file, or True for the one that the command line would find near the model. A setting
      that is given overrides it, also with the default value.
    - `filename`: the path of a model in memory. The report shows it, patterns for paths and `config=True` use it, and
      external data is looked for in its folder.

    A model that breaks the specification, or bytes that are not a model, result in diagnostics and never in an
    exception. The exceptions:

    - TypeError: an object that is none of the above, a setting of another type, or a setting as a keyword (the message
      says what to write).
    - OSError: a path that cannot be opened (FileNotFoundError if there is none), a schema file that cannot be read, or
      a root that is not a directory.
    - ValueError: an unknown edition, rule, option, limit or target, a faulty schema file, configuration or baseline, or
      a selection without rules.
    """
    _check_no_others(others)
    keywords = {"select": select, "ignore": ignore, "target": target, "baseline": baseline, "fail_on": fail_on}
    return _report(_given_model(model, filename), _joined(settings, keywords), config)


def fix(
    model: Lintable | None = None,
    settings: Settings | None = None,
    *,
    unsafe: bool = False,
    folder: str | os.PathLike[str] | None = None,
    select: str | Iterable[str] | None = None,
    ignore: str | Iterable[str] | None = None,
    config: str | os.PathLike[str] | bool = False,
    filename: str | os.PathLike[str] | None = None,
    path: Lintable | None = None,
    **others: Never,
) -> Report:
    """Make all possible fixes in a model, and return the report on the fixed model.

    `model`: the path of the file to replace, or a model in memory of any kind that `lint` takes. Such a model stays as
    it is, and `Report.fixed_model` has the bytes of the fixed one. `path`: deprecated, use `model`.

    `Report.files[0].repair` says what was fixed, and in `problem` why the file could not be replaced, if it could not.
    `unsafe`: whether to make unsafe fixes too. `folder`: the folder for the fixed file of a path, with its external
    data; None to replace the file. The other arguments and the exceptions are those of `lint`; ValueError also
    for a model in memory with a folder. `target`, `baseline` and `fail_on` are entries of `settings` only.
    """
    from onnx_lint.fixing.files import FixOptions

    _check_no_others(others)
    if (model is None) == (path is None):
        raise TypeError(f"fix takes one model; onnx-lint accepts {ACCEPTED_MODELS}")
    to_fix = _given_model(path if model is None else model, filename)
    output_path: str | None = None
    if folder is not None:
        if to_fix.path is None:
            raise ValueError("folder is for a model that is given as a path; a model in memory is not written")
        output_path = os.path.join(_text_path(folder, "folder"), file_name_of(to_fix.path))
    given = _joined(settings, {"select": select, "ignore": ignore})
    return _report(to_fix, given, config, FixOptions(unsafe, output_path=output_path))


def _check_no_others(others: Mapping[str, object]) -> None:
    """Raise TypeError for a keyword argument that does not exist, and say what to write in place of a setting."""
    name = next(iter(others), None)
    if name is None:
        return
    if name in Settings.__annotations__:
        raise TypeError(f"{name!r} is a setting: write Settings({name}=...) as the second argument")
    raise TypeError(f"unexpected keyword argument {name!r}{suggestion(name, Settings.__annotations__)}")


def _joined(settings: Settings | None, keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings with the keywords that are not None. Raises TypeError for a name that is no setting."""
    if not isinstance(settings, (Mapping, type(None))):
        raise TypeError(f"settings are a Settings(...) or another mapping, not {type(settings).__name__}")
    given = {
        **(settings or {}),
        **{name: value for name, value in keywords.items() if value is not None},
    }
    for name in given:
        if name not in Settings.__annotations__:
            raise TypeError(f"there is no setting {name!r}{suggestion(name, Settings.__annotations__)}")
    return given


class _GivenModel(Record):
    """A model as the caller gave it."""

    model: Any
    path: str | None
    """The path that was given; None for a model in memory."""
    name: str
    """The path in the report."""


def _given_model(model: Any, filename: str | os.PathLike[str] | None) -> _GivenModel:
    """Return the model with its name for the report. Raises TypeError for a path that is no text."""
    path = os.fspath(model) if isinstance(model, (str, os.PathLike)) else None
    if not isinstance(path, (str, type(None))):
        raise TypeError(f"a path must be text, not {type(path).__name__}; onnx-lint accepts {ACCEPTED_MODELS}")
    if filename is not None:
        return _GivenModel(model, path, _text_path(filename, "filename"))
    return _GivenModel(model, path, IN_MEMORY if path is None else shown_location(path))


def _text_path(given: object, argument: str, *, accepted: str = "a path") -> str:
    """Return the path that was given for an argument, as text. Raises TypeError for any other object."""
    path = os.fspath(given) if isinstance(given, (str, os.PathLike)) else given
    if not isinstance(path, str):
        raise TypeError(f"{argument} takes {accepted}, not {given!r:.100} ({type(given).__name__})")
    return path


def _report(
    given: _GivenModel,
    settings_by_name: Mapping[str, Any],
    config: str | os.PathLike[str] | bool,
    fix_options: FixOptions | None = None,
) -> Report:
    """Return the report on a model; after it was fixed, if `fix_options` is given."""
    fields = request_fields(settings_by_name)
    fixed_model: bytes | None = None
    try:
        plan = Plan(_request(given.name, fields, config), is_library=True)
        context = Context(plan.request_of_run().context)
        settings = plan.settings_for(given.name)
        if settings.proto is None and given.path is None:
            settings = replace(settings, proto=_kind(given.model))
        source = _source(given, settings)
        if fix_options is None:
            options = LintOptions(is_file=has_folder(given.name), context=context)
            file = lint_source(source, given.name, settings, options)
        else:
            fixed = _fixed(source, given, settings, fix_options, context)
            file, fixed_model = fixed.report, fixed.model
        report = _compared_with_baseline(file, plan, given.name, settings)
    except RunError as error:
        raise _public_error(error, fields) from None
    facts = {field: getattr(report, field) for field in field_names(RunReport)}
    return Report(**facts, fail_on=plan.request_for(given.name).fail_on, fixed_model=fixed_model)


def _compared_with_baseline(file: FileReport, plan: Plan, name: str, settings: EngineSettings) -> RunReport:
    """Return the report of a run over one file, without the findings that the baseline lists, if there is one."""
    report = report_of([file], settings)
    if not plan.configurations_of([name]).have_baseline:
        return report
    baselines = Baselines(plan, [name], report.rules)
    return replace(report, files=(baselines.apply(file),), stale=baselines.finish())


def _public_error(error: RunError, fields: Mapping[str, Any]) -> OSError | ValueError:
    """Return the exception that callers get for an error of the run. `fields`: the settings that were given."""
    cause = error if isinstance(error, ValueError) else error.__cause__
    if isinstance(cause, OSError):
        return _with_setting(cause, fields)
    return cause if isinstance(cause, ValueError) else ValueError(str(error))


class _FixedModel(Record):
    """The report after fixing, and the fixed model."""

    report: FileReport
    model: bytes | None
    """The bytes that a model in memory has now; None for a path, or if fixing failed."""


def _fixed(
    source: Source, given: _GivenModel, settings: EngineSettings, fix_options: FixOptions, context: Context
) -> _FixedModel:
    """Fix the model, and return the result."""
    from onnx_lint.fixing.files import FileToFix, fix_source

    results: list[bytes] = []

    def receive(result: PatchedSource) -> None:
        results.append(result.read_at(0, result.size))

    file = FileToFix(
        destination=receive if given.path is None else given.path,
        name=given.name,
        settings=settings,
        fix_options=fix_options,
        context=context,
    )
    report = fix_source(source, file)
    return _FixedModel(report, results[0] if results else None)


def _with_setting(error: OSError, fields: Mapping[str, Any]) -> OSError:
    """Return the error; if the failing path was given in a setting, with the name of that setting."""
    for name in ("opset_schemas", "external_data_roots"):
        if error.filename in fields.get(name, ()):
            return OSError(error.errno, f"{name}: {error.strerror}", error.filename)
    return error


def _request(name: str, fields: Mapping[str, Any], config: str | os.PathLike[str] | bool) -> Request:
    """Return the request that the command line would make of the arguments. Every setting in `fields` is given."""
    file = None if isinstance(config, bool) else _text_path(config, "config", accepted="a path, True or False")
    return Request((name,), frozenset(fields), **fields, config=file, no_config=file is None and not config)


def _source(given: _GivenModel, settings: EngineSettings) -> Source:
    """Return the source of a model. Raises OSError if its path cannot be opened, and TypeError for another object."""
    if given.path is None:
        return _source_of_object(given.model)
    try:
        return opened(given.path, settings)
    except SourceError as error:
        if isinstance(error.__cause__, OSError):
            raise error.__cause__ from None
        raise (error if isinstance(error, OSError) else OSError(str(error))) from None


def _source_of_object(model: Any) -> Source:
    """Return the source of a model in memory. Raises TypeError for any other object."""
    if isinstance(model, (bytes, bytearray, memoryview)):
        return BytesSource(bytes(model))
    if not callable(getattr(model, "SerializeToString", None)) or isinstance(model, type):
        raise TypeError(f"a model cannot be {type(model).__name__}; onnx-lint accepts {ACCEPTED_MODELS}")
    data: bytes = model.SerializeToString()
    return BytesSource(data)


def _kind(model: Any) -> str | None:
    """Return the name of the ONNX message that the object is, if it is one."""
    package, _, name = getattr(getattr(model, "DESCRIPTOR", None), "full_name", "").rpartition(".")
    return name if package == "onnx" and name in KINDS else None
