# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from functools import cache
from typing import Final

from onnx_lint.ir.names.misspelling import is_respelt
from onnx_lint.ir.operators.mismatch import describe_importer, fits
from onnx_lint.ir.operators.proposals import as_sentences
from onnx_lint.model import (
    ROOT,
    AlikeNodes,
    Assign,
    FaultKind,
    Function,
    Insert,
    Model,
    Node,
    Operator,
    OperatorSchemas,
    OperatorStatus,
    Proposals,
    has_misused_operators,
    message,
    only,
    ready,
)
from onnx_lint.model.import_proposals import proposed_import
from onnx_lint.rule import Finding, Record, Related, replace, rule
from onnx_lint.spec.operators import onnxruntime_default_domain, sources
from onnx_lint.spec.operators.foreign_names import OF_FRAMEWORKS, RUNTIME_HAD_FIRST, RUNTIME_TRAINING, TENSORFLOW
from onnx_lint.spec.operators.history import REMOVED_EXPERIMENTAL
from onnx_lint.wording import nearest, quote, quote_some

_RUNTIME_DOMAINS = ("com.microsoft", "com.microsoft.nchwc")

_PREVIEWS = ("ai.onnx.preview", "ai.onnx.preview.training")

_MAX_COMPARED = 100
"""The limit on unknown operators for spelling hints: with more of them, spelling is not the fault."""


@rule(
    clause=("OPR-1", "OPR-2"),
    since="0.1.0",
    about=has_misused_operators,
    needs="node",
)
def unknown_operator(model: Model) -> Iterator[Finding]:
    """A node uses an operator that the imported operator set does not have.

    ### How to fix

    Use an operator of the imported version, or import the version that has this operator.

    - A typing error: use the name in "did you mean". Names are case sensitive.
    - The operator is newer: import its version, and check the other nodes of that domain. PyTorch:
      `torch.onnx.export(..., opset_version=17)`; skl2onnx: `target_opset={"": 17, "ai.onnx.ml": 3}`; tf2onnx: `--opset
      17`.
    - The operator was removed: rewrite the node with the operators that replaced it.
    - It is an operator of your runtime: put it into the runtime's domain, for example `com.microsoft`. If an optimizer
      of a runtime wrote it, save the model without optimizations; for ONNX Runtime, lower
      `SessionOptions.graph_optimization_level`.
    - It is your own: add a function of its name, or describe the domain in a schema file (`--opset-schema`).

    ### Example

    ```
    opset_import { version: 13 }
    node { op_type: "LayerNormalization" input: "x" input: "scale" output: "y" }
    ```

    Corrected:

    ```
    opset_import { version: 17 }
    node { op_type: "LayerNormalization" input: "x" input: "scale" output: "y" }
    ```

    ### Why it matters

    Nothing defines what the node computes. Consumers refuse it, or run their own operator of that name. `onnx.checker`
    accepts an unknown operator of `ai.onnx.preview` and of `ai.onnx.preview.training`.

    ### Details

    - If another version of the operator set fits nodes that do not fit the imported one, their faults are one finding,
      which names that version.
    - A function of the model with this domain and name defines the operator, also if ONNX has one of that name.
    - An imported domain that has an operator of this name, or that of ONNX Runtime, is suggested if the node fits it.
    - A function of the model with this name in another domain is suggested if the importer has that domain, and the
      function takes the inputs, outputs and attributes of the node.
    - Inside a function body, the function's own imports decide.
    - A domain is checked if ONNX publishes it, or if a schema file or an operator-set file describes it. The file must
      list all operators of its domain.
    - Nodes of other domains, and of a version newer than onnx-lint knows, are *not verified*.
    - Unknown operators of ONNX Runtime's domains are *not verified*, because a newer release may have them.
    - ONNX Runtime defines operators of its own in the default domain (SimplifiedLayerNormalization, LayerNormalization
      below version 17). The message names its list of operators. With `--target onnxruntime=VERSION`, those of the
      release are a warning.
    - Reported by other rules: a missing import (`missing-opset-import`), a deprecated operator (`deprecated-operator`),
      a removed experimental operator (`removed-experimental-operator`), a name that is not UTF-8 (`invalid-utf8`).
    """
    unknown = [alike for alike in model.operators.alike_nodes if alike.operator.status is OperatorStatus.UNKNOWN]
    own = _own_functions(model, {alike.operator.op_type for alike in unknown})
    unreadable = {fault.place for fault in model.faults_of(FaultKind.UTF8)}
    names_of = cache(model.operators.schemas.operator_names)
    for count, alike in enumerate(unknown):
        operator = alike.operator
        if operator.domain or operator.op_type not in REMOVED_EXPERIMENTAL:
            names = names_of(operator.domain, operator.opset_version) if count < _MAX_COMPARED else ()
            nodes = (node for node in alike.nodes if node.place.at("op_type") not in unreadable)
            yield from _findings(model, alike, nodes if unreadable else alike.nodes, names, own)


