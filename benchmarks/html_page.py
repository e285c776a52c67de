# SPDX-License-Identifier: Apache-2.0
"""Measures the HTML report on 20,000 models in Chromium: bytes, time to load, time of the first filter, and memory.

`python benchmarks/html_page.py` needs Chromium and the extra `browser`. Run it on a quiet machine.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent.parent / "docs"))

from generate.page_models import write_collection

MODELS: Final = 20_000
RUNS: Final = 5


def main() -> None:
    """Print the median of several visits."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        write_collection(Path(folder, "collection"), MODELS)
        start = time.perf_counter()
        command = [sys.executable, "-m", "onnx_lint", "collection", "--output", "report.html", "--quiet"]
        subprocess.run(command, cwd=folder, check=False, stdout=subprocess.DEVNULL)
        page = Path(folder, "report.html")
        print(f"report made in {time.perf_counter() - start:.1f} s, {page.stat().st_size:,} bytes")
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        visits = [_visit(browser, page) for _ in range(RUNS)]
        browser.close()
    for name in visits[0]:
        print(f"{name}: {statistics.median(visit[name] for visit in visits):,.2f}")


def _visit(browser: Any, path: Path) -> dict[str, float]:
    page = browser.new_page()
    start = time.perf_counter()
    page.goto(path.as_uri())
    page.locator("html[data-ready]").wait_for()
    loaded = time.perf_counter()
    page.fill("input[name=text]", "model_01234")
    page.locator("#shown", has_text="1 of").wait_for()
    filtered = time.perf_counter()
    found = {
        "seconds to load": loaded - start,
        "seconds of the first filter": filtered - loaded,
        "elements": page.evaluate("document.querySelectorAll('*').length"),
        "MB of the JavaScript heap": page.evaluate("performance.memory.usedJSHeapSize") / 1e6,
    }
    page.close()
    return found


if __name__ == "__main__":
    main()
