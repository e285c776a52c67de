# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from onnx_lint.ir.operators.imports import Importer
from onnx_lint.model import Delete, Fix, Model, Proto, has_unusual_imports, normalized_domain, shown_domain
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
    is_function = importer.function is not None
    first: dict[str, int] = {}
    first_of_version: dict[tuple[str, int], int] = {}
    written: dict[str, set[tuple[str, int]]] = {}
    versions: dict[str, list[int]] = {}
    for entry in importer.entries:
        domain = normalized_domain(entry.domain)
        written.setdefault(domain, set()).add((entry.domain, entry.version))
        versions.setdefault(domain, []).append(entry.version)
    readings = cache(lambda domain: _readings(versions[domain]))
    for index, entry in enumerate(importer.entries):
        domain = normalized_domain(entry.domain)
        same = first_of_version.setdefault((domain, entry.version), index)
        earlier = first.setdefault(domain, index)
        if same != index:
            # Beside another version it decides which one a reader takes, the first or the last.
            has_fix = len(written[domain]) == 1
            yield _repetition(importer, index, same, "FUN-13a" if is_function else "OPS-2a", has_fix=has_fix)
        elif earlier == index:
            continue
        elif is_function or not _is_used(model, domain):
            yield _contradiction(importer, index, earlier, "FUN-13" if is_function else "OPS-2")
        else:
            yield _contradiction(importer, index, earlier, "MOD-12", readings(domain))


_UNDECIDED: Final = "readers take the first, the last or the highest version"


def _is_used(model: Model, domain: str) -> bool:
    return normalized_domain(domain) in model.domains_in_use[None]


def _readings(versions: Sequence[int]) -> str:
    """Return which of the versions of a domain that nodes use applies, as the end of a sentence."""
    highest, last = max(versions), versions[-1]
    others = "" if last == highest else f", and some readers take {last}, the last"
    return f"; nodes bind to {highest}, the highest{others}"


def _repetition(importer: Importer, index: int, first: int, clause: str, *, has_fix: bool) -> Finding:
    entry, earlier = importer.entries[index], importer.entries[first]
    place = importer.place.at("opset_import", index)
    domain = shown_domain(entry.domain)
    spellings = ""
    if entry.domain != earlier.domain:
        spellings = f", as {quote(earlier.domain)} and as {quote(entry.domain)}"
    return Finding(
        place,
        f"{quote(domain)} {entry.version} is imported twice{spellings}",
        clause=clause,
        related=(Related(importer.place.at("opset_import", first), "first entry"),),
        allowed="one import for each domain",
        subject=domain,
        fix=Fix(f"delete the second import of {quote(domain)} {entry.version}", (Delete(place),))
        if has_fix
        else _UNDECIDED,
    )


def _contradiction(importer: Importer, index: int, first: int, clause: str, readings: str = "") -> Finding:
    """Return the finding on an import of another version. `readings`: see `_readings`."""
    entry, earlier = importer.entries[index], importer.entries[first]
    domain = shown_domain(entry.domain)
    spellings = ""
    if entry.domain != earlier.domain:
        spellings = f" ({quote(earlier.domain)} and {quote(entry.domain)} are one domain)"
    return Finding(
        importer.place.at("opset_import", index),
        f"{quote(domain)} is imported in versions {earlier.version} and {entry.version}{spellings}{readings}",
        clause=clause,
        related=(Related(importer.place.at("opset_import", first), "first entry"),),
        allowed="one version for each domain",
        subject=domain,
        fix=_UNDECIDED,
    )
