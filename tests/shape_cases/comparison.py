# SPDX-License-Identifier: Apache-2.0
"""The results of onnx and of the shape rules for a case, and their differences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import onnx
import onnx.defs
from onnx import TensorProto, numpy_helper

from onnx_lint.inference.shapes.dims import Dims
from onnx_lint.inference.shapes.fact import ABSENT, Fact, fact
from onnx_lint.inference.shapes.operands import AttributeValue, Inside, Operands, OutputShape
from onnx_lint.inference.shapes.rules import shape_rule
from onnx_lint.spec.element_types import ELEMENT_TYPE_NAMES
from onnx_lint.spec.operators import OperatorSchema, OperatorSchemas
from shape_cases.case import Case, Held, Shapes, chosen_types, inferred_shape, model_of
from shape_cases.mutations import mutated


@dataclass(frozen=True)
class Explained:
    """Why onnx-lint sees something differently: operators, a pattern of the line that shows the difference, reason.

    The operators are names with a space between, `Gemm` or of one version `Gemm-7`. The line is "onnx: MESSAGE" where
    only onnx rejects, "onnx-lint: PROBLEM" for each problem where only onnx-lint does, and "output N: onnx SHAPE,
    onnx-lint SHAPE" where both accept.
    """

    operators: str
    difference: str
    reason: str

    def covers(self, schema: onnx.defs.OpSchema, difference: str) -> bool:
        """Return whether this explains a difference of an operator."""
        names = {schema.name, f"{schema.name}-{schema.since_version}"}
        return not names.isdisjoint(self.operators.split()) and re.search(self.difference, difference) is not None


def of_operands(operators: str, reasons: Mapping[int, str], kinds: str = "WrongRank|Unequal") -> tuple[Explained, ...]:
    """Why onnx-lint alone rejects inputs for their ranks and sizes, by their indices."""
    return tuple(
        Explained(operators, rf"^onnx-lint: ({kinds})\((place=InputDimension\()?operand={index},", reason)
        for index, reason in reasons.items()
    )


_SIZES = re.compile(r"-?\d+|'\w'|\([^(=]*\)|\[[^[]*\]")
"""The parts that differ between cases of one kind."""

OF_TYPES = re.compile(r"TypeInferenceError|Invalid tensor data type|bit-width")
"""Messages about types, which are no matter of shapes."""


_SCHEMAS = OperatorSchemas()


@cache
def own_schema(schema: onnx.defs.OpSchema) -> OperatorSchema:
    """The signature that onnx-lint has for that of onnx."""
    found = _SCHEMAS.find(schema.domain, schema.name, schema.since_version)
    assert found is not None
    assert found.since_version == schema.since_version
    return found


# --- the two sides


def theirs(schema: onnx.defs.OpSchema, made: Case) -> tuple[str, list[Shapes]]:
    """The message of onnx, empty where it has none, and the shapes of the outputs."""
    try:
        inferred = onnx.shape_inference.infer_shapes(model_of(schema, made), check_type=True, strict_mode=True)
    except (onnx.shape_inference.InferenceError, ValueError, TypeError, RuntimeError) as error:
        return re.sub(r"\s+", " ", str(error)) or "no message", []
    return "", [inferred_shape(value.type) for value in inferred.graph.output]


def ours(schema: onnx.defs.OpSchema, made: Case) -> tuple[str, list[Shapes]]:
    """The problems that the shape rule notes, empty for none, and the shapes of the outputs."""
    own = own_schema(schema)
    rule = shape_rule(own)
    assert rule is not None, f"{own.domain}::{own.name} {own.since_version} has no rule"
    kinds = chosen_types(schema, made)
    facts = [
        ABSENT if operand is None else _fact(kind, operand.shape, operand.content if index in rule.reads else None)
        for index, (operand, kind) in enumerate(zip(made.inputs, kinds, strict=True))
    ]
    attributes = {name: argument(value) for name, value in made.attributes.items()}
    node = Operands(own, attributes, tuple(facts), made.outputs)
    shapes = node.finished(rule.infer(node))
    assert not any(isinstance(dim, int) and dim < 0 for shape in shapes for dim in _dims(shape)), shapes
    return "; ".join(map(repr, node.problems)), [_shape(shape) for shape in shapes]


def _fact(kind: str, shape: Dims | None, content: tuple[Any, ...] | None) -> Fact:
    constructor, _, rest = kind.partition("(")
    if constructor in ("seq", "optional"):
        return fact(kind, inside=_fact(rest[:-1], shape, None))
    return fact(kind, shape, content)


def argument(value: Any) -> AttributeValue:
    """An attribute's value as shape rules see it."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, list | tuple):
        return tuple(each.decode() if isinstance(each, bytes) else each for each in value)
    if isinstance(value, TensorProto):
        array = numpy_helper.to_array(value)
        content = tuple(array.reshape(-1).tolist()) if array.ndim < 2 and array.dtype.kind in "iufb" else None
        return fact(f"tensor({ELEMENT_TYPE_NAMES[value.data_type - 1]})", tuple(value.dims), content)
    if isinstance(value, onnx.SparseTensorProto):
        return fact(None, tuple(value.dims))
    if isinstance(value, onnx.TypeProto):
        return _type_fact(value)
    assert isinstance(value, int | float | str), value
    return value


