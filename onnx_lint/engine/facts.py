# SPDX-License-Identifier: Apache-2.0
"""What a report says of a file apart from findings: what it is, and what of it was not judged."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from onnx_lint.engine.settings import Settings
from onnx_lint.ir.documents.kinds import MODEL, OF_MODELS
from onnx_lint.model import Model
from onnx_lint.report import Facts, Shapes
from onnx_lint.wording import MAX_MESSAGE, MAX_NAME, quote, report_name, without_middle

_MAX_UNREAD: Final = 100
"""Of the data files whose checksums were not verified so many are told."""
_FOLLOWING: Final = " (options --follow-links and --external-data-root)"
_MAX_DOMAINS: Final = 1_000
"""Of the domains that a model imports or uses so many are told, apart from the findings."""


def facts_of(model: Model) -> Facts | None:
    """What a model is; None for what is none."""
    if not model.loaded or model.kind != MODEL:
        return None
    proto = model.proto
    return Facts(
        ir_version=model.ir_version,
        opset_imports=tuple((report_name(entry.domain), entry.version) for entry in proto.opset_import[:_MAX_DOMAINS]),
        producer=report_name(f"{proto.producer_name} {proto.producer_version}".strip()),
        nodes=sum([len(graph.forms) for graph in model.graphs]),
        graphs=sum([not graph.is_function for graph in model.graphs]),
        functions=len(model.functions),
    )


def document_of(model: Model) -> tuple[tuple[str, str | int], ...]:
    """What a document is that is no model; nothing for a model."""
    if not model.loaded or model.kind == MODEL:
        return ()
    from onnx_lint.ir.documents.facts import document_facts  # late, as most files are models

    return tuple(
        (name, without_middle(fact, MAX_NAME) if isinstance(fact, str) else fact)
        for name, fact in document_facts(model.document).items()
    )


def nodes_not_verified(model: Model) -> tuple[tuple[str, int], ...]:
    """How many nodes of each domain no signature is known for."""
    found = model.operators.not_verified().items()
    return tuple((report_name(domain), nodes) for domain, nodes in islice(found, _MAX_DOMAINS))


def shapes_of(model: Model) -> Shapes | None:
    """How far the shapes of values are known; None where no rule has asked for them, as that is not free."""
    known = model.shape_knowledge
    if known is None:
        return None
    causes = [(kind, report_name(name), values) for (kind, name), values in known.causes]
    return Shapes(known.values, known.unknown, tuple(causes))


def why_not_judged(model: Model) -> str | None:
    """Why nothing was judged: what is in the file is none of the documents, or it goes beyond a limit."""
    if model.loaded:
        return None
    # A limit is what the loader came upon last.
    return (
        without_middle(model.faults[-1].message, MAX_MESSAGE)
        if model.faults
        else f"{model.describe()} could not be read"
    )


def left_out(model: Model, settings: Settings) -> Iterator[str]:
    """What was left out though the document was judged."""
    if model.loaded and model.directory is None and any(data.is_external for data in model.external_data):
        why = (
            ", as asked for" if not settings.external_data else f": {model.describe()} has no place in the file system"
        )
        yield f"the files of external data were not examined{why}"
    if model.loaded and model.directory is not None:
        linked = {data.location: data.file for data in model.external_data if data.file is not None}
        untouched = ((name, file) for name, file in linked.items() if file.state.name == "LINKED")
        for location, file in islice(untouched, _MAX_UNREAD):
            yield f"the external data {quote(location)} was not examined: {file.detail}{_FOLLOWING}"
        unseen = ((name, file) for name, file in linked.items() if file.state.name == "UNKNOWN")
        for location, file in islice(unseen, _MAX_UNREAD):
            yield f"the external data {quote(location)} was not examined: {file.detail}"
        if model.external_data and model.data_folder is not None:
            for location, reason in islice(model.data_folder.unread.items(), _MAX_UNREAD):
                yield f"the contents of {quote(location)} were not verified: {reason}"
    if model.loaded and model.external_data and model.digests is not None:
        for location, reason in islice(model.digests.unread.items(), _MAX_UNREAD):
            yield f"the checksum of {quote(location)} was not verified: {reason}"
    if model.kind in OF_MODELS and not settings.opset_imports and model.operators.not_verified():
        yield "the operators were not looked up: a file of its kind imports no operator set (option --opset-import)"
