# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from onnx_lint.model import ROOT, Model, Place, Proto, normalized_domain, shown_domain
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote, quote_some


@rule(clause="POL-2", since="0.2.0")
def disallowed_domain(model: Model, *, allow: tuple[str, ...] = (), forbid: tuple[str, ...] = ()) -> Iterator[Finding]:
    """The model imports a domain that the policy does not allow.

    ### How to fix

    Export the model without operators of the domain, or change the configuration.

    ### Example

    ```
    # option: disallowed-domain.allow = ["ai.onnx"]
    opset_import { domain: "" version: 21 }
    opset_import { domain: "com.microsoft" version: 1 }
    ```

    Corrected:

    ```
    # option: disallowed-domain.allow = ["ai.onnx"]
    opset_import { domain: "" version: 21 }
    ```

    ### Why it matters

    Each domain is a dependency of the model. Your configuration lists the domains that models may use.

    ### Details

    - A domain must match a pattern of the option `allow`, if there are any, and must match no pattern of `forbid`.
    - The table `policy.domains` of the configuration sets both options.
    - The default domain is called `ai.onnx`; `*` matches any characters.
    - The imports of the model and of its functions are checked.
    - A domain in which the model has functions is not checked.
    """
    allow, forbid = (tuple(map(shown_domain, patterns)) for patterns in (allow, forbid))
    own = {normalized_domain(function.domain) for function in model.functions}
    importers: list[tuple[Proto, Place, str]] = [(model.proto, ROOT, "the model")]
    importers += [(function.proto, function.place, function.body.describe()) for function in model.functions]
    for proto, place, importer in importers:
        for index, entry in enumerate(proto.opset_import):
            name = shown_domain(entry.domain)
            if normalized_domain(entry.domain) in own:
                continue
            if any(fnmatchcase(name, pattern) for pattern in forbid):
                anchor, allowed = "domains.forbid", f"no domain that matches {quote_some(forbid, 5)}"
            elif allow and not any(fnmatchcase(name, pattern) for pattern in allow):
                anchor, allowed = "domains.allow", f"a domain that matches {quote_some(allow, 5)}"
            else:
                continue
            yield Finding(
                place.at("opset_import", index),
                f"{importer} imports {quote(name)}, which the policy does not allow",
                allowed=allowed,
                subject=name,
                cause=name,
                anchor=anchor,
            )
