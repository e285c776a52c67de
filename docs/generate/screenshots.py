# SPDX-License-Identifier: Apache-2.0
"""Pictures of the HTML report in a browser: three reports and a trend, three widths, light and dark.

`python docs/generate/screenshots.py` writes them to `docs/captures/page`. It needs Chromium, and the extras `browser`
and `fleet`. `--checkout FOLDER --to FOLDER` makes the pictures of the reports with the onnx-lint of another checkout.
"""

from __future__ import annotations

import argparse
import base64
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import onnx

sys.path.insert(0, str(Path(__file__).parent.parent))

from generate.page_models import change_collection, faulty_decoder, write_collection

DOCS: Final = Path(__file__).parent.parent
CAPTURES: Final = DOCS / "captures" / "page"

SIZES: Final = ((1440, 1000), (800, 1000), (400, 800))
"""The widths and heights of the pictures in pixels."""

MODELS: Final = 20_000
_QUALITY: Final = 55


def main() -> None:
    """Write all pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkout", type=Path, default=DOCS.parent, help="the onnx-lint that makes the reports")
    parser.add_argument("--to", type=Path, default=CAPTURES, help="the folder for the pictures")
    arguments = parser.parse_args()
    arguments.to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        pages = _reports(Path(folder), arguments.checkout)
        if arguments.checkout == DOCS.parent:
            pages["trend"] = _trend(Path(folder))
        _photograph(pages, arguments.to)


def _reports(folder: Path, checkout: Path) -> dict[str, Path]:
    """Return the reports by name: on one model, on those that come with the package `onnx`, and on 20,000."""
    (folder / "decoder.onnx").write_bytes(faulty_decoder("renamed-weight").SerializeToString())
    write_collection(folder / "collection", MODELS)
    # A short path, since the page shows it.
    (folder / "onnx").symlink_to(Path(onnx.__file__).parent, target_is_directory=True)
    targets = {"model": "decoder.onnx", "wheel": "onnx/backend/test/data", "collection": "collection"}
    environment = os.environ | {"PYTHONPATH": str(checkout.resolve())}
    for name, target in targets.items():
        command = [sys.executable, "-m", "onnx_lint", target, "--output", f"html={name}.html", "--quiet"]
        subprocess.run(command, cwd=folder, env=environment, check=False, stdout=subprocess.DEVNULL)
    return {name: folder / f"{name}.html" for name in targets}


def _trend(folder: Path) -> Path:
    """Return the page of the last of four scans."""
    write_collection(folder / "models", 600)
    environment = os.environ | {"PYTHONPATH": str(DOCS.parent)}
    earlier: list[str] = []
    for seed, month in enumerate(("january", "february", "march", "april")):
        if earlier:
            change_collection(folder / "models", seed)
        against = [argument for name in earlier for argument in ("--against", name)]
        command = [sys.executable, "-m", "onnx_lint", "scan", "models", "--to", month, *against, "--workers", "1"]
        command += ["-f", "html", "--output", "trend.html", "--quiet"]
        subprocess.run(command, cwd=folder, env=environment, check=False, stdout=subprocess.DEVNULL)
        earlier.append(month)
    return folder / "trend.html"


def _photograph(pages: dict[str, Path], to: Path) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, path in pages.items():
            for width, height in SIZES:
                for scheme in ("light", "dark"):
                    page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": height})
                    page.goto(path.as_uri())
                    page.wait_for_timeout(500)  # the reports of another checkout do not say when they are drawn
                    (to / f"{name}-{width}-{scheme}.webp").write_bytes(_webp(page))
                    page.close()
        browser.close()


def _webp(page: Any) -> bytes:
    """Return what is on the screen as WebP, a third of the bytes of PNG. Chromium writes it, Playwright does not."""
    found = page.context.new_cdp_session(page).send("Page.captureScreenshot", {"format": "webp", "quality": _QUALITY})
    return base64.b64decode(found["data"])


if __name__ == "__main__":
    main()
