# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from functools import partial
from typing import Final

from onnx_lint.ir.operators.import_fixes import ImportFixes
from onnx_lint.ir.operators.imports import DomainUsers, count_domains
from onnx_lint.model import (
    ROOT,
    Assign,
    Function,
    Model,
    Node,
    Place,
    Proposals,
    functions_are_bound,
    may_lack_imports,
    normalized_domain,
    only,
    ready,
    shown_domain,
)
from onnx_lint.rule import Faults, Finding, replace, rule
from onnx_lint.spec.ir_versions import LATER_FIELDS
from onnx_lint.wording import Suggestions, quote, quote_some

MAX_LISTED = 10


@rule(
    clause=("MOD-5", "MOD-5a", "MOD-6", "MOD-6a", "OPR-1", "FUN-12", "FUN-17"),
    since="0.1.0",
    about=may_lack_imports,
    needs="function",
)
def missing_opset_import(model: Model) -> Iterator[Finding]:
    """An operator set that is needed is not imported.

    ### How to fix

    - Import each domain that a node has. In each function, import the domains of its body.
    - `onnx-lint fix --unsafe-fixes` (unsafe: another version may be meant) adds the newest version that all nodes of
      the domain allow and that the IR version has. A function gets the version that the model imports. If an operator
      is unknown, nothing is added.
    - The `onnx` package: `onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("com.microsoft", 1),
      ...])`.
    - PyTorch: `torch.onnx.export(..., custom_opsets={"com.example": 1})` with `dynamo=False`.
    - tf2onnx: `--extra_opset com.example:1`.

    ### Example

    ```
    opset_import { domain: "" version: 21 }
    node { op_type: "Gelu" domain: "com.microsoft" input: "x" output: "y" }
    ```

    Corrected:

    ```
    opset_import { domain: "" version: 21 }
    opset_import { domain: "com.microsoft" version: 1 }
    node { op_type: "Gelu" domain: "com.microsoft" input: "x" output: "y" }
    ```

    ### Why it matters

    The import defines which version of an operator a node means. Without it, consumers refuse the model or guess.

    ### Details

    - From IR version 3 on, the model must import each domain of a node outside of functions, and each domain of its
      functions.
    - Each function must import each domain of a node in its body.
    - The nodes of a nested graph are part of the model or function around it.
    - A call of a model-local function needs the import of its domain like any other node.
    - Each domain is reported once for the model and once for each function, at the first node that has it.
    - If no node has the default domain, its missing import is a warning. The comment on the field requires the
      import, but the specification says that every model imports the domain implicitly. `onnx.checker` and ONNX
      Runtime accept such a model if it imports another domain.
    - If a node has the default domain, its missing import is an error: the node has no version.
    - A model that imports nothing is a warning if no node or function needs an operator set.
    - Functions are not checked with `--edition 1.9`, which has none, nor in an operator set of IR version 7 or
      earlier, where they had no imports.
    """
    in_use = model.domains_in_use
    hint_of = partial(_hint, {normalized_domain(each.domain) for each in model.functions}, Suggestions())
    fixes = ImportFixes(model.graphs, model.operators, model.imports, model.effective_ir_version)
    if model.imports.are_stated and model.effective_ir_version >= LATER_FIELDS["ModelProto.opset_import"].ir_version:
        yield from _missing_in_model(model, in_use[None], hint_of, fixes)
    if functions_are_bound(model):
        domains = model.imports.domains
        none: frozenset[str] = frozenset()
        lacking = [function for function in model.functions if in_use.get(function.index, none) - domains(function)]
        counts = count_domains(model.graphs) if lacking else {}
        users = DomainUsers(model.graphs)
        for function in lacking:
            yield from _missing_in_function(model, function, counts[function.index], users, hint_of, fixes)


_TWO_SENTENCES: Final = (
    "onnx.proto requires every model to import the default operator set, "
    "but IR.md says that models import it implicitly"
)


def _missing_in_model(
    model: Model, used: frozenset[str], hint_of: Callable[[str, Sequence[str]], str], fixes: ImportFixes
) -> Iterator[Finding]:
    imported = model.imports.domains(None)
    if not imported:
        is_needed = bool(used or model.functions)
        yield Finding(
            ROOT.at("opset_import"),
            f"the model imports no operator set{'' if is_needed else f', and no node needs one; {_TWO_SENTENCES}'}",
            clause="MOD-5" if is_needed else "MOD-5a",
            allowed="an import for each domain in use",
            fix=fixes.importing(_needed(model)),
        )
        return
    if not used <= imported:
        known = _listed(imported)
        users = DomainUsers(model.graphs)
        for domain, count in count_domains(model.graphs)[None].items():
            if domain not in imported:
                clause = "OPR-1" if domain else "MOD-6"
                case = "registered" if domain in model.target.assumed_imports else None
                whole = _of_domain("the model", known, domain, clause)
                whole = replace(whole, case=case, fix=fixes.importing([domain]))
                hint = hint_of(domain, known)
                first = users.first(None, domain)
                if count == 1:
                    whole = replace(whole, proposals=_of_ai_onnx(model, domain, first))
                yield _finding(whole, hint, first, count, partial(users.nodes, None, domain))
    if "" not in imported and "" not in used:
        yield Finding(
            ROOT.at("opset_import"),
            f"the model imports no version of 'ai.onnx', which no node needs; {_TWO_SENTENCES}",
            clause="MOD-6a",
            allowed="an import of 'ai.onnx'",
            subject="ai.onnx",
            fix=fixes.importing([""]),
        )
    yield from _missing_for_functions(model, imported, used, fixes)


