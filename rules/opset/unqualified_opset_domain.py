# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, has_unusual_imports, is_reverse_domain_name, normalized_domain
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote


@rule(clause="OPS-5", since="0.1.0", about=has_unusual_imports, needs="function")
def unqualified_opset_domain(model: Model) -> Iterator[Finding]:
    """The domain of an imported operator set is not a reverse domain name.

    ### How to fix

    Put your own domain name, reversed, before the domain: in the imports, the nodes, the functions, and where the
    runtime registers its operators.

    ### Example

    ```
    opset_import { domain: "" version: 21 }
    opset_import { domain: "custom" version: 1 }
    ```

    Corrected:

    ```
    opset_import { domain: "" version: 21 }
    opset_import { domain: "com.example.custom" version: 1 }
    ```

    ### Why it matters

    Reverse domain names keep the operators of two publishers apart. Two extensions that both use the domain `custom`
    cannot be loaded together.

    ### Details

    - The domain should be the default one, or two or more labels with single dots between them, for example
      `com.example.ops`.
    - A label has letters, digits, underscores and inner hyphens.
    - Only the form is checked.
    - Each domain is reported once, where the model or a function first imports it.
    """
    # The domain that an operator set or a lone function has itself is not what it imports.
    seen: set[str] = set() if model.imports.are_stated else set(model.imports.domains(None))
    for importer in model.imports.where(lambda entries: any(_is_unqualified(entry.domain) for entry in entries)):
        for index, entry in enumerate(importer.entries):
            domain = entry.domain
            if domain in seen or not _is_unqualified(domain):
                continue
            seen.add(domain)
            yield Finding(
                importer.place.at("opset_import", index).at("domain"),
                f"operator set domain {quote(domain)} is not a reverse domain name",
                allowed="two or more labels separated by dots, such as 'com.example'",
                subject=domain,
            )


def _is_unqualified(domain: str) -> bool:
    return bool(normalized_domain(domain)) and not is_reverse_domain_name(domain)
