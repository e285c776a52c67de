# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from onnx_lint.ir.operators.imports import Importer
from onnx_lint.model import Delete, Fix, Model, Place, Proto, has_unusual_imports, normalized_domain, shown_domain
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote


@rule(
    clause=("OPS-2", "OPS-2a", "MOD-12", "FUN-13", "FUN-13a"),
    since="0.1.0",
    about=has_unusual_imports,
    needs="function",
)
def duplicate_opset_import(model: Model) -> Iterator[Finding]:
    """A domain is imported more than once.

    ### How to fix

    - Keep the version that the nodes are written for.
    - Before you merge two models, convert both to one version: `onnx.version_converter.convert_version(model, 13)`.
    - `onnx-lint fix` (safe) deletes an import with the name and version of an earlier one.

    ### Example

    ```
    opset_import { domain: "" version: 11 }
    opset_import { domain: "ai.onnx" version: 13 }
    ```

    Corrected:

    ```
    opset_import { domain: "" version: 13 }
    ```

    ### Why it matters

    The version of a domain defines what its operators mean. With two versions, the meaning depends on the reader. The
    same version twice is harmless and a note: two tools wrote into one list.

    ### Details

    - The model and each function should import a domain only once.
    - The empty domain and `ai.onnx` are equal. This is a convention of tools, which the specification does not
      mention.
    - In a function, a second version is an error.
    - In the model, a second version is a warning: the specification does not forbid it, and says that nodes use the
      highest version. Consumers differ in the version that they use.
    """
    for importer in model.imports.where(_has_duplicates):
        yield from _duplicates(model, importer)


def _has_duplicates(entries: Sequence[Proto]) -> bool:
    return len({normalized_domain(entry.domain) for entry in entries}) != len(entries)


def _duplicates(model: Model, importer: Importer) -> Iterator[Finding]:
    function = importer.function
    first: dict[str, tuple[Place, Proto]] = {}
    versions: dict[tuple[str, int], tuple[Place, Proto]] = {}
    written: dict[str, set[tuple[str, int]]] = {}
    for entry in importer.entries:
        written.setdefault(normalized_domain(entry.domain), set()).add((entry.domain, entry.version))
    for index, entry in enumerate(importer.entries):
        place = importer.place.at("opset_import", index)
        domain = normalized_domain(entry.domain)
        same = versions.setdefault((domain, entry.version), (place, entry))
        earlier = first.setdefault(domain, (place, entry))
        if same[0] is not place:
            # Beside another version it decides which one a reader takes, the first or the last.
            has_fix = len(written[domain]) == 1
            yield _repetition(place, entry, *same, "OPS-2a" if function is None else "FUN-13a", has_fix=has_fix)
        elif earlier[0] is not place:
            of_model = "MOD-12" if _is_used(model, entry.domain) else "OPS-2"
            clause = "FUN-13" if function is not None else of_model
            yield _contradiction(place, entry, *earlier, clause)


_UNDECIDED: Final = "readers take the first, the last or the highest version"


def _is_used(model: Model, domain: str) -> bool:
    return normalized_domain(domain) in model.domains_in_use[None]


def _repetition(place: Place, entry: Proto, first: Place, earlier: Proto, clause: str, *, has_fix: bool) -> Finding:
    domain = shown_domain(entry.domain)
    spellings = ""
    if entry.domain != earlier.domain:
        spellings = f", as {quote(earlier.domain)} and as {quote(entry.domain)}"
    return Finding(
        place,
        f"{quote(domain)} {entry.version} is imported twice{spellings}",
        clause=clause,
        related=(Related(first, "first entry"),),
        allowed="one import for each domain",
        subject=domain,
        fix=Fix(f"delete the second import of {quote(domain)} {entry.version}", (Delete(place),))
        if has_fix
        else _UNDECIDED,
    )


def _contradiction(place: Place, entry: Proto, first: Place, earlier: Proto, clause: str) -> Finding:
    domain = shown_domain(entry.domain)
    spellings = ""
    if entry.domain != earlier.domain:
        spellings = f" ({quote(earlier.domain)} and {quote(entry.domain)} are one domain)"
    readings = ""
    if clause == "MOD-12":
        highest = max(entry.version, earlier.version)
        readings = f"; nodes bind to {highest}, the highest"
        if entry.version < highest:
            readings += f", and some readers take {entry.version}, the last"
    return Finding(
        place,
        f"{quote(domain)} is imported in versions {earlier.version} and {entry.version}{spellings}{readings}",
        clause=clause,
        related=(Related(first, "first entry"),),
        allowed="one version for each domain",
        subject=domain,
        fix=_UNDECIDED,
    )
