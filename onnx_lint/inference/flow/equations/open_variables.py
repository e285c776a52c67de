# SPDX-License-Identifier: Apache-2.0
"""Finds the variables that inputs leave open, and that declarations or nodes give one size."""

from __future__ import annotations

from collections.abc import Iterable

from onnx_lint.common.record import Record
from onnx_lint.inference.flow.conflict import Note
from onnx_lint.inference.flow.equations.collecting import ACTIVITY, equations_in, scoped_equations
from onnx_lint.inference.flow.equations.equation import MAX_SHOWN, DimensionEquation, notes_on_calls
from onnx_lint.inference.flow.equations.findings import contradictions
from onnx_lint.inference.flow.equations.solving import Solution
from onnx_lint.inference.flow.equations.sums import factors_of
from onnx_lint.inference.flow.shape_words import dimension_in_words
from onnx_lint.inference.flow.value_flow import ValueFlow
from onnx_lint.inference.shapes.expression import variables_in
from onnx_lint.inference.shapes.stated import facts_of_types
from onnx_lint.ir.crashes import Crashes
from onnx_lint.ir.graph import Graph, GraphKind
from onnx_lint.ir.places.place import Place
from onnx_lint.wording import quote


class OpenVariable(Record):
    """A variable in the shape of an input of the main graph."""

    name: str
    place: Place
    """The first input with the variable."""
    input_name: str


class _OnlySize(Record):
    """An equation that gives one size to a variable that an input leaves open."""

    equation: DimensionEquation
    variable: OpenVariable

    @property
    def inner(self) -> str:
        """The dimension of the input of a node that has the size."""
        return self.equation.inner

    @property
    def place(self) -> Place:
        """The dimension with that size."""
        return self.equation.origin.place

    @property
    def subject(self) -> str | None:
        """The variable."""
        # Fingerprints have it: an ambiguous name stays in quotes here.
        return self.variable.name

    def notes(self) -> list[Note]:
        """Return the input that leaves the variable open."""
        return [(self.variable.place, f"{dimension_in_words(self.variable.name)} is open here")]


class DeclaredSize(_OnlySize):
    """A declaration that gives a size to what inputs leave open, the first one for a variable."""

    @property
    def allowed(self) -> str:
        """The size that would be right."""
        return dimension_in_words(self.equation.right)

    def describe(self) -> str:
        """Return a message with the declared size and the input dimension that is left open."""
        return f"{self.equation.text}, whose size input {quote(self.variable.input_name)} leaves open"


def declared_sizes(flow: ValueFlow, crashes: Crashes) -> list[DeclaredSize]:
    """Return the sizes that the main graph declares for what its inputs leave open, one for each variable."""
    found: dict[str, DeclaredSize] = {}
    for walked in flow.running:
        graph = walked.graph
        if graph.kind is not GraphKind.MAIN or graph.is_function:
            continue
        variables = _open_variables(graph, range(len(graph.input_names)))
        for equation in equations_in(flow, walked, crashes) if variables else ():
            names = sorted(set(factors_of(equation.right)))
            is_size = equation.origin.is_declared and isinstance(equation.left, int)
            if is_size and names and variables.keys() >= set(names):
                found.setdefault(names[0], DeclaredSize(equation, variables[names[0]]))
    return list(found.values())


class RequiredSize(_OnlySize):
    """A variable of an input for which the nodes of the model leave only one size, by an equation of one of them."""

    size: int
    because: tuple[DimensionEquation, ...]
    """The equations before that it follows from as well."""
    may_be_0: bool
    """True if an empty input has the size 0."""
    is_if_nonempty: bool
    """True if any size runs where another dimension makes an operand empty."""

    @property
    def is_by_weights(self) -> bool:
        """True if the size is only that of a product or convolution: channels or features, which weights fix."""
        return all(each.is_required_by_weights for each in (self.equation, *self.because))

    @property
    def allowed(self) -> str:
        """The size that the input may have."""
        name = dimension_in_words(self.variable.name)
        return f"{self.size} instead of {name} in the input, or nodes that take any size"

    def describe(self) -> str:
        """Return a message with what needs the size, and the input that leaves it open."""
        name, input_name = dimension_in_words(self.variable.name), quote(self.variable.input_name)
        by = "".join(f"; {each.text}" for each in self.because[:MAX_SHOWN])
        constant = self.equation.constant
        source = f" (constant {quote(constant.name)})" if constant is not None else ""
        or_0 = ", or 0" if self.may_be_0 and self.size else ""
        if_nonempty = " where no operand is empty" if self.is_if_nonempty else ""
        end = f"so {name} of input {input_name} can only be {self.size}{or_0}{if_nonempty}"
        return f"{self.equation.text}{source}{by}; {end}"

    def notes(self) -> list[Note]:
        """Return the input that leaves the variable open, the constant, and the other equations."""
        notes = super().notes()
        constant = self.equation.constant
        if constant is not None and constant.definition is not None:
            notes.append((constant.definition.place, f"defines constant {quote(constant.name)}"))
        notes += [(each.origin.place, each.text) for each in self.because]
        return [*notes, *notes_on_calls((self.equation, *self.because))]


