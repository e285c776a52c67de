# SPDX-License-Identifier: Apache-2.0
"""The library's face: lint a model from Python."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from onnx_lint.engine import lint_file, lint_source, report_of
from onnx_lint.limits import DEFAULT_LIMITS
from onnx_lint.model.documents.kinds import KINDS
from onnx_lint.report import Report
from onnx_lint.selection import check_selection
from onnx_lint.settings import Settings
from onnx_lint.source import BytesSource
from onnx_lint.spec.releases import normalized_domain
from onnx_lint.spec.standard import DEFAULT_STANDARD, Standard
from onnx_lint.spec.target import Target


class SerializableModel(Protocol):
    """A model in memory, such as `onnx.ModelProto`."""

    def SerializeToString(self) -> bytes:  # noqa: N802 - the name that Protocol Buffers gives it
        """Return the model in binary form."""


def lint(
    model: str | os.PathLike[str] | bytes | SerializableModel,
    *,
    edition: str = DEFAULT_STANDARD.edition,
    variant: str = DEFAULT_STANDARD.variant,
    select: str | Sequence[str] = (),
    ignore: str | Sequence[str] = (),
    pedantic: bool = False,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    external_data: bool = True,
    follow_links: bool = False,
    external_data_roots: Sequence[str | os.PathLike[str]] = (),
    opset_schemas: Sequence[str | os.PathLike[str]] = (),
    limits: Mapping[str, int] | None = None,
    target_ir: int | None = None,
    consumers: Sequence[str] = (),
    proto: str | None = None,
    target_opset: Mapping[str, int] | None = None,
    opset_imports: Mapping[str, int] | None = None,
) -> Report:
    """Lint one model and return the report.

    `model`: a path, the bytes of a model in any of its forms, or a message such as `onnx.ModelProto`, which may be any
    of the messages that `proto` names. `edition`,
    `variant`: the text to hold it against. `select`, `ignore`: rule ids, chapters or keywords. `options`: options of
    rules by rule id. `external_data`: whether to look up the data files of a model that is given as a path.
    `follow_links`, `external_data_roots`: whether links to such files are followed inside the folder of the model, and
    further folders into which they are followed.
    `opset_schemas`: schema files, which describe the operators of further domains. `limits`: values of limits by
    name, in place of the defaults of `onnx_lint.limits.Limits`. `target_ir`, `target_opset`: the newest IR version and,
    by domain, the newest operator set versions that the consumer of the model knows. `consumers`: `onnx.checker`,
    `onnxruntime`: what they are known to refuse is an error. No configuration file is read.
    `proto`: the message that is given, such as `TensorProto`; None to tell by the class of a message, or else by the
    content. `opset_imports`: the operator set versions, by domain, that a GraphProto or NodeProto is meant for; other
    files say so themselves.

    A model that breaks the specification, or bytes that are no model, give diagnostics and never an exception; a
    path that cannot be read gives a report whose file says so in `unreadable`. Raises ValueError for an unknown
    edition, variant, rule, option, limit or target and for a faulty schema file, OSError for a schema file that cannot
    be read and for a root that is no directory; ValueError as well for a selection that leaves no rule.
    """
    settings = Settings(
        standard=Standard(edition, variant),
        select=_names(select),
        ignore=_names(ignore),
        pedantic=pedantic,
        options=options or {},
        external_data=external_data,
        follow_links=follow_links,
        external_data_roots=tuple(os.fspath(folder) for folder in external_data_roots),
        opset_schemas=tuple(os.fspath(path) for path in opset_schemas),
        limits=DEFAULT_LIMITS.with_values(limits or {}),
        target=Target(
            target_ir,
            {normalized_domain(domain): n for domain, n in (target_opset or {}).items()},
            _names(consumers),
        ),
        proto=_kind(model) if proto is None else proto,
        opset_imports={normalized_domain(domain): n for domain, n in (opset_imports or {}).items()},
    )
    check_selection(settings)
    if isinstance(model, (str, os.PathLike)):
        file = lint_file(os.fspath(model), settings)
    else:
        data = model if isinstance(model, bytes) else model.SerializeToString()
        file = lint_source(BytesSource(data), "<memory>", settings)
    return report_of([file], settings)


def _kind(model: Any) -> str | None:
    """The message of ONNX that the object is, if it says so."""
    package, _, name = getattr(getattr(model, "DESCRIPTOR", None), "full_name", "").rpartition(".")
    return name if package == "onnx" and name in KINDS else None


def _names(given: str | Sequence[str]) -> tuple[str, ...]:
    """The names; a string is taken as the command line takes it, separated by commas."""
    if isinstance(given, str):
        return tuple(name.strip() for name in given.split(",") if name.strip())
    return tuple(given)