class _NearName(Record):
    """A known operator that a wrong name may mean."""

    name: str
    is_only: bool = False
    """True if it alone has the same letters and numbers."""
    do_nodes_fit: bool = False
    """True if the nodes with the wrong name fit its signature as well."""


def _findings(
    model: Model, alike: AlikeNodes, nodes: Iterable[Node], names: Collection[str], own: Mapping[str, list[Function]]
) -> Iterator[Finding]:
    """Yield the findings on alike nodes of an unknown operator.

    `names`: the operators of its domain with which it is compared. `own`: see `_own_functions`.
    """
    operator = alike.operator
    spelling = _other_case(operator, names)
    # Only the text from edition 1.16 on has the sentence on letter case.
    clause = "OPR-2" if spelling and model.standard.at_least("1.16") else "OPR-1"
    knowledge: dict[str, str] = {}
    near: _NearName | None = None
    for node in nodes:
        importer = describe_importer(node)
        if importer not in knowledge:
            imported = model.imports.domains(node.graph.function)
            knowledge[importer] = _what_is_known(model.operators.schemas, operator, importer, imported)
            near = near or _near_name(model, alike, knowledge[importer], spelling, names)
        function = _called(model, node, own)
        known = knowledge[importer] if function is None else _lacks(operator)
        if function is None:
            proposals = _other_name(node, near) or _other_domain(alike, node, model)
        else:
            proposals = _own_domain(node, function)
        yield Finding(
            node.place.at("op_type"),
            f"{node.describe()} uses an operator that {known}",
            related=() if function is None else (Related(function.place, "defines the operator"),),
            proposals=proposals,
            clause=clause,
            allowed=f"an operator of version {operator.opset_version} of {_domain(operator.domain)}",
            subject=operator.op_type,
            cause=operator.versioned_name,
            case=_case(node, operator),
        )


def _case(node: Node, operator: Operator) -> str | None:
    """Return the case of the clause if programs treat the operator in another way than any unknown one."""
    if _is_of_runtime(operator):
        return "own-operator"
    # onnx asks for a schema in the other domains that ONNX publishes.
    # In a document that is a node, the node has no way to it.
    is_in_training = any(field == "training_info" for field, _ in node.place.key[:1])
    return "preview" if operator.domain in _PREVIEWS and not is_in_training else None


def _near_name(
    model: Model, alike: AlikeNodes, known: str, spelling: str | None, names: Collection[str]
) -> _NearName | None:
    """Return the operator that a wrong name may mean. `known`: what is known of that name."""
    operator = alike.operator
    near = _nearest(operator.op_type, known, spelling, names)
    if near is None:
        return None
    if [name for name in names if is_respelt(operator.op_type, name)] != [near]:
        return _NearName(near)
    do_nodes_fit = _fits(alike, operator.domain, near, operator.opset_version, model)
    return _NearName(near, is_only=True, do_nodes_fit=do_nodes_fit)


