# SPDX-License-Identifier: Apache-2.0
"""Pictures of the HTML report in a browser, light and dark.

`python docs/generate/screenshots.py` writes them to `docs/captures`; it needs Chromium and the extra `browser`.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

CAPTURES: Final = Path(__file__).parent.parent / "captures"

_MODEL: Final = """
ir_version: 10
producer_name: "an exporter"
opset_import { domain: "" version: 21 }
graph {
  name: "classifier"
  node { name: "relu1" op_type: "Relu" input: "x" output: "h0" }
  node { name: "relu2" op_type: "Relu" input: "h0" output: "h1" }
  node { name: "fc2" op_type: "Gemm" input: "h1" input: "w_2" input: "b2" output: "y" }
  node { name: "shift" op_type: "Add" input: "h1" input: "bias" output: "z" }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 64 } } } } }
  input { name: "bias" type { tensor_type { elem_type: 1 shape { dim { dim_value: 3 } } } } }
  initializer { name: "w2" data_type: 1 dims: [1, 1] float_data: 1 }
  initializer { name: "b2" data_type: 1 dims: [1] float_data: 1 }
  output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim {} } } } }
}
"""


def main() -> None:
    """Write both pictures."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        Path(folder, "model.textproto").write_text(_MODEL, encoding="utf-8")
        command = [sys.executable, "-m", "onnx_lint", "model.textproto", "-o", "report.html"]
        subprocess.run(command, cwd=folder, check=False)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            page = browser.new_page(color_scheme=scheme, viewport={"width": 1000, "height": 1000})
            page.goto(Path(folder, "report.html").as_uri())
            page.screenshot(path=CAPTURES / f"page-{scheme}.png")
        browser.close()


if __name__ == "__main__":
    main()
