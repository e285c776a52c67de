# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema of one line of the format jsonl, made from that of the JSON report.

`python docs/generate/line_schema.py` writes it to `docs/report-line.schema.json`.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any, Final

DOCS: Final = Path(__file__).parent.parent
LINE_SCHEMA: Final = DOCS / "report-line.schema.json"

_DESCRIPTION: Final = (
    "What `onnx-lint --format jsonl` writes into each line: first the run, then for each file its findings and itself, "
    "at last the summary. The objects are those of the JSON report, with the same promise: within a version properties "
    "may be added, and none is removed or given another meaning."
)


def line_schema() -> dict[str, Any]:
    """The schema, which needs no other."""
    report = json.loads((DOCS / "report.schema.json").read_text(encoding="utf-8"))
    definitions = report["$defs"]
    top = report["properties"]
    file = copy.deepcopy(definitions["file"])
    file["required"].remove("diagnostics")
    del file["properties"]["diagnostics"]
    run = {
        "type": "object",
        "required": ["version", "tool"],
        "properties": {key: top[key] for key in ("version", "tool", "settings")},
    }
    finding = copy.deepcopy(definitions["diagnostic"])
    finding["required"].insert(0, "path")
    finding["properties"] = {"path": file["properties"]["path"], **finding["properties"]}
    records = {"run": run, "finding": finding, "file": file, "summary": top["summary"]}
    return {
        "$schema": report["$schema"],
        "$id": "urn:onnx-lint:report-line:1",
        "title": "A line of the report of onnx-lint, version 1",
        "description": _DESCRIPTION,
        "oneOf": [{"$ref": f"#/$defs/{name}"} for name in records],
        "$defs": {
            **{name: _marked(name, record) for name, record in records.items()},
            **{
                name: definitions[name]
                for name in ("count", "bytes", "line", "column", "place", "pointer", "facts", "shapes")
            },
        },
    }


def line_schema_text() -> str:
    """The schema as the file holds it."""
    return json.dumps(line_schema(), indent=2) + "\n"


def _marked(name: str, record: dict[str, Any]) -> dict[str, Any]:
    """The schema of a record with the name of its kind in it."""
    return {
        **record,
        "required": ["record", *record["required"]],
        "properties": {"record": {"const": name}, **record["properties"]},
    }


if __name__ == "__main__":
    LINE_SCHEMA.write_text(line_schema_text(), encoding="utf-8")
