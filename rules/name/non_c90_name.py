# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from itertools import chain
from typing import Final

from onnx_lint.ir.names.name_holders import NameHolders
from onnx_lint.ir.names.plain_names import not_c90
from onnx_lint.model import Fix, Graph, Model, Place, Proto, has_training_information
from onnx_lint.rule import Faults, Finding, Record, Related, replace, rule
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
    wrong_names: list[_WrongNames] = []
    for graph in graphs:
        first, last = _operator_names(graph, operators), _attribute_names(graph, attributes)
        wrong = not_c90([*first, *graph.positions, *graph.node_names, *last])
        if wrong:
            wrong_names.append(_WrongNames(graph, wrong, _distinct_count(graph, wrong, [*first, *last])))
    if wrong_names:
        faults = Faults(lambda: _single_names(wrong_names), partial(_finding_on_some, model, graphs), _part)
        yield replace(_finding_on_names(wrong_names), fix=_fix(model, graphs), parts=faults)
    variables = _dimension_variables(model) if model.declared_types.has_odd_variables else []
    if variables:
        yield _finding_on_variables(variables)


class _WrongName(Record):
    """A wrong name of a graph."""

    graph: Graph
    name: str
    place: Place
    """The part of the graph that introduces the name."""


class _WrongNames(Record):
    """The wrong names of one graph."""

    graph: Graph
    names: Sequence[str]
    """They may repeat."""
    distinct: int
    """The number of different ones."""


def _part(wrong: _WrongName) -> tuple[Place, str]:
    return wrong.place, wrong.name


def _by_graph(wrong: Iterable[_WrongName]) -> dict[Graph, list[str]]:
    found: dict[Graph, list[str]] = {}
    for each in wrong:
        found.setdefault(each.graph, []).append(each.name)
    return found


def _single_names(wrong: Iterable[_WrongNames]) -> list[_WrongName]:
    """Return each wrong name of each graph once, with its place."""
    found: list[_WrongName] = []
    for of_graph in wrong:
        name_holders = NameHolders(of_graph.graph)
        for name in dict.fromkeys(of_graph.names):
            found.append(_WrongName(of_graph.graph, name, name_holders.first(name).place))
    return found


def _finding_on_some(model: Model, graphs: list[Graph], names: Sequence[_WrongName]) -> Finding:
    """Return the finding on some of the wrong names, with a fix for these alone."""
    wrong = _by_graph(names)
    fix = _fix(model, graphs, {graph: frozenset(own) for graph, own in wrong.items()})
    found = _finding_on_names([_WrongNames(graph, own, len(own)) for graph, own in wrong.items()])
    return replace(found, fix=fix, parts=Faults(names, partial(_finding_on_some, model, graphs), _part))


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


def _finding_on_names(wrong: Sequence[_WrongNames]) -> Finding:
    """Return the finding on the wrong names of graphs, at the first of them."""
    first = NameHolders(wrong[0].graph).first(wrong[0].names[0])
    return _finding(wrong, first.place, one=first.kind, several="names", clause="NAM-1")


def _finding_on_variables(variables: Sequence[_WrongName]) -> Finding:
    """Return the finding on the dimension variables with wrong names, at the first of them."""
    wrong = [_WrongNames(graph, names, len(set(names))) for graph, names in _by_graph(variables).items()]
    found = _finding(wrong, variables[0].place, one="dimension variable", several="dimension variables", clause="SHP-3")
    return replace(found, parts=Faults(variables, _finding_on_variables, _part))


def _finding(wrong: Sequence[_WrongNames], place: Place, *, one: str, several: str, clause: str) -> Finding:
    """Return the finding on all of these names. `one`, `several`: the words for one of them, and for several."""
    total = sum(each.distinct for each in wrong)
    where = wrong[0].graph.describe() if len(wrong) == 1 else f"{len(wrong):,} graphs and functions"
    if total == 1:
        message = f"{one} {quote(wrong[0].names[0])} in {where} is not a C90 identifier"
    else:
        shown = _first_distinct(chain.from_iterable(each.names for each in wrong), _SHOWN)
        beginning = "" if total <= _SHOWN else f", first {_SHOWN} shown"
        message = f"{total:,} {several} in {where} are not C90 identifiers{beginning}: {quote_some(shown)}"
    return Finding(
        place,
        message,
        clause=clause,
        related=tuple(_related(each.graph, each.distinct) for each in wrong[1:_MAX_NAMED]),
        allowed="ASCII letters, digits and underscores, not beginning with a digit",
        collective=True,
        count=total,
    )


def _related(graph: Graph, count: int) -> Related:
    return Related(graph.place, f"{count:,} of them in {graph.describe()}")


_MAX_NAMED: Final = 4
"""The graphs that are named; a model of a thousand functions has wrong names in all of them, or in none."""


def _operator_names(graph: Graph, wrong: Set[str]) -> list[str]:
    """Return the name of the graph, and the names among `wrong` that its operators have."""
    if not wrong:
        return [graph.name]
    return [graph.name, *dict.fromkeys(form.op_type for form in graph.form_counts if form.op_type in wrong)]


def _attribute_names(graph: Graph, wrong: Set[str]) -> list[str]:
    """Return the names among `wrong` that attributes of nodes have, and those of a function's attribute parameters."""
    names: list[str] = []
    if wrong:
        used = dict.fromkeys(attribute.name for form in graph.form_counts for attribute in form.attributes)
        names += [name for name in used if name in wrong]
    if graph.is_function and graph.function is not None:
        names += graph.function.attribute_names
        names += [attribute.name for attribute in graph.function.attribute_defaults]
    return names


def _distinct_count(graph: Graph, wrong: Sequence[str], others: Sequence[str]) -> int:
    """Return how many different names are wrong. `others`: the names of the graph that are not of values or nodes."""
    nodes, values = graph.node_names, graph.positions.keys()
    different = set(others)
    # If all names differ, which is usual, no set of all wrong names is made.
    do_values_differ = not graph.has_repeated_node_names and values.isdisjoint(nodes) and values.isdisjoint(others)
    if do_values_differ and len(different) == len(others) and different.isdisjoint(nodes):
        return len(wrong)
    return len(set(wrong))


def _dimension_variables(model: Model) -> list[_WrongName]:
    """Return the dimension variables that break the rule."""
    found: list[_WrongName] = []
    for holder in model.types(lambda proto: bool(_variables(proto))):
        graph = holder.owner.graph
        if graph.is_file:
            continue
        shape = holder.place.at(str(holder.kind)).at("shape")
        for axis, name in _variables(holder.proto).items():
            found.append(_WrongName(graph, name, shape.at("dim", axis).at("dim_param")))
    return found


def _variables(proto: Proto) -> dict[int, str]:
    """Return the dimension variables of a tensor type that break the rule, by axis; `*` has a clause of its own."""
    kind = proto.WhichOneof("value")
    if kind not in ("tensor_type", "sparse_tensor_type"):
        return {}
    names = [dimension.dim_param for dimension in getattr(proto, kind).shape.dim]
    return {axis: name for axis, name in enumerate(names) if name != "*" and not_c90([name])}


_SHOWN: Final = 3


def _first_distinct(names: Iterable[str], most: int) -> list[str]:
    found: dict[str, None] = {}
    for name in names:
        found[name] = None
        if len(found) == most:
            break
    return list(found)
