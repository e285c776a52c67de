# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from functools import partial
from itertools import islice

from onnx_lint.ir.operators.bound_nodes import BoundNodes
from onnx_lint.ir.operators.mismatch import alternatives_without, describe_schema
from onnx_lint.model import AlikeNodes, Model, Node, Place, attribute_parameters
from onnx_lint.rule import Finding, Record, Related, on_elements, rule
from onnx_lint.spec.operators.combinations import Combination
from onnx_lint.wording import MAX_LISTED_ELEMENTS, listed, quote


class _Passing(Record):
    """An attribute parameter of a function that a node of its body passes to an operator."""

    function: int
    parameter: str
    node: Node
    index: int
    """The attribute of the node that refers to the parameter."""


_Needs = dict[str, _Passing]
"""The attribute parameters that a function needs, each with the node that passes it to an operator that needs it."""


@rule(clause="FUN-20", since="0.1.0", about=Model.parametric_functions, needs="node")
def unbound_required_attribute(model: Model) -> Iterator[Finding]:
    """A call leaves out an attribute that the function passes to an operator that requires it.

    ### How to fix

    Set the attribute at the call, or add a default to the function's `attribute_proto`.

    ### Example

    ```
    node { op_type: "To" domain: "com.example" input: "x" output: "y" }
    functions {
      name: "To" domain: "com.example" input: "x" output: "y" attribute: "type"
      node { op_type: "Cast" input: "x" output: "y" attribute { name: "to" type: INT ref_attr_name: "type" } }
    }
    ```

    Corrected:

    ```
    node { op_type: "To" domain: "com.example" input: "x" output: "y" attribute { name: "type" type: INT i: 1 } }
    functions {
      name: "To" domain: "com.example" input: "x" output: "y" attribute: "type"
      node { op_type: "Cast" input: "x" output: "y" attribute { name: "to" type: INT ref_attr_name: "type" } }
    }
    ```

    ### Why it matters

    A parameter without a value is omitted wherever the body refers to it. An operator of the body then lacks a required
    attribute, and only this call shows it.

    ### Details

    - A call may omit a parameter that has a default, or that the body passes only where an attribute may be absent.
    - A parameter that is passed from function to function is followed to the operator.
    - If the operator needs one of several attributes, for example Constant, one of them is enough. A call without any
      is reported once for each node of the body.
    """
    needs = _needs(model)
    for alike in model.operators.alike_nodes:
        function = alike.operator.function
        if function is None or not needs.get(function.index):
            continue
        given = {name for name, _ in alike.attributes}
        needed = needs[function.index]
        missing = len(needed) - sum(name in needed for name in given)
        if missing:
            # The call gives as many names as come before this one, so that the search for it is short.
            first = next(passing for name, passing in needed.items() if name not in given)
            others = partial(_missing, needed, given)
            for node in alike.nodes:
                yield on_elements(partial(_finding, model, node), first, missing, others)
    yield from _without_any(model)


def _missing(needed: _Needs, given: Set[str]) -> Sequence[_Passing]:
    return list(islice((passing for name, passing in needed.items() if name not in given), MAX_LISTED_ELEMENTS))


def _finding(model: Model, node: Node, needed: _Passing, missing: int) -> Finding:
    """Return the finding for a call without some of the attributes, of which `needed` is the first."""
    function = model.operators.operator(node).function
    assert function is not None
    name, holder = needed.parameter, needed.node
    operator = model.operators.operator(holder)
    needed_by = f"{holder.describe()} in the body"
    if operator.schema is not None:
        needed_by += f"; {describe_schema(operator.schema)} requires it"
    what = f"attribute {quote(name)}" if missing == 1 else f"{missing:,} attributes, first {quote(name)}"
    return Finding(
        node.place,
        f"{node.describe()} leaves out {what}, which {quote(function.qualified_name)} passes to {needed_by}",
        related=(Related(holder.place.at("attribute", needed.index), f"refers to {quote(name)}"),),
        allowed=f"a value for {quote(name)}",
        subject=name,
        inner=name,
        partners=(holder.place,),
    )