def _type_fact(proto: onnx.TypeProto) -> Fact:
    which = proto.WhichOneof("value")
    if which in ("sequence_type", "optional_type"):
        return fact(None, inside=_type_fact(getattr(proto, which).elem_type))
    shape = inferred_shape(proto)
    return fact(None, shape if isinstance(shape, tuple) else None)


def _shape(output: OutputShape) -> Shapes:
    """A shape as `inferred_shape` gives it."""
    if isinstance(output, Inside):
        inner = _shape(output.shape)
        return None if inner is None else Held(inner)
    return output


def _dims(output: OutputShape) -> Dims:
    return _dims(output.shape) if isinstance(output, Inside) else output or ()


# --- the comparison


class Comparison:
    """Compares the cases of a family, and keeps unexplained differences."""

    def __init__(self, explained: tuple[Explained, ...], crashes: Callable[[str, Case], bool] | None = None) -> None:
        self.explained = explained
        self.crashes = crashes
        """Returns true if the inference of onnx would end the process on a case of an operator. Such a case is not
        passed to onnx, and counts as an error.
        """
        self.used: set[Explained] = set()
        self.cases: Counter[str] = Counter()
        self.unexplained: dict[str, tuple[dict[str, None], list[str]]] = {}
        """Operators with their versions, and examples, by the difference without its numbers."""

    def compare(self, schema: onnx.defs.OpSchema, base: Case) -> None:
        """Compare the case and all mutations of it."""
        for made in mutated(schema, base):
            crashes = self.crashes is not None and self.crashes(schema.name, made)
            message, their_shapes = ("onnx crashes", []) if crashes else theirs(schema, made)
            if OF_TYPES.search(message):
                self.cases["of types"] += 1
                continue
            problems, our_shapes = ours(schema, made)
            self.cases["rejected by both" if message and problems else "compared"] += 1
            inputs = [
                None if each is None else (each.shape if each.content is None else f"={each.content}")
                for each in made.inputs
            ]
            for difference in differences(message, problems, their_shapes, our_shapes):
                self.note(schema, f"{inputs} {dict(made.attributes)} ({made.mutation})", difference)

    def note(self, schema: onnx.defs.OpSchema, example: str, difference: str) -> None:
        """Keep a difference that nothing explains, with the case as an example."""
        is_explained = True
        for part in _parts(difference):
            reasons = [each for each in self.explained if each.covers(schema, part)]
            self.used.update(reasons)
            is_explained = is_explained and bool(reasons)
        self.cases["explained" if is_explained else "not explained"] += 1
        if not is_explained:
            operator = f"{schema.name}-{schema.since_version}"
            operators, examples = self.unexplained.setdefault(_SIZES.sub("#", difference), ({}, []))
            operators[operator] = None
            examples.append(f"{operator} {example} {difference}")

    def listing(self) -> list[str]:
        """For each kind of difference the operators, how often it came, and the first example."""
        return [
            f"{len(examples)} times: {examples[0]} (and {', '.join([*operators][1:]) or 'no other operator'})"
            for operators, examples in self.unexplained.values()
        ]


def _parts(difference: str) -> list[str]:
    """Each problem by itself where onnx-lint alone has any, so that one that is explained hides no other."""
    head, colon, problems = difference.partition(": ")
    if head != "onnx-lint":
        return [difference]
    return [f"{head}{colon}{each}" for each in re.split(r"; (?=[A-Z]\w+\()", problems)]


def differences(message: str, problems: str, their_shapes: list[Shapes], our_shapes: list[Shapes]) -> Iterator[str]:
    """In what the two sides differ: the one verdict or the other, or shapes."""
    if message and not problems:
        yield f"onnx: {message}"
    elif problems and not message:
        yield f"onnx-lint: {problems}"
    elif not message:
        for index, (one, other) in enumerate(zip(their_shapes, our_shapes, strict=True)):
            if not _is_as_precise(one, other):
                yield f"output {index}: onnx {one}, onnx-lint {other}"


def _is_as_precise(one: Shapes, other: Shapes) -> bool:
    """Return whether the second shape agrees with the first, and knows each rank and size that the first knows."""
    if one is None:
        return True
    if isinstance(one, Held):
        return isinstance(other, Held) and _is_as_precise(one.shape, other.shape)
    if not isinstance(other, tuple) or len(one) != len(other):
        return False
    return all(
        a is None or a == b or (isinstance(a, str) and isinstance(b, int)) for a, b in zip(one, other, strict=True)
    )
