# SPDX-License-Identifier: Apache-2.0
"""A page in a headless Chromium, with its requests and messages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_COLORS = """() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.textContent.trim();
    if (!text || !element.checkVisibility() || element.closest("script, style, option")) continue;
    let behind = element;
    while (behind && getComputedStyle(behind).backgroundColor === "rgba(0, 0, 0, 0)") behind = behind.parentElement;
    const style = getComputedStyle(element);
    const front = element instanceof SVGElement ? style.fill : style.color;
    found.push([text, front, getComputedStyle(behind || document.body).backgroundColor]);
  }
  return found;
}"""
"""The text on a page, with its colour and that behind it."""


class Visit:
    """An open page, with its requests and messages."""

    def __init__(self, browser: Any, path: Path, *, ready: str = "html[data-ready]", **options: Any) -> None:
        self.page = browser.new_page(**options)
        self.requests: list[str] = []
        self.said: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda problem: self.said.append(str(problem)))
        self.page.on("dialog", lambda dialog: (self.said.append(dialog.message), dialog.dismiss()))
        self.page.goto(path.as_uri())
        self.page.locator(ready).first.wait_for()

    def shown(self) -> list[str]:
        return [each.get_attribute("data-rule") for each in self.page.locator("details.finding:visible").all()]

    def faint_texts(self) -> list[tuple[str, float]]:
        """Return the text with a contrast below 4.5, and its contrast."""
        return faint_texts(self.page)


def faint_texts(page: Any) -> list[tuple[str, float]]:
    """Return the text of a page with a contrast below 4.5, and its contrast."""
    found = page.evaluate(_COLORS)
    assert found
    contrasts = {(text, round(_contrast(front, back), 2)) for text, front, back in found}
    return sorted(each for each in contrasts if each[1] < 4.5)


def _contrast(front: str, back: str) -> float:
    light, dark = sorted((_luminance(front), _luminance(back)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(color: str) -> float:
    channels = [int(part) / 255 for part in re.findall(r"\d+", color)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
