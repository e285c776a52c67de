# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from onnx_lint.model import Delete, Fix, Model, Place, documentation_of, is_documented
from onnx_lint.rule import Finding, folded, replace, rule
from onnx_lint.wording import quote

_NOBODY: Final = (
    r"(?!(?:buildkite-agent|circleci|conda|gitlab-runner|jenkins|runner|runneradmin|travis|vsts|VssAdministrator"
    r"|Default|Public|Shared)[\\/])"
)
"""No folder of a build service, or of all users."""
_FOLDERS: Final = (
    rf"(?<![\w.-])(?:file:/*)?(?:/mnt/[a-z])?(?:/(?:home|Users)/{_NOBODY}[\w.-]+|/root)/[^\s\"'<>|]*",
    rf"(?<!\w)[A-Za-z]:[\\/]+Users[\\/]+{_NOBODY}[^\s\\/\"'<>|]+[\\/][^\s\"'<>|]*",
    r"(?<![\w.-])(?:/tmp|/private/var/folders|/var/folders)/[^\s\"'<>|]+",
)
"""Home folders and temporary folders."""
_TOKENS: Final = (
    r"\b(?:hf_[A-Za-z0-9]{30,}|gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{40,}|glpat-[\w-]{20,}"
    r"|(?<!-)sk-(?:(?:admin|ant|proj|svcacct)-[\w-]{20,}|[A-Za-z0-9]{32,})"
    r"|AKIA[0-9A-Z]{16}|AIza[\w-]{35}|xox[abprs]-[\w-]{10,}|npm_[A-Za-z0-9]{36})"
)
_PRIVATE: Final = re.compile(f"(?P<token>{_TOKENS})|(?P<path>{'|'.join(_FOLDERS)})")
_PrivateText = tuple[str, Place, str]
"""A text, the place that a fix deletes, and the name of its holder."""


@rule(clause="HYG-14", since="0.2.0", needs="file")
def private_path(model: Model) -> Iterator[Finding]:
    r"""A documentation string or metadata entry contains a private path or a token.

    ### How to fix

    Delete these documentation strings and metadata entries.

    - `onnx-lint fix --select private-path` (safe) deletes them.
    - PyTorch writes stack traces into `pkg.torch.onnx.stack_trace`; delete them before you publish the model.
    - If you published a token, revoke it: it is not enough to delete it from the file.

    ### Example

    ```
    node {
      op_type: "Relu"
      input: "x"
      output: "y"
      metadata_props { key: "pkg.torch.onnx.stack_trace" value: "File \"/home/ada/secret/model.py\", line 12" }
    }
    ```

    Corrected:

    ```
    node { op_type: "Relu" input: "x" output: "y" }
    ```

    ### Why it matters

    A published model shows everyone the account, the projects and the folders of its author. A token gives access to an
    account.

    ### Details

    - Every `doc_string` and `metadata_props` of a model, graph, function, node, attribute, value or tensor is read.
    - Paths in home folders and temporary folders are reported, and tokens with the prefix of a well-known service.
    - Folders that all machines have, for example `/usr/lib/python3`, and those of build services are not reported.
    - All places of a model are one finding.
    """
    entries = [*_entries(model)]
    more = ("more text is private", "more texts are private")
    for finding in folded(entries, _finding, None, more):
        fix = Fix.of_many(_deletion, len(entries), lambda: [Delete(place) for _, place, _ in entries])
        yield replace(finding, fix=fix)


def _deletion(count: int) -> str:
    return "delete the private text" if count == 1 else f"delete {count:,} private texts"


def _entries(model: Model) -> Iterator[_PrivateText]:
    if is_documented(model):
        for text, place, owner in documentation_of(model, _is_private):
            yield text, place.at("doc_string"), f"the documentation of {owner}"
    for metadata in model.metadata():
        for index, entry in enumerate(metadata.entries):
            if _is_private(entry.value):
                owner = f"the metadata entry {quote(entry.key)} of {metadata.owner}"
                yield entry.value, metadata.place.at(metadata.field, index), owner


def _is_private(text: str) -> bool:
    return _PRIVATE.search(text) is not None


def _finding(entry: _PrivateText) -> Finding:
    text, place, owner = entry
    found = _PRIVATE.search(text)
    assert found is not None
    if found["token"]:
        said = f"a token that begins with {quote(found[0][:4])}"
    else:
        said = f"the private path {quote(found[0])}"
    return Finding(place, f"{owner} holds {said}", allowed="no path of a person and no secret")
