# SPDX-License-Identifier: Apache-2.0
"""Shows each report format for one model with an error, a warning and a note.

`python -m docs.generate.forms` writes them to `docs/captures/forms`. docs/reports.md shows the page for a
browser by a screenshot, which is made by hand.
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Final

from google.protobuf import text_format

from onnx_lint import schema
from onnx_lint.engine.selection import report_of
from onnx_lint.engine.settings import Settings
from onnx_lint.report import Context
from onnx_lint.reporters import REPORTERS, Options, write_report
from onnx_lint.tasks.lint_one import Task, lint_one

FORMS: Final = Path(__file__).parent.parent / "captures" / "forms"

MODEL: Final = """
ir_version: 10
opset_import { domain: "" version: 21 }
graph {
  name: "classifier"
  node { name: "fc1" op_type: "MatMul" input: "x" input: "w1" output: "h" }
  node { name: "fc2" op_type: "Gemm" input: "h" input: "w_2" output: "y" }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } dim { dim_value: 2 } } } } }
  initializer { name: "w1" data_type: 1 dims: [2, 2] float_data: [1, 2, 3, 4] }
  initializer { name: "w2" data_type: 1 dims: [2, 2] float_data: [1, 2, 3, 4] }
  value_info { name: "nowhere" type { tensor_type { elem_type: 1 } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } dim { dim_value: 2 } } } } }
}
"""

SUFFIXES: Final = {
    "text": "txt",
    "concise": "concise.txt",
    "json": "json",
    "jsonl": "jsonl",
    "sarif": "sarif",
    "github": "github.txt",
    "gitlab": "gitlab.json",
    "junit": "xml",
    "markdown": "markdown.txt",
    "html": "html",
}
"""The file name extension of each format."""


def forms(folder: Path) -> dict[str, str]:
    """The report in each form, by its format; the model is written to `folder`."""
    message = text_format.Parse(MODEL, schema.message("ModelProto")(), descriptor_pool=schema.pool())
    path = folder / "model.onnx"
    path.write_bytes(message.SerializeToString())
    # SARIF describes every rule that was asked; three are enough to see how.
    settings = Settings(select=("undefined-name", "missing-producer", "unknown-value-info-name"))
    file = lint_one(Task(str(path), settings, name="model.onnx", context=Context.LINES))
    written = {}
    for name in REPORTERS:
        stream = io.StringIO()
        write_report(name, report_of([file], settings), stream, Options(root=os.getcwd()))
        written[name] = stream.getvalue()
    return written


def main() -> None:
    """Write the files."""
    import tempfile

    FORMS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in forms(Path(folder)).items():
            if name != "html":
                (FORMS / f"report.{SUFFIXES[name]}").write_text(text, encoding="utf-8", newline="")


if __name__ == "__main__":
    main()