def required_sizes(flow: ValueFlow, crashes: Crashes) -> list[RequiredSize]:
    """Return the variables of the main graph's inputs for which the nodes leave only one size.

    They are looked for once. What declarations say of a size is left aside: see `declared_sizes`.
    """
    if flow.required_sizes is None:
        flow.required_sizes = _required_sizes(flow, crashes)
    found: list[RequiredSize] = flow.required_sizes
    return found


def _required_sizes(flow: ValueFlow, crashes: Crashes) -> list[RequiredSize]:
    equations = _equations_that_run(flow, crashes)
    graphs = [walked.graph for walked in flow.running]
    main = next((each for each in graphs if each.kind is GraphKind.MAIN and not each.is_function), None)
    if not equations or main is None:
        return []
    without_default = [at for at, name in enumerate(main.input_names) if name not in main.initializer_names]
    solution = Solution()
    with crashes.at(ACTIVITY):
        list(solution.contradictions(equations))
    sizes = [_required_size(solution, variable) for variable in _open_variables(main, without_default).values()]
    found = [each for each in sizes if each is not None]
    excluded = _variables_without_a_size(flow, crashes) if found else ()
    return [each for each in found if each.variable.name not in excluded]


def _required_size(solution: Solution, variable: OpenVariable) -> RequiredSize | None:
    """Return the only size that equations leave to a variable of an input; None if they leave others."""
    name = variable.name
    known = solution.values.value(name)
    above_0 = None if isinstance(known.value, int) else solution.values.value_above_0(name)
    if above_0 is not None:
        known = above_0
    size, because = known.value, known.because
    if not isinstance(size, int) or not because or any(each.is_required_by_declared_input for each in because):
        return None
    if not all(each.origin.applies_to_nonempty_operands(name, each.sides) for each in because):
        return None
    is_if_nonempty = not all(each.origin.applies_to_all_sizes(name, each.sides) for each in because)
    is_true_at_0 = above_0 is not None or any(each.origin.is_true_at_0(name, each.sides) for each in because)
    return RequiredSize(
        equation=because[-1],
        variable=variable,
        size=size,
        because=because[:-1],
        may_be_0=is_true_at_0 and not is_if_nonempty,
        is_if_nonempty=is_if_nonempty,
    )


def _variables_without_a_size(flow: ValueFlow, crashes: Crashes) -> set[str]:
    """Return the variables that are in a contradiction with nodes that surely run: that is another finding."""
    found = contradictions(flow, crashes)
    sure = [each for each in found if each.conditional_graph is None and not each.is_declared]
    sides = [side for each in sure for equation in each.equations for side in equation.sides]
    return {name for side in sides for name in variables_in(side)}


def _equations_that_run(flow: ValueFlow, crashes: Crashes) -> list[DimensionEquation]:
    """Return what nodes that surely run say of sizes, without declarations.

    Nodes whose operands do not fit are left out: their fault is another finding, and a size may be a part of it.
    """
    faulty = {conflict.node.place for conflict in flow.shapes}
    equations = [each for each in scoped_equations(flow, crashes)[()] if each.node.place not in faulty]
    return [each for each in equations if not each.origin.is_declared and not each.origin.is_empty]


def _open_variables(graph: Graph, inputs: Iterable[int]) -> dict[str, OpenVariable]:
    """Return the variables in the shapes of some inputs, by name, each with the first input that has it."""
    facts = facts_of_types(graph.value_infos["input"].types)
    found: dict[str, OpenVariable] = {}
    for index in inputs:
        for dim in facts[index].shape or ():
            if isinstance(dim, str):
                found.setdefault(dim, OpenVariable(dim, graph.place.at("input", index), graph.input_names[index]))
    return found
