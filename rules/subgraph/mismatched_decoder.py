# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from onnx_lint.model import Graph, Model, Node, runs_decoders
from onnx_lint.model.searches import SearchNode, searches
from onnx_lint.rule import Finding, Record, Related, rule
from onnx_lint.spec.operators.records import GraphForm
from onnx_lint.wording import counted, describe_shape, listed, quote


@rule(clause=("SUB-7d", "SUB-7e"), since="0.3.0", about=runs_decoders, needs="node")
def mismatched_decoder(model: Model) -> Iterator[Finding]:
    """A decoder or encoder that a search of com.microsoft runs has other inputs or outputs than ONNX Runtime feeds.

    ### How to fix

    Export the model with `convert_generation.py` of ONNX Runtime, which gives inputs and outputs these names, types and
    places. In a graph of your own, rename them or reorder them; use int32 for words and masks.

    ### Example

    ```
    input { name: "prompt" type { tensor_type { elem_type: 6 shape { dim { } dim { } } } } }
    input { name: "most" type { tensor_type { elem_type: 6 shape { } } } }
    node { op_type: "GreedySearch" domain: "com.microsoft" input: "prompt" input: "most" output: "y"
      attribute { name: "eos_token_id" type: INT i: 1 } attribute { name: "pad_token_id" type: INT i: 0 }
      attribute { name: "decoder" type: GRAPH g {
        input { name: "input_ids" type { tensor_type { elem_type: 7 shape { dim { } dim { } } } } }
        input { name: "position_ids" type { tensor_type { elem_type: 6 shape { dim { } dim { } } } } }
        input { name: "attention_mask" type { tensor_type { elem_type: 6 shape { dim { } dim { } } } } }
        input { name: "past_0" type { tensor_type { elem_type: 1
          shape { dim { dim_value: 2 } dim { } dim { dim_value: 4 } dim { } dim { dim_value: 8 } } } } }
        node { op_type: "Decode" domain: "example.org" input: "input_ids" input: "position_ids"
          input: "attention_mask" input: "past_0" output: "logits" output: "present_0" }
        output { name: "logits" type { tensor_type { elem_type: 1 shape { dim { } dim { } dim { dim_value: 9 } } } } }
        output { name: "present_0" type { tensor_type { elem_type: 1 } } }
      } }
    }
    opset_import { version: 25 } opset_import { domain: "com.microsoft" version: 1 }
    opset_import { domain: "example.org" version: 1 }
    ```

    Corrected:

    ```
    input { name: "prompt" type { tensor_type { elem_type: 6 shape { dim { } dim { } } } } }
    input { name: "most" type { tensor_type { elem_type: 6 shape { } } } }
    node { op_type: "GreedySearch" domain: "com.microsoft" input: "prompt" input: "most" output: "y"
      attribute { name: "eos_token_id" type: INT i: 1 } attribute { name: "pad_token_id" type: INT i: 0 }
      attribute { name: "decoder" type: GRAPH g {
        input { name: "input_ids" type { tensor_type { elem_type: 6 shape { dim { } dim { } } } } }
        input { name: "position_ids" type { tensor_type { elem_type: 6 shape { dim { } dim { } } } } }
        input { name: "attention_mask" type { tensor_type { elem_type: 6 shape { dim { } dim { } } } } }
        input { name: "past_0" type { tensor_type { elem_type: 1
          shape { dim { dim_value: 2 } dim { } dim { dim_value: 4 } dim { } dim { dim_value: 8 } } } } }
        node { op_type: "Decode" domain: "example.org" input: "input_ids" input: "position_ids"
          input: "attention_mask" input: "past_0" output: "logits" output: "present_0" }
        output { name: "logits" type { tensor_type { elem_type: 1 shape { dim { } dim { } dim { dim_value: 9 } } } } }
        output { name: "present_0" type { tensor_type { elem_type: 1 } } }
      } }
    }
    opset_import { version: 25 } opset_import { domain: "com.microsoft" version: 1 }
    opset_import { domain: "example.org" version: 1 }
    ```

    ### Why it matters

    ONNX Runtime passes words, masks and states to the graph by position, and checks names, types and sizes when it
    makes a session. It refuses any other graph. If the number of words or layers differs, each run fails.

    ### Details

    | Operator | `model_type` | Graphs |
    |---|---|---|
    | GreedySearch, Sampling | 0 | `decoder`, `init_decoder` |
    | BeamSearch | 0 | `decoder`, `init_decoder` |
    | BeamSearch | 1 | `encoder`, `decoder` for texts |
    | BeamSearch, WhisperBeamSearch | 2 | `encoder`, `decoder` for sounds |

    - `onnx-lint explain`, with the name of the operator, lists the inputs and outputs of each graph.
    - The numbers of heads, the sizes of heads and the number of words must be sizes that the graph declares or that
      follow from it. An output of unknown shape is not checked.
    - `vocab_size`, if above 0, is at most the number of words in `logits`. `vocab_mask`, `prefix_vocab_mask` and
      `presence_mask` have a number for each word.
    - The encoder has as many layers as the decoder, and returns `encoder_hidden_states` if the decoder has this input.
    - Both or none of `decoder` and `init_decoder` have the input `past_sequence_length`.
    - One fault is reported for each graph, since further ones often follow from it.
    - Not checked: a `model_type` that is a parameter of a function.
    """
    for search in searches(model):
        is_faulty = False
        for name, graph in search.graphs.items():
            if name in search.forms:
                found = _fault(model, search.node, graph, search.forms[name])
                if found is not None:
                    is_faulty = True
                    yield _finding(search, graph, name, found)
        if not is_faulty and "decoder" in search.forms and "decoder" in search.graphs:
            yield from _words(model, search)
            yield from _pairs(search)