def _nearest(name: str, known: str, spelling: str | None, names: Collection[str]) -> str | None:
    """Return the name that a wrong name may mean. `known`: what is known of the wrong one."""
    if _LACKS not in known:
        return None
    plain = name.replace("::", ".").rpartition(".")[2]  # aten::relu, torch.nn.Linear
    foreign = OF_FRAMEWORKS.get(plain)
    if foreign in names:
        return foreign
    if plain != name:
        return next((each for each in names if each.lower() == plain.rstrip("_").lower()), None)
    return spelling or (nearest(name, names) if known.endswith(_LACKS) else None)


def _own_functions(model: Model, names: Set[str]) -> dict[str, list[Function]]:
    """Return the functions of the model that have one of the names, whatever their domain."""
    found: dict[str, list[Function]] = {}
    for function in model.functions:
        if function.name in names and function.domain:
            found.setdefault(function.name, []).append(function)
    return found


def _called(model: Model, node: Node, own: Mapping[str, list[Function]]) -> Function | None:
    """Return the function that the node would call if it named its domain; None if that call would not be right."""
    for function in own.get(node.op_type, ()):
        is_called = function is not node.graph.function and node.overload == function.overload
        body = function.body
        fits = len(node.inputs) <= len(body.input_names) and len(node.outputs) <= len(body.output_names)
        attributes = {*function.attribute_names, *(each.name for each in function.attribute_defaults)}
        takes = {each.name for each in node.attribute_protos} <= attributes
        if is_called and fits and takes and function.domain in model.imports.domains(node.graph.function):
            return function
    return None


def _own_domain(node: Node, function: Function) -> Proposals:
    """Return the domain of a function that the node forgot."""
    option = ready(quote(function.qualified_name), Assign(node.place.at("domain"), function.domain))
    help_line = f"write domain={quote(function.domain)} on the node"
    return Proposals(
        "did you mean {}, a function of the model?", lambda: (option,), ends_message=True, help_line=help_line
    )


def _other_name(node: Node, near: _NearName | None) -> Proposals | None:
    """Return another operator of nearly the name of the wrong one."""
    if near is None:
        return None
    name = ready(quote(near.name), Assign(node.place.at("op_type"), near.name))
    option = replace(name, uncovers_own_node=near.is_only)
    return Proposals("did you mean {}?", lambda: (option,), ends_message=True, needs_no_trial=near.do_nodes_fit)


def _fits(alike: AlikeNodes, domain: str, name: str, version: int | None, model: Model) -> bool:
    """Return whether alike nodes fit the signature of an operator."""
    schema = model.operators.schemas.find(domain, name, version) if version is not None else None
    return schema is not None and not schema.deprecated and fits(schema, alike)


def _other_domain(alike: AlikeNodes, node: Node, model: Model) -> Proposals | None:
    """Return the one known domain that has the operator: an imported one, or that of ONNX Runtime.

    If the node's own domain had the operator in another version, return the import of that version.
    """
    operator, schemas = alike.operator, model.operators.schemas
    imported = model.imports.domains(node.graph.function)
    known = [each for each in schemas.domains_of(operator.op_type) if each != operator.domain]
    domains = [each for each in known if each in imported]
    if domains:
        return _imported_domain(alike, node, domains[0], model) if len(domains) == 1 else None
    if schemas.versions(operator.domain, operator.op_type):
        return proposed_import(model, alike, node)
    may_import = node.graph.function is None and model.imports.are_stated
    return _runtime_domain(node, model) if _RUNTIME_DOMAINS[0] in known and may_import else None


def _imported_domain(alike: AlikeNodes, node: Node, domain: str, model: Model) -> Proposals:
    """Return an imported domain of the operator. It is certain if the node's own domain never had the operator."""
    operator = alike.operator
    text, edit = _on_node(node, domain)
    is_lacking = not model.operators.schemas.versions(operator.domain, operator.op_type)
    version = model.operators.opset_versions(node.graph).get(domain)
    needs_no_trial = is_lacking and _fits(alike, domain, operator.op_type, version, model)
    return as_sentences(lambda: (ready(text, edit),), needs_no_trial=needs_no_trial)


