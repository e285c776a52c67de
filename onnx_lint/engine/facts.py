# SPDX-License-Identifier: Apache-2.0
"""The facts about a file in a report besides findings: a description, and what was not judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Final

from onnx_lint.engine.settings import Settings
from onnx_lint.ir.documents.kinds import MODEL_KIND, OF_MODELS
from onnx_lint.model import Model
from onnx_lint.model.model import has_inferred_shapes
from onnx_lint.report.file_report import FileFacts, OperatorCount, Shapes, UnknownShapeCause, UnlistedOperator
from onnx_lint.spec.releases import normalized_domain
from onnx_lint.wording import MAX_MESSAGE_CHARACTERS, Suggestions, quote, report_name, shortened

_MAX_UNREAD: Final = 100
"""The most data files to list for each reason why they were not read."""
_FOLLOWING: Final = " (options --follow-links and --external-data-root)"
_FILES: Final = frozenset({"REGULAR", "LINKED", "HARD_LINKED"})
"""The states of locations at which there is a file."""
_MAX_DOMAINS: Final = 1_000
"""The number of imported or used domains to list."""
_MAX_NOT_LISTED: Final = 100
"""The number of unknown operators of known domains to name."""
_MAX_OPERATORS: Final = 1_000
"""The number of operators to count, each with its domain and version."""


def facts_of(model: Model, settings: Settings) -> FileFacts | None:
    """Return the facts about a model, with its operators if a report shows them; None for any other document."""
    if not model.loaded or model.kind != MODEL_KIND:
        return None
    proto = model.proto
    producer = proto.producer_name or ("(no producer name)" if proto.producer_version else "")
    return FileFacts(
        ir_version=model.ir_version,
        opset_imports=tuple((report_name(entry.domain), entry.version) for entry in proto.opset_import[:_MAX_DOMAINS]),
        producer=report_name(f"{producer} {proto.producer_version}".strip()),
        nodes=sum([len(graph.forms) for graph in model.graphs]),
        graphs=sum([not graph.is_function for graph in model.graphs]),
        functions=len(model.functions),
        operators=tuple(_operators_of(model)) if "operators" in settings.parts else (),
    )


def _operators_of(model: Model) -> Iterator[OperatorCount]:
    counts: Counter[tuple[str, int | None, str]] = Counter()
    for graph in model.graphs:
        versions = model.operators.opset_versions(graph)
        for form, count in graph.form_counts.items():
            domain = normalized_domain(form.domain)
            counts[domain, versions.get(domain), form.op_type] += count
    for (domain, version, name), count in counts.most_common()[:_MAX_OPERATORS]:  # most_common(n) would import heapq
        yield OperatorCount(report_name(domain), version, report_name(name), nodes=count)


def nodes_not_verified(model: Model) -> tuple[tuple[str, int], ...]:
    """Return the number of nodes without a known signature, by domain."""
    found = model.operators.not_verified().items()
    return tuple((report_name(domain), nodes) for domain, nodes in islice(found, _MAX_DOMAINS))


def operators_not_listed(model: Model) -> tuple[UnlistedOperator, ...]:
    """Return the first operators that a known domain does not list."""
    suggestions = Suggestions()
    found = islice(model.operators.not_listed().items(), _MAX_NOT_LISTED)
    return tuple(
        UnlistedOperator(report_name(domain), report_name(name), suggestions.nearest(name, listed))
        for (domain, name), listed in found
    )


def shapes_of(model: Model) -> Shapes | None:
    """Return how many shapes are known; None if no rule needed shapes, since inferring them costs time."""
    if not has_inferred_shapes(model):
        return None
    known = model.value_flow.knowledge
    causes = [UnknownShapeCause(kind, report_name(name), values) for (kind, name), values in known.causes]
    return Shapes(known.values, known.unknown, tuple(causes))


def why_not_judged(model: Model) -> str | None:
    """Return why nothing was judged, if the file could not be read as one of the documents; otherwise None."""
    if model.loaded:
        return None
    return (
        shortened(model.faults[-1].message, MAX_MESSAGE_CHARACTERS)
        if model.faults
        else f"{model.describe()} could not be read"
    )


def data_files_of(model: Model, settings: Settings) -> tuple[str, ...]:
    """Return the locations of external data.

    If files are looked up, only those at which there is one: in a document without a folder, none. With the setting
    `external_data` off, all valid ones.
    """
    if not model.loaded or not model.external_data:
        return ()
    if model.directory is None:
        from onnx_lint.ir.tensors.external import location_problem

        names = () if settings.external_data else (data.location for data in model.external_data)
        return tuple(dict.fromkeys(name for name in names if location_problem(name) is None))
    found = {data.location: data.file for data in model.external_data}
    return tuple(name for name, file in found.items() if file is not None and file.state.name in _FILES)


def not_examined(model: Model, settings: Settings) -> Iterator[str]:
    """Yield what was not examined although the document was judged."""
    if model.loaded and model.external_data:
        yield from _data_files_not_examined(model, settings)
    if model.kind in OF_MODELS and not settings.opset_imports and model.operators.not_verified():
        yield "the operators were not looked up: a file of its kind imports no operator set (option --opset-import)"


def _data_files_not_examined(model: Model, settings: Settings) -> Iterator[str]:
    """Yield the files of external data that were not read, or not completely."""
    if model.directory is None:
        if any(data.is_external for data in model.external_data):
            no_folder = f": {model.describe()} has no place in the file system"
            why = no_folder if settings.external_data else ", because external data is switched off"
            yield f"the files of external data were not examined{why}"
    else:
        files = {data.location: data.file for data in model.external_data if data.file is not None}
        for state, following in (("LINKED", _FOLLOWING), ("UNKNOWN", "")):
            untouched = ((name, file) for name, file in files.items() if file.state.name == state)
            for location, file in islice(untouched, _MAX_UNREAD):
                yield f"the external data {quote(location)} was not examined: {file.detail}{following}"
        if model.data_folder is not None:
            for location, reason in islice(model.data_folder.unread.items(), _MAX_UNREAD):
                yield f"the contents of {quote(location)} were not verified: {reason}"
    if model.digests is not None:
        for location, reason in islice(model.digests.unread.items(), _MAX_UNREAD):
            yield f"the checksum of {quote(location)} was not verified: {reason}"
