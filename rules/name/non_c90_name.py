# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from itertools import chain
from typing import Final

from onnx_lint.ir.names.plain_names import not_c90
from onnx_lint.model import Fix, Graph, Model, Place, Proto, has_training_information
from onnx_lint.rule import Faults, Finding, Related, replace, rule
from onnx_lint.wording import quote, quote_some


@rule(clause=("NAM-1", "SHP-3"), since="0.1.0", needs="node")
def non_c90_name(model: Model) -> Iterator[Finding]:
    """A name is not a C90 identifier.

    ### How to fix

    Replace dots, slashes, colons and other characters by underscores, and put a letter before a leading digit. Callers
    use the names of inputs and outputs: change both together.

    - `onnx-lint fix --unsafe-fixes --select non-c90-name` (unsafe: other files may use the names) does it for nodes,
      graphs and all other values. It adds a number to a name that another value has.
    - PyTorch: `input_names=` and `output_names=` of `torch.onnx.export` set those of the main graph.
    - tf2onnx: `--rename-inputs` and `--rename-outputs`.

    ### Example

    ```
    node { op_type: "Relu" input: "x" output: "0/relu.out" }
    ```

    Corrected:

    ```
    node { op_type: "Relu" input: "x" output: "layer_0_relu_out" }
    ```

    ### Why it matters

    Code generators turn names into identifiers of a programming language and must rename all others.

    ### Details

    - Names of values, nodes, operators, attributes, graphs, functions and dimension variables need ASCII letters,
      digits and underscores, without a digit at the start.
    - Domains, overloads, metadata keys and the empty name are not checked.
    - Keywords of C and its limits on significant characters are not checked.
    - A model has one finding for all names and one for its dimension variables.
    - Where the edition only says SHOULD, the findings are *counted*: the last line shows how many there are.
      `--pedantic` or a selection lists them.
    - Exporters that take names from module paths (`/layer/MatMul_output_0`) break the rule in most models, and most
      consumers accept it. IR.md therefore only says SHOULD since ONNX 1.18, and so does the newest edition.
    - Edition 1.21 is the Russian text of that release, which still says MUST. The IR.md of ONNX 1.21 itself says
      SHOULD.
    """
    # There are few distinct operators and attribute names, and hundreds of thousands of nodes.
    functions = {function.name for function in model.functions}
    # The name of a function is judged where the function stands.
    operators = {*not_c90([form.op_type for form in model.forms])} - functions
    attributes = {*not_c90([name for form in model.forms for name, _ in form.attribute_types])}
    graphs = [graph for graph in model.graphs if not graph.is_file]
    wrong_names: list[_Wrong] = []
    for graph in graphs:
        first, last = _names_of_few(graph, operators, attributes)
        wrong = not_c90([*first, *graph.positions, *graph.node_names, *last])
        if wrong:
            wrong_names.append((graph, wrong, len(wrong) if _differ(graph, [*first, *last]) else len(set(wrong))))
    if wrong_names:
        faults = Faults(lambda: _names_apart(wrong_names), partial(_of_names, model, graphs), _part)
        yield replace(_finding(wrong_names, "name", "NAM-1"), fix=_fix(model, graphs), parts=faults)
    variables = _dimension_variables(model) if model.declared_types.has_odd_variables else []
    if variables:
        yield _of_variables(variables)


def _of_variables(variables: Sequence[_Variable]) -> Finding:
    """Return the finding on the dimension variables with wrong names."""
    wrong: dict[Graph, list[str]] = {}
    for graph, name, _ in variables:
        wrong.setdefault(graph, []).append(name)
    found = _finding([(graph, names, len(set(names))) for graph, names in wrong.items()], "dimension variable", "SHP-3")
    parts = Faults(variables, _of_variables, lambda variable: (variable[2], variable[1]))
    return replace(found, place=variables[0][2], parts=parts)


_WrongName = tuple[Graph, str, Place]
"""A graph with a wrong name in it, and the place that introduces it."""


def _names_apart(wrong: Iterable[_Wrong]) -> list[_WrongName]:
    """Return each wrong name of each graph once, with its place."""
    found: list[_WrongName] = []
    for graph, names, _ in wrong:
        nodes: dict[str, int] = {}
        for index, name in enumerate(graph.node_names):
            nodes.setdefault(name, index)
        found += ((graph, name, _first(graph, name, nodes.get)[1]) for name in dict.fromkeys(names))
    return found


def _part(name: _WrongName) -> tuple[Place, str]:
    return name[2], name[1]


def _of_names(model: Model, graphs: list[Graph], names: Sequence[_WrongName]) -> Finding:
    """Return the finding on some of the wrong names, with a fix for these alone."""
    wrong: dict[Graph, list[str]] = {}
    for graph, name, _ in names:
        wrong.setdefault(graph, []).append(name)
    found = _finding([(graph, own, len(own)) for graph, own in wrong.items()], "name", "NAM-1")
    only = {graph: frozenset(own) for graph, own in wrong.items()}
    parts = Faults(names, partial(_of_names, model, graphs), _part)
    return replace(found, fix=_fix(model, graphs, only), parts=parts)


