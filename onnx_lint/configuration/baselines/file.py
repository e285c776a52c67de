# SPDX-License-Identifier: Apache-2.0
"""The file of a baseline: the entries as JSON.

Each entry has the fields `rule`, `where`, `count` and `fingerprint`, and those of these that are known:

| Field | Content |
|---|---|
| `structure`, `content` | the fields of `Entry` with these names, as texts of `encoding.py` |
| `parts` | `Entry.faults`, as such texts with a space between them |
| `elements` | `Entry.element_count` |
| `names`, `clauses` | the fields of `Entry` with these names |

For example, the finding on node `again`, which defines the value `y` a second time, has this entry on one line:

```
{"rule": "duplicate-definition", "where": "graph / again / y", "count": 1,
 "fingerprint": "c0ffc477159342aff5c06bf0d5f89a57",
 "structure": "+714dec8bbd24eb7cf5ed8f126b7f57f241c23f95458fe1c818568a50dcfa",
 "parts": "+0a8e2d3768dfeb7cf5ed8f126b7f57f241c23f95458fe1c818568a50dcfa", "names": "baeb039ea90d"}
```
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from onnx_lint.common.record import replace
from onnx_lint.configuration.baselines.encoding import (
    STRUCTURE,
    decoded,
    decoded_content,
    decoded_fault,
    encoded,
    encoded_content,
    encoded_fault,
)
from onnx_lint.configuration.baselines.entries import Baseline, Entry
from onnx_lint.configuration.errors import ConfigurationError
from onnx_lint.input.regular_file import read_regular

VERSION: Final = 1
"""The newest version of the format that can be read, and the one that is written."""
MAX_BYTES: Final = 1 << 26
"""The largest baseline that is read."""


def to_json(baseline: Baseline) -> str:
    """Return the text of the baseline file: sorted, one entry per line, equal for equal entries."""
    blocks = []
    for path in sorted(baseline):
        entries = sorted(baseline[path].values(), key=lambda entry: (entry.rule, entry.where, entry.fingerprint))
        if entries:
            lines = ",\n".join(f"      {json.dumps(_record(entry))}" for entry in entries)
            blocks.append(f"    {json.dumps(path)}: [\n{lines}\n    ]")
    files = "{\n" + ",\n".join(blocks) + "\n  }" if blocks else "{}"
    return f'{{\n  "version": {VERSION},\n  "files": {files}\n}}\n'


def _record(entry: Entry) -> dict[str, Any]:
    """Return the JSON object of an entry: the fields that all entries have, and those that are known."""
    more = {
        "structure": "" if entry.structure is None else encoded(entry.structure, STRUCTURE),
        "parts": " ".join(map(encoded_fault, entry.faults)),
        "elements": entry.element_count,
        "content": "" if entry.content is None else encoded_content(entry.content),
        "names": entry.names,
        "clauses": entry.clauses,
    }
    known = {field: value for field, value in more.items() if value}
    return {
        "rule": entry.rule,
        "where": entry.where,
        "count": entry.count,
        "fingerprint": entry.fingerprint,
        **known,
    }


def read_baseline(path: str) -> Baseline:
    """Return the baseline in the file at `path`. Raises ConfigurationError if it cannot be read or is none."""
    try:
        data = read_regular(path, MAX_BYTES)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        hint = "; --write-baseline makes it" if isinstance(error, FileNotFoundError) else ""
        raise ConfigurationError(f"{path}: {reason}{hint}") from error
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{path}: is not a baseline: it is not JSON") from error
    version = document.get("version") if isinstance(document, dict) else None
    if isinstance(version, int) and version > VERSION:
        raise ConfigurationError(f"{path}: has version {version}; this onnx-lint supports version {VERSION}")
    try:
        return {name: _entries(records) for name, records in document["files"].items()}
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ConfigurationError(f"{path}: is not a baseline of onnx-lint, or is damaged") from error


def _entries(records: Any) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    for record in records:
        entry = _entry(record)
        known = found.get(entry.fingerprint)
        # After a merge of two branches, an entry may have two lines.
        found[entry.fingerprint] = entry if known is None else replace(entry, count=max(entry.count, known.count))
    return found


_OPTIONAL: Final = {"where": "", "structure": "", "parts": "", "names": "", "content": "", "elements": 0, "clauses": 0}
"""The fields that the JSON object of an entry may leave out, with the value that they then have."""


def _entry(record: Any) -> Entry:
    """Return the entry of a JSON object. Raises KeyError, TypeError or ValueError for anything else."""
    fields = _OPTIONAL | record
    structure, content = _text(fields, "structure"), _text(fields, "content")
    return Entry(
        fingerprint=_text(fields, "fingerprint"),
        rule=_text(fields, "rule"),
        where=_text(fields, "where"),
        count=_number(fields, "count", least=1),
        structure=decoded(structure, STRUCTURE) if structure else None,
        faults=tuple(map(decoded_fault, _text(fields, "parts").split())),
        names=_text(fields, "names"),
        element_count=_number(fields, "elements"),
        content=decoded_content(content) if content else None,
        clauses=_number(fields, "clauses"),
    )


def _text(fields: Mapping[str, Any], name: str) -> str:
    text = fields[name]
    if not isinstance(text, str):
        raise TypeError(f"{name} must be a string, not {text!r:.100}")
    return text


def _number(fields: Mapping[str, Any], name: str, *, least: int = 0) -> int:
    number = fields[name]
    if type(number) is not int or number < least:
        raise ValueError(f"{name} must be an integer of at least {least}, not {number!r:.100}")
    return number
