# SPDX-License-Identifier: Apache-2.0
"""The operators that a release of a product refuses."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from onnx_lint.common.record import replace
from onnx_lint.model import Model, Node
from onnx_lint.refusals.causes import CauseKind, Refusal, RefusalCause, RefusalCondition
from onnx_lint.spec.products import ProductRelease


def refused_operators(model: Model, release: ProductRelease) -> Iterator[Refusal]:
    """Yield the nodes that a release refuses, and those with which each run fails: once for each cause, by its rank."""
    refused: dict[RefusalCause, list[Node]] = {}
    for each in _refusals(model, release):
        if each.condition is RefusalCondition.ALWAYS:
            refused.setdefault(each.cause, []).extend(each.nodes)
            continue
        for node in each.nodes:
            cause = each.cause if _is_met(each.condition, model, node) else _unless_removed(each.cause, release)
            refused.setdefault(cause, []).append(node)
    if release.has_kernels:
        from onnx_lint.refusals.onnxruntime.runs import failing_runs_of

        for each in failing_runs_of(model, release, {*chain.from_iterable(refused.values())}):
            refused.setdefault(each.cause, []).extend(each.nodes)
    for cause in sorted(refused, key=lambda cause: cause.kind.rank):
        yield Refusal(cause, refused[cause])


def _refusals(model: Model, release: ProductRelease) -> Iterator[Refusal]:
    if release.has_kernels:
        from onnx_lint.refusals.onnxruntime.nodes import refused_by_onnxruntime

        return refused_by_onnxruntime(model, release)
    from onnx_lint.refusals.converters import refused_by_converter

    return refused_by_converter(model, release)


def _is_met(condition: RefusalCondition, model: Model, node: Node) -> bool:
    """Return whether a condition is surely met: the release removes neither the node nor its branch."""
    kept = model.kept_nodes
    return kept.is_in_no_dropped_branch(node) if condition is RefusalCondition.BRANCH_IS_KEPT else kept.is_kept(node)


def _unless_removed(cause: RefusalCause, release: ProductRelease) -> RefusalCause:
    """Return the cause for nodes that the release may remove before it refuses them."""
    step = "it looks for kernels" if release.has_kernels else "it converts the others"
    what = f"{cause.what}, unless it removes the node before {step}"
    return replace(cause, kind=CauseKind.REFUSED_UNLESS_REMOVED, what=what)