class GraphFault(Record):
    """What is wrong with a graph, and what would be right."""

    field: str
    check: str
    """What is compared: the number of inputs or outputs, a name, a type, the dimensions or one of them."""
    what: str
    allowed: str
    index: int | None = None
    """The index of the input or output; None for their number."""
    is_refused: bool = True
    """True if each known release refuses it when it makes a session."""


def _fault(model: Model, node: Node, graph: Graph, forms: Sequence[GraphForm]) -> GraphFault | None:
    """Return the first fault of a graph."""
    names = tuple(graph.input_names)
    form = next((each for each in forms if len(forms) == 1 or len(each.inputs) == len(names)), None)
    if form is None:
        needed = listed([str(len(each.inputs)) for each in reversed(forms)], "or")
        return GraphFault("input", "input count", f"has {counted(len(names), 'input')}", f"{needed} inputs")
    inputs = _named(form, names)
    outputs = list(form.outputs.items())
    return (
        _wrong_count(node, graph, form, len(inputs))
        or _wrong_name("input", names, [each for each, _ in inputs])
        or _wrong_name("output", graph.output_names, [each for each, _ in outputs])
        or _wrong_value(model, graph, form, inputs, outputs)
    )


def _named(form: GraphForm, names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the first inputs, with what each must be, without those that may be left out and are."""
    found: list[tuple[str, str]] = []
    for name, text in form.inputs.items():
        required = name.removeprefix("?")
        if required == name or names[len(found) : len(found) + 1] == (required,):
            found.append((required, text))
    return found


def _wrong_count(node: Node, graph: Graph, form: GraphForm, named: int) -> GraphFault | None:
    known = {"named": named, "outputs": len(graph.output_names)}
    for field, names, counts in (
        ("output", graph.output_names, form.output_counts),
        ("input", graph.input_names, form.input_counts),
    ):
        choices = _chosen(counts, node, graph)
        if not any(_fits(each, len(names), known) for each in choices.split()):
            allowed = _in_words(choices, known, field)
            needed = _lacking(counts, known, node, graph, len(names))
            if needed:
                allowed += f"; {counted(len(names), field)} only with {needed}"
            return GraphFault(field, f"{field} count", f"has {counted(len(names), field)}", allowed)
    return None


def _lacking(counts: Mapping[str, str], known: Mapping[str, int], node: Node, graph: Graph, number: int) -> str:
    """Return what a graph or node must have to have this number of inputs or outputs, in words; empty if nothing."""
    found = []
    for words, text in counts.items():
        if words != "else" and any(_fits(each, number, known) for each in text.split()):
            lacking = [each for each in words.split() if not _are_true(each, node, graph)]
            found.append(listed([_called(each) for each in lacking], "and"))
    return listed(found, "or")


def _called(word: str) -> str:
    """Return an operator, an attribute of the node or an input of the graph in words."""
    if word[0].isupper():
        return f"the operator {word}"
    return f"attribute {quote(word[1:])}" if word.startswith("@") else f"input {quote(word)}"


def _chosen(counts: Mapping[str, str], node: Node, graph: Graph) -> str:
    """Return how many inputs or outputs a graph of a node may have."""
    return next(text for words, text in counts.items() if words == "else" or _are_true(words, node, graph))


def _are_true(words: str, node: Node, graph: Graph) -> bool:
    """Return whether a graph has all of these inputs and operators, or the node these attributes."""
    known = {*graph.input_names, *[form.op_type for form in graph.forms]}
    known.update([f"@{each.name}" for each in node.attribute_protos if each.i])
    return known.issuperset(words.split())


def _terms(text: str, known: Mapping[str, int]) -> tuple[int, int]:
    """Return how many there are in any case, and how many for each layer; 0 if layers do not count."""
    always, layer = 0, 0
    for term in text.split("+"):
        if term.endswith("n"):
            layer = int(term[:-1])
        else:
            always += known[term] if term in known else int(term)
    return always, layer


def _fits(text: str, count: int, known: Mapping[str, int]) -> bool:
    always, layer = _terms(text, known)
    rest = count - always
    return (rest > 0 and not rest % layer) if layer else not rest


def _in_words(choices: str, known: Mapping[str, int], field: str) -> str:
    """Return how many inputs or outputs a graph may have, in words."""
    always, layer = _terms(choices.split()[0], known)
    if not layer:
        numbers = [str(_terms(each, known)[0]) for each in choices.split()]
        return f"{listed(numbers, 'or')} {field}{'s' * (numbers != ['1'])}"
    return f"{counted(always, field)} and {layer} for each layer" if always else f"{layer} {field}s for each layer"


def _wrong_name(field: str, names: Sequence[str], required: Sequence[str]) -> GraphFault | None:
    for index, (name, right) in enumerate(zip(names, required, strict=False)):
        if right not in ("*", name):
            return GraphFault(field, "name", f"is called {quote(name)}", f"be called {quote(right)}", index)
    return None


_TYPES: Mapping[str, tuple[str, ...]] = {
    "F": ("tensor(float)", "tensor(float16)"),
    "T": ("tensor(float)", "tensor(float16)"),
    "int32": ("tensor(int32)",),
}


def _wrong_value(
    model: Model, graph: Graph, form: GraphForm, inputs: Sequence[tuple[str, str]], outputs: Sequence[tuple[str, str]]
) -> GraphFault | None:
    """Return the first value of another type or shape. Inputs have what they declare, outputs what is inferred."""
    bound: dict[str, tuple[str, str]] = {}
    states = (len(graph.input_names) - len(inputs)) // _STATES * _STATES
    others = [form.others] * (len(graph.output_names) - len(outputs))
    for field, names, texts in (
        ("output", graph.output_names, [*[text for _, text in outputs], *others]),
        ("input", graph.input_names, [*[text for _, text in inputs], *[form.states] * states]),
    ):
        for index, (name, text) in enumerate(zip(names, texts, strict=False)):
            kind, *dims = text.split()
            fact = model.value_flow.fact_of(name, graph)
            wrong = _wrong_type(name, fact.kind, kind, bound) or _wrong_dims(fact.shape, dims, field)
            if wrong is not None:
                # Older releases do not compare a rank alone.
                return GraphFault(field, *wrong, index, is_refused=set(dims) != {"?"} or kind in wrong[2])
    return None


_STATES = 4
"""The inputs of each layer of a decoder after an encoder."""


_WhatIsWrong = tuple[str, str, str] | None
"""What is compared, what is wrong with it, and what would be right."""


def _wrong_type(name: str, found: str | None, kind: str, bound: dict[str, tuple[str, str]]) -> _WhatIsWrong:
    if found is None or kind not in _TYPES:
        return None
    if found not in _TYPES[kind]:
        return "type", f"is {found}", f"be {listed([*_TYPES[kind]], 'or')}"
    other, first = bound.setdefault(kind, (found, name))
    if kind == "T" and found != other:
        return "type", f"is {found}", f"be {other} like {quote(first)}"
    return None


def _wrong_dims(shape: Sequence[int | str | None] | None, dims: Sequence[str], field: str) -> _WhatIsWrong:
    if not dims:
        return None
    if shape is None:
        return ("dimensions", "has no shape", f"have {counted(len(dims), 'dimension')}") if field == "input" else None
    if len(shape) != len(dims):
        return "dimensions", f"is {describe_shape(shape)}", f"have {counted(len(dims), 'dimension')}"
    for axis, (dim, required) in enumerate(zip(shape, dims, strict=True)):
        is_open = required == "?" or (dim is None and field == "output")
        if is_open or str(dim) == required or (required == "+" and isinstance(dim, int) and dim > 0):
            continue
        what = "a size that the graph declares" if required == "+" else required
        return f"dimension {axis}", f"is {describe_shape(shape)}", f"have {what} as dimension {axis}"
    return None


def _finding(search: SearchNode, graph: Graph, name: str, fault: GraphFault) -> Finding:
    whole = f"{graph.describe()}, the {quote(name)} of {search.node.describe()},"
    place, subject, what = graph.place, search.subject, "needs"
    if fault.index is not None:
        subject = (graph.input_names if fault.field == "input" else graph.output_names)[fault.index]
        named = "" if fault.what.startswith("is called") else f" {quote(subject)}"
        place, whole = graph.at(fault.field, fault.index), f"{fault.field} {fault.index}{named} of {whole}"
        what = "must"
    return Finding(
        place,
        f"{whole} {fault.what}, but {what} {fault.allowed}",
        clause="SUB-7d" if fault.is_refused else "SUB-7e",
        anchor=search.anchor,
        related=(Related(search.node.place, search.node.describe()),),
        allowed=fault.allowed,
        subject=subject,
        inner=fault.check,
    )


_MASKS = ("vocab_mask", "prefix_vocab_mask", "presence_mask")
"""The inputs with a number for each word in their last dimension."""


def _words(model: Model, search: SearchNode) -> Iterator[Finding]:
    """Report another number of words than the decoder has."""
    node, decoder = search.node, search.graphs["decoder"]
    shape = model.shape_of(decoder.output_names[0], decoder)
    width, size = shape[-1] if shape else None, search.numbers.get("vocab_size", 0)
    if not isinstance(width, int):
        return
    has = f"the 'logits' of its decoder have {width} words"
    if size > width:
        what = f"attribute 'vocab_size' of {node.describe()} is {size}, but {has}"
        yield _of_both(search, "vocab_size", what, f"at most {width}")
        return
    words = size if size > 0 else width
    has = f"attribute 'vocab_size' is {size}" if size > 0 else has
    for index, operand in enumerate(search.schema.inputs[: len(node.inputs)]):
        mask = model.shape_of(node.inputs[index], node.graph) if operand.name in _MASKS and node.inputs[index] else None
        if mask and isinstance(mask[-1], int) and mask[-1] != words:
            what = f"input {index} '{operand.name}' of {node.describe()} is {describe_shape(mask)}, but {has}"
            yield _of_both(search, operand.name, what, f"{words} as the last dimension")
    least = search.numbers.get("min_tokens_to_keep", 0)
    if least >= words:
        what = f"attribute 'min_tokens_to_keep' of {node.describe()} is {least}, but {has}"
        yield _of_both(search, "min_tokens_to_keep", what, f"less than {words}")


def _pairs(search: SearchNode) -> Iterator[Finding]:
    """Report two graphs of a node that do not fit each other."""
    node, forms, graphs = search.node, search.forms, search.graphs
    decoder = graphs["decoder"]
    first = graphs.get("init_decoder") if "init_decoder" in forms else None
    if first is not None and (_SHARED in first.input_names) is not (_SHARED in decoder.input_names):
        what = f"only one of 'decoder' and 'init_decoder' of {node.describe()} has an input '{_SHARED}'"
        yield _of_both(search, _SHARED, what, "both, or none")
    encoder = graphs.get("encoder") if "encoder" in forms else None
    if encoder is None:
        return
    hidden = "encoder_hidden_states"
    if hidden in decoder.input_names and hidden not in encoder.output_names:
        what = f"the decoder of {node.describe()} has an input '{hidden}', which its encoder does not return"
        yield _of_both(search, hidden, what, f"an encoder with 3 inputs, which returns '{hidden}'")
        return
    one, other = (
        _layer_count(node, graph, forms[name]) for name, graph in (("encoder", encoder), ("decoder", decoder))
    )
    if one != other:
        what = f"the encoder of {node.describe()} has states of {counted(one, 'layer')}, but its decoder of {other}"
        yield _of_both(search, "layers", what, "as many layers")


_SHARED = "past_sequence_length"


def _layer_count(node: Node, graph: Graph, forms: Sequence[GraphForm]) -> int:
    form = next((each for each in forms if len(each.inputs) == len(graph.input_names)), forms[0])
    always, layer = _terms(_chosen(form.output_counts, node, graph), {})
    return (len(graph.output_names) - always) // layer


def _of_both(search: SearchNode, check: str, what: str, allowed: str) -> Finding:
    return Finding(
        search.node.place,
        what,
        clause="SUB-7e",
        anchor=search.anchor,
        allowed=allowed,
        subject=search.subject,
        inner=check,
    )
