# SPDX-License-Identifier: Apache-2.0
"""Does literally what the hint of a finding says, from its words alone, in a message of the onnx package."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from onnx import AttributeProto, NodeProto, TensorProto, helper, numpy_helper

from onnx_lint.report.findings import Diagnostic

FITS: Final = re.compile(r"with (.*) the (?:shapes|types|declared shape) fits?")
NAME: Final = r"'([^']*)'"
MEANT: Final = re.compile(r"did you mean (.*?)(?:, which it requires|, a function of the model)?\?")
RESPELT: Final = re.compile(r"\d+ names differ from unused ones in case or separators")
AFFIX: Final = re.compile(rf"\d+ names (lack|have) the (prefix|suffix) {NAME}")


class NotObeyedError(Exception):
    """A hint that these words do not cover."""


def ways_of(item: Diagnostic) -> list[str]:
    """Return each way that the finding offers: those of its help line, and those of "did you mean" in its message."""
    if item.hint is not None and not item.hint.endswith(" is missing"):
        fits = FITS.fullmatch(item.hint)
        return re.split(r" or (?!\])", item.hint if fits is None else fits[1])
    meant, affix = MEANT.search(item.message), AFFIX.search(item.message)
    if meant is not None:
        return [f"meant {each}" for each in meant[1].split(" or ")]
    respelt = RESPELT.search(item.message)
    return [each[0] for each in (affix, respelt) if each is not None]


def obey(document: Any, item: Diagnostic, way: str) -> None:
    """Change the document. Raises NotObeyedError if no words match."""
    steps = [*_steps(document, item.at.key)]
    if not way.startswith(("meant", "declare")):
        steps = next(_at_nodes(document, item, any(field == "node" for _, field, _ in steps)), steps)
    for words, act in _ACTS.items():
        found = re.fullmatch(words, way)
        if found is not None:
            act(steps, item, *found.groups())
            return
    raise NotObeyedError(way)


def _steps(document: Any, key: Any) -> Iterator[tuple[Any, str, int | None]]:
    """Yield each message on the way to a place, with the field and the index that lead on."""
    message = document
    for field, index in key:
        yield message, field, index
        value = getattr(message, field)
        message = value if index is None else value[index] if index < len(value) else None


def _at_nodes(document: Any, item: Diagnostic, is_at_node: bool) -> Iterator[list[Any]]:
    """Yield the steps to the nodes of related places: the Cast that may be wrong, or else what reads a list."""
    places = [each.at for each in item.related if "what the Cast converts to" in each.message]
    if not is_at_node:
        places += [each.at for each in item.related if each.message.startswith("read by")]
    for place in places:
        yield [*_steps(document, place.key)]


def _node(steps: list[Any]) -> tuple[NodeProto, Any, int]:
    """Return the node around a place, the list of nodes with it, and its index."""
    for message, field, index in reversed(steps):
        if field == "node":
            return message.node[index], message.node, index
    raise NotObeyedError("no node")


def _numbers(text: str) -> int | float | list[int]:
    found: int | float | list[int] = json.loads(text)
    return found


def _set(node: NodeProto, name: str, value: Any, kind: int | None = None) -> None:
    left = [each for each in node.attribute if each.name != name]
    made = helper.make_attribute(name, value) if kind is None else helper.make_attribute(name, value, attr_type=kind)
    del node.attribute[:]
    node.attribute.extend([*left, made])


def _attributes(steps: Any, item: Diagnostic, text: str) -> None:
    """Give attributes numbers; one that is at the place, under another name, is replaced."""
    node, _, _ = _node(steps)
    if steps[-1][1] == "attribute":
        del node.attribute[steps[-1][2]]
    for each in text.split(" and "):
        name, _, value = each.partition("=")
        kind = AttributeProto.FLOAT if "." in value else None
        _set(node, name, _numbers(value), kind)


def _in_place_of_input(steps: Any, item: Diagnostic, text: str, index: str) -> None:
    node, _, _ = _node(steps)
    del node.input[int(index)]
    name, _, value = text.partition("=")
    _set(node, name, _numbers(value), None)


def _of_maker(steps: Any, item: Diagnostic, text: str) -> None:
    """Give an attribute of the node that makes the value a number."""
    (place,) = [each.at for each in item.related if each.message == "defines the value"]
    _attributes([*_steps(steps[0][0], place.key)], item, text)


def _before(steps: Any, operator: str, index: str, *more: str, **attributes: Any) -> None:
    node, nodes, position = _node(steps)
    made = helper.make_node(operator, [node.input[int(index)], *more], ["obeyed_value"], "obeyed_node", **attributes)
    node.input[int(index)] = "obeyed_value"
    nodes.insert(position, made)


def _transpose(steps: Any, _: Diagnostic, index: str, perm: str) -> None:
    _before(steps, "Transpose", index, perm=_numbers(perm))


def _flatten(steps: Any, _: Diagnostic, index: str) -> None:
    _before(steps, "Flatten", index)


def _output(steps: Any, _: Diagnostic, index: str, name: str) -> None:
    _node(steps)[0].output[int(index)] = name


def _cast(steps: Any, _: Diagnostic, to: str, index: str) -> None:
    _before(steps, "Cast", index, to=int(to))


def _stored(steps: Any, _: Diagnostic, name: str, kind: str) -> None:
    """Write the numbers of an initializer in another type."""
    graph = steps[0][0].graph
    [index] = [index for index, each in enumerate(graph.initializer) if each.name == name]
    wanted = helper.tensor_dtype_to_np_dtype(TensorProto.DataType.Value(kind))
    values = numpy_helper.to_array(graph.initializer[index]).astype(wanted)
    graph.initializer[index].CopyFrom(numpy_helper.from_array(values, name))


def _stored_in_constant(steps: Any, _: Diagnostic, name: str | None, index: str | None, kind: str) -> None:
    """Write the numbers of a Constant in another type."""
    node = _maker(steps, name, index)
    values = numpy_helper.to_array(node.attribute[0].t).astype(helper.tensor_dtype_to_np_dtype(_code(kind)))
    node.attribute[0].t.CopyFrom(numpy_helper.from_array(values))


def _number_of_constant(steps: Any, _: Diagnostic, text: str, name: str | None, index: str | None) -> None:
    node = _maker(steps, name, index)
    del node.attribute[:]
    attribute, _, value = text.partition("=")
    _set(node, attribute, _numbers(value))


def _axis_of_concat(steps: Any, item: Diagnostic, text: str, name: str | None, index: str | None) -> None:
    if any(each.message == "defines the value" for each in item.related):
        _of_maker(steps, item, text)
    else:
        _set(_maker(steps, name, index), "axis", _numbers(text.partition("=")[2]))


def _list_of_maker(steps: Any, item: Diagnostic, values: str, at: str, name: str | None, index: str | None) -> None:
    maker, graph = _maker(steps, name, index), steps[0][0].graph
    _list([(steps[0][0], "graph", None), (graph, "node", [*graph.node].index(maker))], item, values, at)


def _maker(steps: Any, name: str | None, index: str | None) -> NodeProto:
    """Return the node around the place, or another one of its graph, by its name or its index."""
    _, nodes, _ = _node(steps)
    [found] = [each for at, each in enumerate(nodes) if (each.name == name if index is None else at == int(index))]
    return found


def _code(kind: str) -> int:
    return TensorProto.DataType.Value(kind)


def _relabelled(steps: Any, _: Diagnostic, code: str, name: str) -> None:
    [found] = [each for each in steps[0][0].graph.initializer if each.name == name]
    found.data_type = int(code)


def _declare_input(steps: Any, _: Diagnostic, name: str, kind: str) -> None:
    [found] = [each for each in steps[0][0].graph.input if each.name == name]
    found.type.tensor_type.elem_type = TensorProto.DataType.Value(kind.upper())


def _number_of_cast(steps: Any, _: Diagnostic, number: str, name: str | None, index: str | None) -> None:
    _, nodes, _ = _node(steps)
    [cast] = [each for each in nodes if each.name == name] if index is None else [nodes[int(index)]]
    _set(cast, "to", int(number))


def _empty_name(steps: Any, _: Diagnostic, index: str) -> None:
    _node(steps)[0].input.insert(int(index), "")


def _exchanged_initializers(steps: Any, _: Diagnostic, one: str, other: str) -> None:
    names = {one: other, other: one}
    for each in steps[0][0].graph.initializer:
        each.name = names.get(each.name, each.name)


def _constant(steps: Any, values: list[int], kind: int = TensorProto.INT64) -> str:
    _, nodes, position = _node(steps)
    tensor = helper.make_tensor("obeyed_list", kind, [len(values)], values)
    nodes.insert(position, helper.make_node("Constant", [], ["obeyed_list"], "obeyed_constant", value=tensor))
    return "obeyed_list"


def _unsqueeze(steps: Any, item: Diagnostic, axes: str, index: str) -> None:
    values = _numbers(axes)
    assert isinstance(values, list)
    if _opset(steps) < 13:
        _before(steps, "Unsqueeze", index, axes=values)
        return
    node, nodes, position = _node(steps)
    made = helper.make_node("Unsqueeze", [node.input[int(index)], "obeyed_list"], ["obeyed_value"], "obeyed_node")
    node.input[int(index)] = "obeyed_value"
    nodes.insert(position, made)
    _constant(steps, values)


def _opset(steps: Any) -> int:
    """Return the operator set of the innermost message that imports some."""
    for message, _, _ in reversed(steps):
        versions = [each.version for each in getattr(message, "opset_import", ()) if each.domain in ("", "ai.onnx")]
        if versions:
            return max(versions)
    return 28


def _list(steps: Any, _: Diagnostic, values: str, index: str) -> None:
    node, _, _ = _node(steps)
    numbers = _numbers(values)
    assert isinstance(numbers, list)
    for message, _, _ in steps:
        for each in getattr(message, "initializer", ()):
            if each.name == node.input[int(index)]:
                each.CopyFrom(helper.make_tensor(each.name, TensorProto.INT64, [len(numbers)], numbers))
                return
    node.input[int(index)] = "obeyed_list"
    _constant(steps, numbers)


def _exchange(steps: Any, _: Diagnostic, one: str, other: str) -> None:
    node, _, _ = _node(steps)
    node.input[int(one)], node.input[int(other)] = node.input[int(other)], node.input[int(one)]


def _element_type(steps: Any, _: Diagnostic, name: str, number: str) -> None:
    """Write the number of an element type."""
    _set(_node(steps)[0], name, int(number))


def _declare(steps: Any, _: Diagnostic, name: str, kind: str) -> None:
    graph = next(message for message, field, _ in steps if field == "output")
    [output] = [each for each in graph.output if each.name == name]
    output.type.tensor_type.elem_type = TensorProto.DataType.Value(kind.upper())


def _domain(steps: Any, _: Diagnostic, domain: str) -> None:
    _node(steps)[0].domain = domain


def _imported_domain(steps: Any, item: Diagnostic, domain: str) -> None:
    _domain(steps, item, domain)
    steps[0][0].opset_import.append(helper.make_opsetid(domain, 1))


def _other_import(steps: Any, _: Diagnostic, version: str, domain: str) -> None:
    [entry] = [each for each in steps[0][0].opset_import if (each.domain or "ai.onnx") == domain]
    entry.version = int(version)


def _import_and_ir_version(steps: Any, item: Diagnostic, ir_version: str, version: str, domain: str) -> None:
    steps[0][0].ir_version = int(ir_version)
    _other_import(steps, item, version, domain)


def _tensor_in_value(steps: Any, _: Diagnostic, bracket: str, number: str, kind: str) -> None:
    node, _, _ = _node(steps)
    _set(node, "value", helper.make_tensor("", _code(kind), [1] if bracket else [], [json.loads(number)]))


def _other_attribute(steps: Any, _: Diagnostic, name: str) -> None:
    node, _, _ = _node(steps)
    node.attribute[steps[-1][2]].name = name


def _meant(steps: Any, item: Diagnostic, name: str) -> None:
    """Write another name: at the place, and wherever else the graph has an undefined one."""
    message, field, index = steps[-1]
    if item.rule == "undefined-name":
        _rename_uses(steps, item.subject or "", name)
    elif item.rule == "unknown-operator" and "::" in name:
        message.domain = name.partition("::")[0]
    elif field in ("op_type", "dim_param"):
        setattr(message, field, name)
    elif item.rule == "unsupported-attribute-value":
        given = [each.at for each in item.related if each.message.startswith("given by")]
        message, _, index = [*_steps(steps[0][0], given[0].key)][-1] if given else steps[-1]
        _rewrite(message.attribute[index], name.encode())
    else:
        _rename_at(message, field, index, item.subject or "", name)


def _rewrite(attribute: AttributeProto, text: bytes) -> None:
    """Write the text in place of the value, or of the one in a list that differs from it in case alone."""
    if attribute.s:
        attribute.s = text
    for index, each in enumerate(attribute.strings):
        if each.lower() == text.lower():
            attribute.strings[index] = text


def _rename_at(message: Any, field: str, index: int | None, wrong: str, right: str) -> None:
    value = getattr(message, field)
    if isinstance(value, str):
        setattr(message, field, right)
        return
    entry = value if index is None else value[index]
    if isinstance(entry, str):
        value[index] = right
        return
    texts = [each.name for each, inner in entry.ListFields() if inner == wrong]
    if not texts:
        raise NotObeyedError(f"{wrong} is not at the place")
    setattr(entry, texts[0], right)


def _rename_uses(steps: Any, wrong: str, right: str) -> None:
    graph = next(
        message for message, field, _ in reversed(steps) if field in ("node", "output") and _has_nodes(message)
    )
    for node in graph.node:
        node.input[:] = [right if each == wrong else each for each in node.input]
    for index, output in enumerate(graph.output):
        if isinstance(output, str):
            graph.output[index] = right if output == wrong else output
        elif output.name == wrong:
            output.name = right


def _has_nodes(message: Any) -> bool:
    return "node" in message.DESCRIPTOR.fields_by_name


def _affix(steps: Any, item: Diagnostic, verb: str, where: str, affix: str) -> None:
    """Correct the names of all findings of the cause."""
    for each in item.folding.members or (item,):
        wrong = each.subject or ""
        if verb == "lack":
            right = affix + wrong if where == "prefix" else wrong + affix
        else:
            right = wrong.removeprefix(affix) if where == "prefix" else wrong.removesuffix(affix)
        _rename_uses([*_steps(steps[0][0], each.at.key)], wrong, right)


def _respelt(steps: Any, item: Diagnostic) -> None:
    """Write the names of all findings of the cause as those that are defined."""
    graph = steps[0][0].graph
    defined = [each.name for each in (*graph.input, *graph.initializer)]
    for each in item.folding.members or (item,):
        wrong = each.subject or ""
        [right] = [name for name in defined if _letters(name) == _letters(wrong)]
        _rename_uses([*_steps(steps[0][0], each.at.key)], wrong, right)


def _letters(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


def _no_scales(steps: Any, _: Diagnostic, index: str) -> None:
    _node(steps)[0].input[int(index)] = ""


def _empty_scales(steps: Any, _: Diagnostic, index: str) -> None:
    _node(steps)[0].input[int(index)] = "obeyed_list"
    _constant(steps, [], TensorProto.FLOAT)


_NUMBER: Final = r"-?\d+(?:\.\d+)?|\[[-\d, ]*\]"
_MAKER: Final = rf"(?:node {NAME}|unnamed node (\d+))"
_ACTS: Final = {
    r"write (\w+)=(\d+) \((?!INTS?\))\w+\)(?:, as output 0 is declared)?": _element_type,
    rf"(\w+=(?:{_NUMBER})(?: and \w+=(?:{_NUMBER}))*)": _attributes,
    rf"(value_ints?=(?:{_NUMBER})) of {_MAKER} \(Constant\).*": _number_of_constant,
    rf"(axis=\d+) of {_MAKER} \(Concat\).*": _axis_of_concat,
    rf"attribute 'value' of {_MAKER} \(Constant\).* converted to (\w+)": _stored_in_constant,
    rf"(\[.*\]) as input (\d+) '.*' of {_MAKER} \(Reshape\).*": _list_of_maker,
    rf"(\w+=(?:{_NUMBER})) of (?:unnamed )?node .*": _of_maker,
    r"write (\w+=\[[-\d, ]+\]) in place of input (\d+) '.*'": _in_place_of_input,
    rf"write (\w+=(?:{_NUMBER})) \((?:FLOAT|INT|INTS)\)": _attributes,
    r"a Transpose of input (\d+) '.*' with perm=(\[.*\])": _transpose,
    r"a Flatten of input (\d+) '.*'": _flatten,
    rf"call output (\d+) of .* {NAME}, which nothing defines": _output,
    r"an Unsqueeze \(axes=(\[.*\])\) of input (\d+) '.*'": _unsqueeze,
    r"a Cast to \w+ \(to=(\d+)\) of input (\d+) '.*'": _cast,
    rf"to=(\d+) \(\w+\) of (?:node {NAME}|unnamed node (\d+)) \(Cast\).*": _number_of_cast,
    r"an empty name before input (\d+) '.*' of .*": _empty_name,
    rf"initializers {NAME} and {NAME} exchanged": _exchanged_initializers,
    rf"initializer {NAME} converted to (\w+)": _stored,
    rf"data_type=(\d+) \(\w+\) of initializer {NAME}, whose bytes are of that type,": _relabelled,
    rf"input {NAME} of the graph declared as tensor\((\w+)\)": _declare_input,
    r"(\[.*\]) as input (\d+) '.*'": _list,
    r"inputs (\d+) '.*' and (\d+) '.*' of .* exchanged": _exchange,
    rf"declare output {NAME} as tensor\((\w+)\)": _declare,
    rf"write domain={NAME} on the node": _domain,
    rf"write domain={NAME} on the node, and import version 1 of that domain": _imported_domain,
    rf"write ir_version=(\d+) and import version (\d+) of {NAME}, which .*": _import_and_ir_version,
    rf"write a tensor in 'value': (\[?)({_NUMBER})\]? \((\w+)\)": _tensor_in_value,
    rf"import version (\d+) of {NAME}, which (?:all its nodes fit|[\d,]+ of its nodes needs?)": _other_import,
    rf"import version (\d+) of {NAME}, which allows these types": _other_import,
    rf"import version (\d+) of {NAME}, which the signatures of all its nodes fit(?:; .*)?": _other_import,
    rf"the attribute for \w+ is {NAME}": _other_attribute,
    rf"meant {NAME}": _meant,
    rf"meant (\w+=(?:{_NUMBER}))": _attributes,
    r"with the empty name as input (\d+) \('scales'\), the node has sizes alone": _no_scales,
    r"with an empty tensor as input (\d+) \('scales'\), the node has sizes alone": _empty_scales,
    AFFIX.pattern: _affix,
    RESPELT.pattern: _respelt,
}
"""The words of a way, and what to do."""