def _runtime_domain(node: Node, model: Model) -> Proposals:
    """Return the domain of ONNX Runtime, with an import of it."""
    domain = _RUNTIME_DOMAINS[0]
    text, edit = _on_node(node, domain)
    entry = message("OperatorSetIdProto")(domain=domain, version=1)
    end = ROOT.at("opset_import", len(model.proto.opset_import))
    return only(ready(f"{text}, and import version 1 of that domain", edit, Insert(end, entry)))


def _on_node(node: Node, domain: str) -> tuple[str, Assign]:
    """Return the change of a node's domain, in words and as an edit."""
    return f"write domain={quote(domain)} on the node", Assign(node.place.at("domain"), domain)


_LACKS: Final = "does not have"
"""The end of what is known of an operator if there is nothing else."""


def _is_of_runtime(operator: Operator) -> bool:
    return not operator.domain and (
        operator.op_type in RUNTIME_HAD_FIRST or operator.op_type in onnxruntime_default_domain()
    )


def _what_is_known(
    schemas: OperatorSchemas,
    operator: Operator,
    importer: str,
    domains: Set[str],
) -> str:
    """Return what is known of an unknown operator, in words. `domains`: those that are imported."""
    versions = schemas.versions(operator.domain, operator.op_type)
    if versions and versions[0] > (operator.opset_version or 0):
        came = f"came with version {versions[0]} of {_domain(operator.domain)}, "
        came += f"but {importer} imports {operator.opset_version}"
        is_runtimes = not operator.domain and operator.op_type in RUNTIME_HAD_FIRST
        return f"{came}; below that version {_list_of_runtime()} has it" if is_runtimes else came
    who_has = _who_has(schemas, operator, domains)
    return f"{_lacks(operator)}{'' if who_has is None else f'; {who_has}'}"


def _lacks(operator: Operator) -> str:
    return f"{_domain(operator.domain)} {operator.opset_version} {_LACKS}"


def _who_has(schemas: OperatorSchemas, operator: Operator, domains: Set[str]) -> str | None:
    """Return which list or domain has an operator of the name. `domains`: those that are imported."""
    name, is_default = operator.op_type, not operator.domain
    if is_default and name in onnxruntime_default_domain():
        return f"{_list_of_runtime()} has it{', a plugin of TensorRT' if name.endswith('_TRT') else ''}"
    if is_default and name in RUNTIME_TRAINING:
        return "the list of operators of ONNX Runtime Training has it"
    others = [domain for domain in schemas.domains_of(name) if domain != operator.domain]
    if others:
        # A domain that is imported was meant, and forgotten on the node.
        return _owners([each for each in others if each in domains] or others)
    return "the list of operators of TensorFlow has it" if name in TENSORFLOW else None


def _list_of_runtime() -> str:
    return f"the list of operators of onnxruntime {sources()['onnxruntime']}"


def _owners(domains: list[str]) -> str:
    names = quote_some(domain or "ai.onnx" for domain in domains)
    runtimes = all(domain in _RUNTIME_DOMAINS for domain in domains)
    return f"{_list_of_runtime()} has it in {names}" if runtimes else f"{names} has it"


def _other_case(operator: Operator, names: Collection[str]) -> str | None:
    """Return the operator of the imported version that differs only in upper and lower case."""
    # Folding makes a character three at most, and first takes up twelve times the memory of a name, which may be huge.
    if len(operator.op_type) > 3 * max(map(len, names), default=0):
        return None
    folded = operator.op_type.casefold()
    return next((name for name in names if name.casefold() == folded), None)


def _domain(domain: str) -> str:
    return quote(domain or "ai.onnx")
