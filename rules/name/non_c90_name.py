# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Final

from onnx_lint.ir.names.plain_names import not_c90
from onnx_lint.model import Fix, Graph, Model, Place, Proto, has_training_information
from onnx_lint.rule import Finding, Related, replace, rule
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
        yield replace(_finding(wrong_names, "name", "NAM-1"), fix=_fix(model, graphs))
    variables = _dimension_variables(model) if model.declared_types.has_odd_variables else []
    if variables:
        wrong_names = [(graph, wrong, len(set(wrong))) for graph, wrong, _ in variables]
        yield replace(_finding(wrong_names, "dimension variable", "SHP-3"), place=variables[0][2])


def _fix(model: Model, graphs: list[Graph]) -> Fix | str:
    from onnx_lint.ir.names.c90_names import c90_edits, has_c90_edits

    if has_training_information(model):
        return "training information may use the names"
    if not has_c90_edits(graphs):
        return "the names are those of inputs and outputs, or have several meanings"
    what = "make C90 identifiers of the names of nodes, graphs and values that are no inputs or outputs"
    return Fix(what, (), is_safe=False, later=partial(c90_edits, graphs))


_Wrong = tuple[Graph, list[str], int]
"""A graph with its wrong names, which may repeat, and the number of different ones."""


def _finding(wrong: list[_Wrong], what: str, clause: str) -> Finding:
    """The finding on the wrong names of all graphs; its place is the first of them."""
    graph, names, _ = wrong[0]
    total = sum(count for _, _, count in wrong)
    where = graph.describe() if len(wrong) == 1 else f"{len(wrong):,} graphs and functions"
    kind, place = _first(graph, names[0]) if what == "name" else (what, graph.place)
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
        related=tuple(_related(other, count) for other, _, count in wrong[1:_MOST_NAMED]),
        allowed="ASCII letters, digits and underscores, not beginning with a digit",
        collective=True,
        count=total,
    )


def _related(graph: Graph, count: int) -> Related:
    return Related(graph.place, f"{count:,} of them in {graph.describe()}")


_MOST_NAMED: Final = 4
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


def _dimension_variables(model: Model) -> list[tuple[Graph, list[str], Place]]:
    """Return the graphs with dimension variables that break the rule, each with these and the place of the first."""
    found: dict[int, tuple[Graph, list[str], Place]] = {}
    for holder in model.types(lambda proto: bool(_variables(proto))):
        graph = holder.owner.graph
        for axis, name in _variables(holder.proto).items() if not graph.is_file else ():
            place = holder.place.at(str(holder.kind)).at("shape").at("dim", axis).at("dim_param")
            found.setdefault(id(graph), (graph, [], place))[1].append(name)
    return [*found.values()]


def _variables(proto: Proto) -> dict[int, str]:
    """Return the dimension variables of a tensor type that break the rule, by axis; `*` has a clause of its own."""
    kind = proto.WhichOneof("value")
    if kind not in ("tensor_type", "sparse_tensor_type"):
        return {}
    names = [dimension.dim_param for dimension in getattr(proto, kind).shape.dim]
    return {axis: name for axis, name in enumerate(names) if name != "*" and not_c90([name])}


def _first(graph: Graph, name: str) -> tuple[str, Place]:
    """Return the description of the first part with the name, and its place."""
    place, definition = graph.place, graph.first_definition(name)
    if name == graph.name:
        return ("function name" if graph.is_function else "graph name"), place.at("name")
    if definition is not None:
        return "value name", definition.place
    if name in graph.node_names:
        return "node name", graph.at("node", graph.node_names.index(name)).at("name")
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