def _needed(model: Model) -> list[str]:
    """Return the domains that the nodes outside of functions have, those of the functions, and the default domain.

    Without an import of the default domain there would be another finding of this rule.
    """
    domains = [*count_domains(model.graphs)[None], *(normalized_domain(each.domain) for each in model.functions), ""]
    return list(dict.fromkeys(domains))


def _missing_for_functions(
    model: Model, imported: frozenset[str], used: frozenset[str], fixes: ImportFixes
) -> Iterator[Finding]:
    seen = {"", "ai.onnx", *imported, *used}
    for function in model.functions:
        domain = normalized_domain(function.domain)
        if domain in seen:
            continue
        seen.add(domain)
        yield Finding(
            function.place.at("domain"),
            f"the model does not import {quote(domain)}, the domain of {function.body.describe()}",
            clause="FUN-17",
            allowed=f"an import of {quote(domain)}",
            subject=domain,
            fix=fixes.importing([domain]),
        )


def _of_ai_onnx(model: Model, domain: str, node: Node) -> Proposals | None:
    """Return the default domain for the one node of a known domain that does not have its operator."""
    schemas = model.operators.schemas
    if not domain or domain not in schemas.known_domains() or schemas.versions(domain, node.op_type):
        return None
    return only(ready("write domain='' on the node", Assign(node.place.at("domain"), "")))


def _missing_in_function(
    model: Model,
    function: Function,
    used: Counter[str],
    users: DomainUsers,
    hint_of: Callable[[str, Sequence[str]], str],
    fixes: ImportFixes,
) -> Iterator[Finding]:
    imported = model.imports.domains(function)
    known = _listed(imported)
    for domain, count in used.items():
        if domain not in imported:
            whole = _of_domain(function.body.describe(), known, domain, "FUN-12")
            whole = replace(whole, fix=fixes.importing([domain], function))
            hint = hint_of(domain, known)
            nodes = partial(users.nodes, function.index, domain)
            yield _finding(whole, hint, users.first(function.index, domain), count, nodes)


def _hint(own: Set[str], suggestions: Suggestions, domain: str, known: Sequence[str]) -> str:
    """Return the words on an imported domain of nearly this name.

    `own`: the domains of the model's own functions. A node of one means it.
    """
    return "" if domain in own else suggestions(shown_domain(domain), known)


def _of_domain(importer: str, known: Sequence[str], domain: str, clause: str) -> Finding:
    """Return the finding on an import without the nodes that need it."""
    name = shown_domain(domain)
    return Finding(
        ROOT,
        f"{importer} does not import {quote(name)}",
        clause=clause,
        allowed=_allowed(name, known),
        subject=name,
        collective=True,
    )


def _finding(
    whole: Finding, hint: str, first: Node, count: int, nodes: Sequence[Node] | Callable[[], Sequence[Node]]
) -> Finding:
    """Return the finding with its place, the nodes and the hint in its message, and the parts."""
    users = f"which {first.describe()} needs" if count == 1 else f"which {count:,} nodes need, first {first.describe()}"
    return replace(
        whole,
        place=_place(first),
        message=f"{whole.message}, {users}{hint}",
        parts=Faults(
            nodes,
            partial(_of_nodes, whole, hint),
            lambda node: (_place(node), whole.subject),
            inner=lambda _: whole.subject or "",
        ),
    )


def _of_nodes(whole: Finding, hint: str, nodes: Sequence[Node]) -> Finding:
    return _finding(whole, hint, nodes[0], len(nodes), nodes)


def _place(node: Node) -> Place:
    return node.place.at("domain" if node.domain else "op_type")


def _listed(imported: frozenset[str]) -> list[str]:
    """The domains as they are shown, in an order that does not change from run to run."""
    return sorted(shown_domain(domain) for domain in imported)


def _allowed(domain: str, known: Sequence[str]) -> str:
    if not known:
        return "an import for each domain in use; nothing is imported"
    more = f" and {len(known) - MAX_LISTED} more" if len(known) > MAX_LISTED else ""
    return f"an import of {quote(domain)}, or a node of an imported domain: {quote_some(known, MAX_LISTED)}{more}"
