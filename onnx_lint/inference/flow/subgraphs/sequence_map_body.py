# SPDX-License-Identifier: Apache-2.0
"""The body of a SequenceMap."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from onnx_lint.common.record import replace
from onnx_lint.inference.flow.frames import Walk
from onnx_lint.inference.flow.outcome_memo import as_fact
from onnx_lint.inference.flow.subgraphs.body_runs import BodyRuns
from onnx_lint.inference.flow.subgraphs.pieces import with_content
from onnx_lint.inference.flow.subgraphs.subgraph_node import RepeatedBody, SubgraphOutputs
from onnx_lint.inference.shapes.dims import Dim
from onnx_lint.inference.shapes.fact import Fact, Facts, fact
from onnx_lint.inference.shapes.operands import Inside, OutputShape, count_in, sequence_of, shape_in
from onnx_lint.inference.types.subgraph_types import Types


class SequenceMapBody(RepeatedBody):
    """A SequenceMap: each run of the body gets an element of each sequence, and the other inputs as they are."""

    mapped: tuple[Facts, ...] = ()
    """The outputs of the body for each element; empty if unknown, or if the elements are alike."""

    @property
    def length(self) -> Dim:
        """The number of elements of the first sequence; None if it is unknown."""
        return count_in(self.facts[0]) if self.facts else None

    def supplied_shapes(self) -> Sequence[OutputShape]:
        """Return the shapes of the elements, and of the other inputs."""
        return [shape_in(each.inside or each) for each in self.values]

    def supplied_facts(self, types: Types) -> Facts:
        """Return the facts of the elements, and of the other inputs."""
        elements = [each.inside or each for each in self.values]
        pairs = zip(super().supplied_facts(types), elements, strict=False)
        return tuple([with_content(made, each.content) for made, each in pairs])

    def followed(self, body: BodyRuns) -> Generator[Walk, Facts, SequenceMapBody]:
        """Return the SequenceMap with the outputs of its body for each element, by trying each run."""
        if not body.can_follow_each or not isinstance(self.length, int) or not any(map(_is_listed, self.facts)):
            return self
        found: list[Facts] = []
        for index in range(self.length):
            inputs = self._for_element(index).supplied_facts(body.types)
            run = yield from body.run(inputs)
            if run.has_failed:
                return replace(self, failing=inputs)
            found.append(run.outputs)
        return replace(self, mapped=tuple(found))

    def _for_element(self, index: int) -> SequenceMapBody:
        """Return the inputs in one iteration: an element of each sequence of known element shapes."""
        listed = [fact(each.kind, inside=_element(each, index)) if _is_listed(each) else each for each in self.facts]
        return replace(self, walked=replace(self.walked, inputs=tuple(listed)))

    def output_shapes(self, found: SubgraphOutputs) -> Sequence[OutputShape]:
        """Return the shapes of the sequences of the outputs of each run."""
        if self.mapped:
            return list(map(_sequence_of, zip(*self.mapped, strict=True)))
        outputs = self.outputs_in(found, "body") if self.facts else ()
        return [Inside(shape_in(each), self.length) for each in outputs]


def _is_listed(fact: Fact) -> bool:
    """Return whether a value is a sequence and the shape, or the elements, of each tensor in it is known."""
    return count_in(fact) in {len(each) for each in (fact.elements, fact.parts) if each}


def _element(sequence: Fact, index: int) -> Fact | None:
    if sequence.inside is None:
        return None
    made = as_fact(sequence.inside.kind, sequence.elements[index]) if sequence.elements else sequence.inside
    return with_content(made, sequence.parts[index]) if sequence.parts else made


def _sequence_of(elements: Facts) -> Inside:
    """Return the sequence of these elements."""
    return sequence_of(tuple([each.shape for each in elements]), tuple([each.content for each in elements]))