def _without_any(model: Model) -> Iterator[Finding]:
    """Yield the findings for calls that leave a node without any of the attributes that it needs one of."""
    reported: set[Place] = set()
    for bound in model.bound_nodes:
        if bound.call is None or bound.graph.function is None:
            continue
        schema, wanted = bound.schema, _groups_without_values(bound)
        if not wanted:
            continue
        parameters = dict.fromkeys(each.ref_attr_name for each in bound.form.attributes if each.ref_attr_name)
        caller, called = bound.call
        call, node = caller.first_of(called), bound.nodes[0]
        # A reference to no parameter is another finding.
        if node.place in reported or parameters.keys() - attribute_parameters(bound.graph.function).keys():
            continue
        reported.add(node.place)
        names = ", ".join(quote(member.name) for side in wanted[0].sides for member in side)
        left_out = listed([quote(name) for name in parameters])
        yield Finding(
            call.place,
            f"{call.describe()} leaves out {left_out}, which {bound.graph.function.body.describe()} "
            f"passes to {node.describe()} in the body; {describe_schema(schema)} requires one of {names}",
            related=(Related(node.place, f"refers to parameters of {bound.graph.function.body.describe()}"),),
            allowed=f"a value for one of {names}",
            subject=node.name or None,
            partners=(node.place,),
        )


def _groups_without_values(nodes: BoundNodes) -> list[Combination]:
    """Return the groups of attributes that nodes of a function need one of, and only lack with the values of a call."""
    given = {each.name for each in nodes.bound.attributes}
    wanted = alternatives_without(nodes.schema, given, nodes.form.inputs)
    if not wanted or alternatives_without(
        nodes.schema, {each.name for each in nodes.form.attributes}, nodes.form.inputs
    ):
        return []
    return wanted


def _needs(model: Model) -> dict[int, _Needs]:
    """Return for each function, by index, what its calls must give; callees before their callers, however deep."""
    needs: dict[int, _Needs] = {function.index: {} for function in model.functions}
    declared = [frozenset(function.attribute_names) for function in model.functions]
    passed_to_calls, pending = _passings_by_target(model)
    # Each parameter is taken up once, however long the chain of calls is.
    for passing in pending:
        found = needs[passing.function]
        if passing.parameter in declared[passing.function] and passing.parameter not in found:
            found[passing.parameter] = passing
            pending += passed_to_calls.get((passing.function, passing.parameter), ())
    return needs


def _passings_by_target(model: Model) -> tuple[dict[tuple[int, str], list[_Passing]], list[_Passing]]:
    """Return the parameters that go to attributes of calls, by these, and those that go to required attributes."""
    passed_to_calls: dict[tuple[int, str], list[_Passing]] = {}
    required: list[_Passing] = []
    for alike in model.operators.alike_nodes:
        schema, callee = alike.operator.schema, alike.operator.function
        if not alike.attributes or (schema is None and callee is None):
            continue
        for passing in _passings(alike):
            name = passing.node.attribute_protos[passing.index].name
            if callee is not None:
                passed_to_calls.setdefault((callee.index, name), []).append(passing)
            elif schema is not None and name in schema.attributes and schema.attributes[name].required:
                required.append(passing)
    return passed_to_calls, required


def _passings(alike: AlikeNodes) -> Iterator[_Passing]:
    for graph, forms in alike.forms.items():
        referring = {form for form in forms if any(attribute.ref_attr_name for attribute in form.attributes)}
        if graph.function is None or not referring:
            continue
        for node in graph.nodes_of(referring):
            for index, attribute in enumerate(node.attribute_protos):
                if attribute.ref_attr_name:
                    yield _Passing(graph.function.index, attribute.ref_attr_name, node, index)
