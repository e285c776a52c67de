# SPDX-License-Identifier: Apache-2.0
"""What the command line and the configuration files come to, for each file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import click
from click.core import ParameterSource

from onnx_lint.cli.option_values import (
    file_ignores_of,
    limits_of,
    names_of,
    opset_versions_of,
    severities_of,
)
from onnx_lint.configuration.discovery import Configurations
from onnx_lint.record import Record, replace

if TYPE_CHECKING:
    from onnx_lint.configuration.values import Values
    from onnx_lint.limits import Limits
    from onnx_lint.report import Diagnostic, FileReport
    from onnx_lint.settings import Settings
    from onnx_lint.spec.target import Target

WITH_BASELINE: Final = {"findings_per_rule": 100_000, "findings": 1_000_000}
"""The limits on findings where a baseline is held against them: a limit would let the next finding in as a new one."""


class Choices(Record):
    """How one file is linted and judged."""

    settings: Settings
    fail_on: str
    baseline: str | None
    """The path of the baseline."""

    def fails(self, diagnostics: Iterable[Diagnostic]) -> bool:
        """Whether any of the diagnostics is bad enough to fail the run."""
        from onnx_lint.spec.clauses import Severity

        if self.fail_on == "never":
            return False
        least = Severity.of(self.fail_on)
        return any(diagnostic.severity >= least for diagnostic in diagnostics)


class Plan:
    """Tells the choices for each file. Every configuration file is read once."""

    def __init__(self, ctx: click.Context, options: Mapping[str, Any]) -> None:
        self.options: Mapping[str, Any] = {
            **options,
            "per_file_ignores": file_ignores_of(options["per_file_ignores"]),
            "rule_options": {},
            "set_aside": (),
        }
        self.sources = {name: ctx.get_parameter_source(name) for name in options}
        """Where each option of the command line comes from."""
        _check_baseline_options(options)
        self._configurations = Configurations()
        self._fixed, self._pairs = _given(options)
        self._discovers = self._fixed is None and not options["no_config"]
        self._merged: dict[int, Mapping[str, Any]] = {}
        self._effective: dict[int, Values | None] = {}
        self._choices: dict[tuple[int, tuple[str, ...]], Choices] = {}

    @property
    def explicit(self) -> frozenset[str]:
        """The options that the command line or the environment give."""
        said = (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT, ParameterSource.PROMPT)
        return frozenset(name for name, source in self.sources.items() if source in said)

    def of(self, path: str) -> Choices:
        """The choices for the file at `path`; raises ClickException for a configuration that cannot be used."""
        values = self.values_of(path)
        merged = self._merged_with(values)
        ignores = _ignores(merged["per_file_ignores"], path)
        key = (id(values), ignores)
        if key not in self._choices:
            self._choices[key] = _choices(merged, ignores)
        return self._choices[key]

    @property
    def has_baseline(self) -> bool:
        """Whether the run writes a baseline, or any file that was asked about so far has one."""
        written = self.options["write_baseline"] is not None or self.options["prune_baseline"]
        return written or any(choices.baseline is not None for choices in self._choices.values())

    def of_run(self) -> Mapping[str, Any]:
        """The options for the run as a whole, for which the configuration of the working directory counts."""
        return self._merged_with(self.values_of("-"))

    def values_of(self, path: str) -> Values | None:
        """The values that configuration files and `--config` have for `path`; None where there are none."""
        with usable():
            found = self._fixed
            if self._discovers:
                directory = "" if path == "-" else os.path.dirname(path)
                found = self._configurations.nearest(os.path.abspath(directory))
            if not self._pairs:
                return found
            # One object for each configuration, so that its id can be a key.
            return self._effective.setdefault(id(found), {**(found or {}), **self._pairs})

    def _merged_with(self, values: Values | None) -> Mapping[str, Any]:
        if values is None:
            return self.options
        if id(values) not in self._merged:
            from onnx_lint.cli.merge_configuration import merged

            with usable():
                self._merged[id(values)] = merged(self.options, self.explicit, values)
        return self._merged[id(values)]


def told_apart(files: Sequence[FileReport], settings: Sequence[Settings]) -> Iterator[FileReport]:
    """The reports of files, each under its own settings; where these differ from the first, the report says so."""
    for file, own in zip(files, settings, strict=True):
        if own is settings[0]:
            yield file
        else:
            from onnx_lint.selection import selected_rules

            standard = own.standard
            yield replace(file, edition=standard.edition, variant=standard.variant, rules=selected_rules(own))


class usable:  # noqa: N801 - used like a function, and contextlib.contextmanager would cost twice as much a file
    """Turns a configuration that cannot be used into an error of the command line."""

    def __enter__(self) -> None:
        """Nothing to do."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        """Raise ClickException in place of ConfigurationError."""
        if error is None or not isinstance(error, ValueError):
            return
        from onnx_lint.configuration.values import ConfigurationError
        from onnx_lint.reporters.escape import visible

        if isinstance(error, ConfigurationError):
            raise click.ClickException(visible(str(error))) from error


def _check_baseline_options(options: Mapping[str, Any]) -> None:
    if options["write_baseline"] is not None:
        for name in ("baseline", "prune_baseline"):
            if options[name]:
                raise click.UsageError(f"--write-baseline and --{name.replace('_', '-')} do not go together")


def _given(options: Mapping[str, Any]) -> tuple[Values | None, Values]:
    """The file and the pairs that `--config` gives."""
    if not options["config"]:
        return None, {}
    from onnx_lint.configuration.files import parse_pair, read_file

    file: Values | None = None
    pairs: Values = {}
    with usable():
        for text in options["config"]:
            if "=" in text and not os.path.lexists(text):
                pairs = {**pairs, **parse_pair(text)}
            elif file is not None:
                raise click.UsageError("--config names two files")
            elif options["no_config"]:
                raise click.UsageError("--config names a file and --no-config wants none")
            else:
                file = read_file(text)
    return file, pairs


def _ignores(patterns: tuple[tuple[str, str, tuple[str, ...]], ...], path: str) -> tuple[str, ...]:
    if not patterns:
        return ()
    from onnx_lint.configuration.globs import matches

    return tuple(name for directory, pattern, names in patterns if matches(pattern, path, directory) for name in names)


def _choices(options: Mapping[str, Any], ignores: tuple[str, ...]) -> Choices:
    settings = _settings(options, ignores)
    _check_selection(settings, options, ignores)
    return Choices(
        settings,
        "never" if options["exit_zero"] else options["fail_on"],
        options["baseline"],
    )


def _turned_on_by(flag: str) -> Iterator[tuple[str, str]]:
    """The rules for which the option of the command line stands, each with the name of its own option."""
    from onnx_lint.registry import registry

    yield from ((entry.id, entry.flag[1]) for entry in registry().values() if entry.flag and entry.flag[0] == flag)


def _settings(options: Mapping[str, Any], ignores: tuple[str, ...]) -> Settings:
    from onnx_lint.settings import SelectionError, Settings, selectors
    from onnx_lint.spec.operators import SchemaFileError
    from onnx_lint.spec.standard import Standard

    severities, off = severities_of(options["severities"])
    named = any(options[name] for name in ("select", "extend_select", "ignore", "set_aside")) or ignores
    known = selectors() if named else set()
    rule_options = {rule: dict(given) for rule, given in options["rule_options"].items()}
    if options["verify_checksums"]:
        for rule, option in _turned_on_by("--verify-checksums"):
            rule_options[rule] = {**rule_options.get(rule, {}), option: True}
    try:
        return Settings(
            Standard(options["edition"], options["variant"]),
            select=names_of(options["select"], known),
            ignore=(*names_of(options["ignore"], known), *names_of(ignores, known), *off),
            pedantic=options["pedantic"],
            external_data=options["external_data"],
            extend_select=names_of(options["extend_select"], known),
            severities=severities,
            options=rule_options,
            limits=_limits(options),
            set_aside=names_of(options["set_aside"], known),
            target=_target(options),
            opset_schemas=options["opset_schemas"],
            proto=options["proto"],
            opset_imports=opset_versions_of(options["opset_imports"], "--opset-import"),
            timings=options["timings"],
        )
    except SelectionError as error:
        raise click.UsageError(str(error)) from error
    except (SchemaFileError, OSError) as error:
        from onnx_lint.reporters.escape import visible

        message = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else str(error)
        raise click.ClickException(visible(message)) from error
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def _check_selection(settings: Settings, options: Mapping[str, Any], ignores: tuple[str, ...]) -> None:
    """Raise UsageError for a selection with no rule in it; what a pattern for some files ignores may be everything."""
    from onnx_lint.selection import check_selection
    from onnx_lint.settings import SelectionError

    if options["select"] and not settings.select:
        raise click.UsageError("--select names no rule")
    if ignores:
        return
    try:
        check_selection(settings)
    except SelectionError as error:
        raise click.UsageError(str(error)) from error


def _limits(options: Mapping[str, Any]) -> Limits:
    limits = limits_of(options["limits"])
    if options["baseline"] is None and options["write_baseline"] is None:
        return limits
    given = {pair.partition("=")[0].strip() for text in options["limits"] for pair in text.split(",")}
    return replace(limits, **{name: most for name, most in WITH_BASELINE.items() if name not in given})


def _target(options: Mapping[str, Any]) -> Target:
    from onnx_lint.spec.target import Target

    try:
        return Target(options["target_ir"], opset_versions_of(options["target_opsets"]))
    except ValueError as error:
        raise click.UsageError(str(error)) from error