def _fix(model: Model, graphs: list[Graph], only: Mapping[Graph, Set[str]] | None = None) -> Fix | str:
    """Return the fix, or why there is none. `only`: the names of each graph that it changes, if not all."""
    from onnx_lint.ir.names.c90_names import c90_edits, has_c90_edits

    if has_training_information(model):
        return "training information may use the names"
    if not has_c90_edits(graphs, only):
        return "the names are those of inputs and outputs, or have several meanings"
    what = "make C90 identifiers of the names of nodes, graphs and values that are no inputs or outputs"
    what += "" if only is None else ", except what is suppressed"
    return Fix(what, (), is_safe=False, later=partial(c90_edits, graphs, only))


_Wrong = tuple[Graph, list[str], int]
"""A graph with its wrong names, which may repeat, and the number of different ones."""


def _finding(wrong: list[_Wrong], what: str, clause: str) -> Finding:
    """The finding on the wrong names of all graphs; its place is the first of them."""
    graph, names, _ = wrong[0]
    total = sum(count for _, _, count in wrong)
    where = graph.describe() if len(wrong) == 1 else f"{len(wrong):,} graphs and functions"
    kind, place = _first(graph, names[0], _index_in(graph)) if what == "name" else (what, graph.place)
    if total == 1:
        message = f"{kind} {quote(names[0])} in {where} is not a C90 identifier"
    else:
        shown = _first_distinct(chain.from_iterable(found for _, found, _ in wrong), _SHOWN)
        beginning = "" if total <= _SHOWN else f", first {_SHOWN} shown"
        message = f"{total:,} {what}s in {where} are not C90 identifiers{beginning}: {quote_some(shown)}"
    return Finding(
        place,
        message,
        clause=clause,
        related=tuple(_related(other, count) for other, _, count in wrong[1:_MAX_NAMED]),
        allowed="ASCII letters, digits and underscores, not beginning with a digit",
        collective=True,
        count=total,
    )


def _related(graph: Graph, count: int) -> Related:
    return Related(graph.place, f"{count:,} of them in {graph.describe()}")


_MAX_NAMED: Final = 4
"""The graphs that are named; a model of a thousand functions has wrong names in all of them, or in none."""


def _names_of_few(graph: Graph, operators: set[str], attributes: set[str]) -> tuple[list[str], list[str]]:
    """The names of the graph and of those of its `operators`, and then of `attributes`, that are among the given."""
    first, last = [graph.name], []
    if operators:
        first += dict.fromkeys(form.op_type for form in graph.form_counts if form.op_type in operators)
    if attributes:
        used = dict.fromkeys(attribute.name for form in graph.form_counts for attribute in form.attributes)
        last += [name for name in used if name in attributes]
    if graph.is_function and graph.function is not None:
        last += graph.function.attribute_names
        last += [attribute.name for attribute in graph.function.attribute_defaults]
    return first, last


def _differ(graph: Graph, others: list[str]) -> bool:
    """Return true if the names of values and nodes and the `others` all differ, without a set of all names."""
    nodes, values = graph.node_names, graph.positions.keys()
    if graph.has_repeated_node_names or not values.isdisjoint(nodes):
        return False
    different = set(others)
    return len(different) == len(others) and different.isdisjoint(nodes) and values.isdisjoint(others)


_Variable = tuple[Graph, str, Place]
"""A graph with a dimension variable in it that breaks the rule, and the place of this."""


def _dimension_variables(model: Model) -> list[_Variable]:
    """Return the dimension variables that break the rule."""
    found: list[_Variable] = []
    for holder in model.types(lambda proto: bool(_variables(proto))):
        graph = holder.owner.graph
        for axis, name in _variables(holder.proto).items() if not graph.is_file else ():
            place = holder.place.at(str(holder.kind)).at("shape").at("dim", axis).at("dim_param")
            found.append((graph, name, place))
    return found


def _variables(proto: Proto) -> dict[int, str]:
    """Return the dimension variables of a tensor type that break the rule, by axis; `*` has a clause of its own."""
    kind = proto.WhichOneof("value")
    if kind not in ("tensor_type", "sparse_tensor_type"):
        return {}
    names = [dimension.dim_param for dimension in getattr(proto, kind).shape.dim]
    return {axis: name for axis, name in enumerate(names) if name != "*" and not_c90([name])}


def _index_in(graph: Graph) -> Callable[[str], int | None]:
    return lambda name: graph.node_names.index(name) if name in graph.node_names else None


def _first(graph: Graph, name: str, index_of: Callable[[str], int | None]) -> tuple[str, Place]:
    """Return the description of the first part with the name, and its place.

    `index_of`: returns the index of the first node with a name.
    """
    place, definition = graph.place, graph.first_definition(name)
    if name == graph.name:
        return ("function name" if graph.is_function else "graph name"), place.at("name")
    if definition is not None:
        return "value name", definition.place
    node = index_of(name)
    if node is not None:
        return "node name", graph.at("node", node).at("name")
    for form in graph.form_counts:
        if name == form.op_type:
            return "operator name", graph.first_of(form).place.at("op_type")
        for index, attribute in enumerate(form.attributes):
            if name == attribute.name:
                return "attribute name", graph.first_of(form).place.at("attribute", index).at("name")
    return "attribute name", place  # an attribute parameter of a function


_SHOWN: Final = 3


def _first_distinct(names: Iterable[str], most: int) -> list[str]:
    found: dict[str, None] = {}
    for name in names:
        found[name] = None
        if len(found) == most:
            break
    return list(found)
