# SPDX-License-Identifier: Apache-2.0
"""The trend over several scans: the numbers of each, and the new and gone findings since the scan before it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support.reports.scans import FAULTY, faulty, head, scanned, sound
from support.reports.visits import Visit

from onnx_lint.cli.application import run
from onnx_lint.cli.run_scan import LivePage
from onnx_lint.fleet.database import open_to_read, open_to_scan
from onnx_lint.fleet.page import RELOAD_SECONDS, write_page
from onnx_lint.fleet.totals import Totals
from onnx_lint.fleet.trend import Point
from onnx_lint.library import lint

FOUND = lint(FAULTY).diagnostics
"""The findings of one faulty model."""


@pytest.fixture
def scans(tmp_path: Path) -> list[str]:
    """Three scans: one model is fixed and another breaks; then a new faulty model is added, and one is removed."""
    months = {
        "january": [faulty("a"), faulty("b"), sound("c")],
        "february": [sound("a"), faulty("b"), faulty("c")],
        "march": [sound("a"), faulty("b"), faulty("d")],
    }
    return [
        str(scanned(tmp_path / name, outcomes, [json.loads(each.file)["path"] for each in outcomes]))
        for name, outcomes in months.items()
    ]


def _arguments(scans: Sequence[str], form: str) -> list[str]:
    against = [argument for old in scans[:-1] for argument in ("--against", old)]
    return ["scan", "--summary", scans[-1], *against, "-f", form]


def _trend(scans: Sequence[str], capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    run(_arguments(scans, "json"))
    trend: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["trend"]
    return trend


def test_each_scan_is_compared_with_the_one_before(scans: list[str], capsys: pytest.CaptureFixture[str]):
    trend = _trend(scans, capsys)
    each = len(FOUND)
    assert [point["reports"] for point in trend] == scans
    assert [(point["new"], point["gone"]) for point in trend] == [(None, None), (each, each), (each, 0)]
    errors = sum(item.severity.label == "error" for item in FOUND)
    assert [point["errors"] for point in trend] == [2 * errors] * 3
    assert [(point["models"], point["conforming"], point["complete"]) for point in trend] == [(3, 1, True)] * 3
    for rule in {item.rule for item in FOUND}:
        count = sum(item.rule == rule for item in FOUND)
        rows = [next(row for row in point["by_rule"] if row["rule"] == rule) for point in trend]
        assert [row["findings"] for row in rows] == [2 * count] * 3
        assert [(row["new"], row["gone"]) for row in rows] == [(None, None), (count, count), (count, 0)]


def test_new_is_what_is_new_since_the_last_of_them(scans: list[str], capsys: pytest.CaptureFixture[str]):
    january, february, march = scans
    assert run(["scan", "--summary", march, "--against", january, "--against", february, "-f", "json"]) == 1
    new = json.loads(capsys.readouterr().out)["new"]
    assert {found["path"] for found in new["findings"]} == {"d"}
    # Since february again, nothing is new: the exit code says so.
    assert run(["scan", "--summary", february, "--against", january, "--against", february]) == 0


def test_the_text_has_a_line_for_each_scan(
    scans: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(Path(scans[0]).parent)  # for short names
    scans = [Path(each).name for each in scans]
    run(_arguments(scans, "text"))
    text = capsys.readouterr().out
    lines = [line.split() for line in text.splitlines() if line.split()[:1] and line.split()[0] in scans]
    assert [line[0] for line in lines] == scans
    assert [line[1:3] for line in lines] == [["3", "1"]] * 3
    assert [line[6:] for line in lines] == [[], [str(len(FOUND))] * 2, [str(len(FOUND)), "0"]]


def test_the_page_has_curves_and_tables(scans: list[str], tmp_path: Path):
    path = tmp_path / "trend.html"
    run([*_arguments(scans, "html"), "-o", str(path)])
    text = path.read_text(encoding="utf-8")
    curves = re.findall(r'aria-label="([^"]*) in 3 scans"', text)
    errors = 2 * sum(item.severity.label == "error" for item in FOUND)
    assert curves[:2] == ["Conforming: from 33.3 % to 33.3 %", f"Errors: from {errors} to {errors}"]
    assert text.count("<polyline") == 5
    assert text.count("<circle") == 15
    for folder in scans:
        assert f'<th scope="row">{folder}</th>' in text
        assert f'<th scope="col">{folder}</th>' in text
    assert 'http-equiv="refresh"' not in text
    assert re.findall(r"""(?:src|href|action)=["'](?!#)[^"']*""", text) == []


def test_the_page_of_a_scan_that_runs_reloads_itself(tmp_path: Path):
    folder = scanned(tmp_path / "r", [faulty("a"), sound("b")], models=5)
    totals = Totals()
    with open_to_read(str(folder)) as reports:
        totals.add(reports)
    page = tmp_path / "live.html"
    with page.open("w", encoding="utf-8") as stream:
        write_page(totals, None, stream, [Point("r", totals, None)], is_live=True)
    text = page.read_text(encoding="utf-8")
    assert '<meta http-equiv="refresh" content="10">' in text
    assert "Incomplete: 3 models not linted yet." in text
    assert '<progress value="2" max="5"' in text
    assert "Trend" not in text  # there is no other scan


def test_the_page_is_renewed_while_models_land(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    now = 1000.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    page = tmp_path / "live.html"
    with open_to_scan(str(tmp_path / "r"), head(3), anew=False) as reports:
        live = LivePage(reports, [], {"format_name": "html", "output": str(page)})
        counts = []
        for path in "abc":
            reports.land([faulty(path)])
            live.write_if_due()
            counts.append(re.search(r"<b class=\"\">(\d)</b> model", page.read_text(encoding="utf-8"))[1])  # type: ignore[index]
            now += RELOAD_SECONDS / 2
        assert counts == ["1", "1", "3"]
        page.unlink()
        LivePage(reports, [], {"format_name": "json", "output": str(page)}).write_if_due()
        assert not page.exists()


def test_hostile_names_of_rules_and_folders_are_text(tmp_path: Path):
    evil = '<img src=x onerror="alert(1)">'
    folder = scanned(tmp_path / "r", [faulty("a")], ["a"])
    totals = Totals()
    with open_to_read(str(folder)) as reports:
        totals.add(reports)
    totals.rules[evil, "error"] = 1
    page = tmp_path / "page.html"
    with page.open("w", encoding="utf-8") as stream:
        write_page(totals, None, stream, [Point(evil, totals, None), Point(evil, totals, None)])
    assert "<img" not in page.read_text(encoding="utf-8")


def test_a_folder_that_does_not_exist_is_named(scans: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert run(["scan", "--summary", scans[0], "--against", scans[1], "--against", str(tmp_path / "gone")]) == 2
    assert "gone: does not exist" in capsys.readouterr().err


def test_a_scan_of_one_part_is_compared_with_the_same_part_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Otherwise every finding in the other parts would be new."""
    one, two = (
        str(scanned(tmp_path / f"old-{n}", [faulty(name)], [name], part=f"{n}/2")) for n, name in ((1, "a"), (2, "b"))
    )
    new = str(scanned(tmp_path / "new-1", [faulty("a")], ["a"], part="1/2"))
    whole = str(scanned(tmp_path / "new", [faulty("a"), faulty("b")], ["a", "b"]))
    assert run(["scan", "--summary", new, "--against", one]) == 0
    assert run(["scan", "--summary", new, "--against", whole]) == 0
    capsys.readouterr()
    refused = [
        ["--summary", whole, "--against", one],
        ["--summary", new, "--against", two],
        ["--summary", one, "--summary", two, "--against", new],
        ["--summary", whole, "--against", one, "--against", two],
        [str(tmp_path), "--to", str(tmp_path / "to"), "--against", one],
    ]
    for arguments in refused:
        assert run(["scan", *arguments]) == 2
        assert "of a scan: compare it with the same part of the new scan" in capsys.readouterr().err


def test_the_page_says_how_many_models_are_new(scans: list[str], capsys: pytest.CaptureFixture[str]):
    run(_arguments(scans, "html"))
    assert "models: 1 new, 1 removed." in capsys.readouterr().out


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_in_a_browser(browser: Any, scans: list[str], tmp_path: Path, scheme: str):
    path = tmp_path / "trend.html"
    run([*_arguments(scans, "html"), "-o", str(path)])
    visit = Visit(browser, path, color_scheme=scheme, viewport={"width": 400, "height": 800})
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 400
    assert visit.page.get_by_role("img", name="Errors").count() == 1
    assert visit.page.get_by_role("rowheader", name=scans[-1]).count() == 1
    visit.page.keyboard.press("Tab")
    assert visit.page.evaluate("document.activeElement.getAttribute('aria-label')") == "Scans"
    assert visit.faint_texts() == []
    assert (visit.requests, visit.said) == ([path.as_uri()], [])
