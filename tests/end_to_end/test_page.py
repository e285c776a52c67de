# SPDX-License-Identifier: Apache-2.0
"""The HTML report in a real browser: it requests nothing, runs nothing from a model, and its controls work."""

from __future__ import annotations

import io
import json
import re
import shlex
import time
from html import unescape
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import onnx
import onnx.parser
import pytest
from support.reports.made_up_report import HOSTILE, REPORT, error
from support.reports.page_data import page_data
from support.reports.visits import Visit

from onnx_lint.cli.application import run
from onnx_lint.common.record import replace
from onnx_lint.report import (
    ContextLine,
    FileReport,
    Neighbour,
    Neighbourhood,
    ProposedFix,
    RelatedPlace,
    Report,
    ValueEdge,
)
from onnx_lint.reporters import Options, write_report
from onnx_lint.reporters.html import SHOWN_FINDINGS
from onnx_lint.spec.clauses import Severity

ATTACK = "</script></title></style><img src=x onerror=alert(1)><script>alert(2)</script>\"'><!--"


def page(report: Report) -> str:
    stream = io.StringIO()
    write_report("html", report, stream, Options())
    return stream.getvalue()


def hostile(*, count: int = 2) -> Report:
    """A report whose every name attacks, pictures included, and with `count` findings in the last file."""
    nodes = (Neighbour(ATTACK, ATTACK, 0, True), Neighbour("Relu", HOSTILE, 1, False))
    drawn = Neighbourhood(nodes, (ValueEdge(0, 1, ATTACK, ATTACK, True),), is_cut=True)
    texts = dict.fromkeys(("rule", "message", "place", "allowed", "subject", "node", "clause_summary"), ATTACK)
    found = error(**texts, neighbourhood=drawn)
    others = (replace(found, rule="cycle"),) * (count - 1)
    file = FileReport(f"{ATTACK}.onnx", 1, (found, *others), not_verified=((ATTACK, 1),))
    return replace(REPORT, files=(*REPORT.files, file), rules=("cycle",))


def test_no_name_becomes_markup():
    text = page(hostile())
    assert "<img" not in text
    assert text.count("<script") == 4
    assert text.count("</script>") == 4
    assert "&lt;img src=x onerror=alert(1)&gt;" in text


def test_the_page_refers_to_nothing_outside():
    text = page(hostile())
    assert re.findall(r"""(?:src|href|action)=["'](?!#)[^"']*""", text.replace(ATTACK, "")) == []
    assert "default-src 'none'" in text


def test_a_thousand_findings_stay_below_a_megabyte():
    nodes = tuple(Neighbour("Conv", f"/layer{index}/Conv", index, index == 3) for index in range(12))
    values = [f"/layer{index}/out_0" for index in range(11)]
    edges = tuple(ValueEdge(n, n + 1, name, "float[1, 64, 56, 56]", False) for n, name in enumerate(values))
    drawn = Neighbourhood(nodes, edges, is_cut=False)
    names = [f"rule-{index % 40}" for index in range(1000)]
    found = [error(rule=name, neighbourhood=drawn if index < 60 else None) for index, name in enumerate(names)]
    text = page(Report((FileReport("m.onnx", 1, tuple(found)),), "1.23", "onnx-ml"))
    shown = text.count('<details class="finding"')
    data, *parts = map(json.loads, page_data(text))
    assert (shown, len(data["findings"])) == (SHOWN_FINDINGS, 1000 - SHOWN_FINDINGS)
    bodies = [each for part in parts for each in part]
    assert sum(picture is not None for _, picture in bodies) == 60
    # A body is either markup already or in its part.
    assert [bool(body) for body, _ in bodies] == [False] * SHOWN_FINDINGS + [True] * (1000 - SHOWN_FINDINGS)
    assert len(text.encode()) < 300_000


def test_a_name_with_an_apostrophe_is_a_name_and_a_word_with_one_is_not():
    name, other = "it's", 'say "it\'s"'
    message = f"ONNX Runtime's node {name!r} uses {other!r} and 'x', the operator's own"
    text = page(Report((FileReport("m.onnx", 1, (error(message=message),)),), "1.23", "onnx-ml"))
    assert (
        "ONNX Runtime&#x27;s node <code>it&#x27;s</code> uses <code>say &quot;it\\&#x27;s&quot;</code> and"
        " <code>x</code>, the operator&#x27;s own" in text
    )


def test_a_page_without_findings_lists_its_files():
    missing = [FileReport(f"{name}.onnx", 0, unreadable="no such file") for name in "ab"]
    text = page(Report(tuple(missing), "1.23", "onnx-ml"))
    assert '<details id="files" open>' in text
    assert '<details id="files">' in page(REPORT)


@pytest.mark.slow
def test_files_that_hardly_compress_stay_below_five_megabytes():
    random = Random(1)
    names = [random.randbytes(100).hex() for _ in range(20_000)]
    files = [FileReport(f"{name}.onnx", 1) for name in names]
    files[-1] = FileReport("last.onnx", 1, (error(),))
    files[-2] = FileReport("missing.onnx", 0, unreadable="no such file")
    text = page(Report(tuple(files), "1.23", "onnx-ml"))
    listed = [path for path, _, _ in json.loads(page_data(text)[0])["files"]]
    assert listed[:2] == ["last.onnx", "missing.onnx"]
    assert 5_000 < len(listed) < 15_000
    assert "<h2>Files (20,000)</h2>" in text
    assert (
        f"<p>{20_000 - len(listed):,} more files, no worse than these, left out; the JSON report has all.</p>" in text
    )
    assert len(text.encode()) < 2_000_000


@pytest.mark.slow
def test_findings_that_hardly_compress_stay_below_five_megabytes():
    """The least severe are left out, and the page says how many there are."""
    random = Random(1)
    # Each is all that a finding may have: a long message, lines, and places with messages.
    texts = [random.randbytes(1200).hex() for _ in range(5_000)]
    found = [
        error(
            rule="cycle",
            severity=Severity.NOTE if index % 2 else Severity.ERROR,
            message=text[:900],
            related=(RelatedPlace("graph.node[3]", "/graph/node/3", text[900:1800], None),),
            context=(ContextLine("1", text[1800:]),),
        )
        for index, text in enumerate(texts)
    ]
    text = page(Report((FileReport("m.onnx", 1, tuple(found)),), "1.23", "onnx-ml"))
    data = json.loads(page_data(text)[0])
    shown = text.count('<details class="finding"')
    kept = shown + len(data["findings"])
    assert 0 < shown < SHOWN_FINDINGS
    assert 1000 < kept < 2500
    assert {severity for _, severity, _, _ in data["findings"]} == {"error"}
    assert f"<p>{5_000 - kept:,} more findings, no worse than these, left out; the JSON report has all.</p>" in text
    assert len(text.encode()) < 5_000_000


def test_names_are_in_a_code_font_and_the_common_folder_is_said_once():
    found = error(rule="cycle", message="node 'a<b' uses 'x'")
    paths = ["/models/zoo/one.onnx", "/models/zoo/two.onnx", "/models/zeta/three.onnx"]
    text = page(replace(REPORT, files=tuple(FileReport(path, 1, (found,)) for path in paths), rules=("cycle",)))
    assert "node <code>a&lt;b</code> uses <code>x</code>" in text
    assert "All paths are below <code>/models/</code>." in text
    assert text.count("<h3><code>zoo/one.onnx</code>") == 1
    assert [text.count(f">{path}<") for path in paths] == [0, 0, 0]


def test_a_fix_has_the_command_that_makes_it():
    fix = ProposedFix("delete <it>", is_safe=False)
    found = error(rule="cycle", fix=fix)
    paths = ["a b.onnx", "-x.onnx", ATTACK, "-", "https://x.org/m.onnx", "a\nb.onnx", "long" * 1000]
    files = tuple(FileReport(path, 1, (found,)) for path in paths)
    text = page(replace(REPORT, files=files, rules=("cycle",)))
    commands = [unescape(each) for each in re.findall(r"<br><code>(.*?)</code> <button", text)]
    begin = "onnx-lint fix --unsafe-fixes --select cycle"
    assert commands == [f"{begin} 'a b.onnx'", f"{begin} ./-x.onnx", f"{begin} {shlex.quote(ATTACK)}"]
    assert text.count("delete &lt;it&gt; (unsafe)") == len(paths)


# --- in a browser


@pytest.fixture
def faulty(tmp_path: Path) -> Path:
    """The page on a model with an undefined name, shapes that do not fit, and hostile names."""
    model = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["": 21]>
        net (float[2,64] x, float[3] q) => (float[2,10] y) {
          h0 = Relu(x)
          h1 = Relu(h0)
          y = Gemm <transB=1> (h1, w_2, b2)
          t = Add(h1, q)
        }"""
    )
    model.graph.node[2].name = ATTACK
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    run([str(tmp_path / "model.onnx"), "-o", f"html={tmp_path / 'report.html'}", "-q"])
    return tmp_path / "report.html"


@pytest.mark.browser
def test_nothing_is_asked_for_and_nothing_goes_wrong(browser: Any, faulty: Path, tmp_path: Path):
    nothing = Report((), "1.23", "onnx-ml")
    many = page(hostile(count=SHOWN_FINDINGS + 20))
    for text in (faulty.read_text(encoding="utf-8"), page(hostile()), many, page(REPORT), page(nothing)):
        path = tmp_path / "page.html"
        path.write_text(text, encoding="utf-8")
        visit = Visit(browser, path)
        for button in visit.page.locator("button:visible", has_text="more").all():
            button.click()
        visit.page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        visit.page.wait_for_timeout(100)
        if text is many:
            visit.page.locator("details.finding").nth(SHOWN_FINDINGS + 10).locator("dl").last.wait_for()
        assert visit.requests == [path.as_uri()]
        assert visit.said == []
        assert visit.page.locator("img").count() == 0


@pytest.mark.browser
def test_the_fault_is_marked_in_its_picture(browser: Any, faulty: Path):
    visit = Visit(browser, faulty)
    picture = visit.page.locator("details.finding[data-rule=undefined-name] .picture svg")
    assert picture.count() == 1
    assert picture.locator(".node.fault:not(.value) text").first.text_content() == "Gemm"
    assert "float[2, 64]" in picture.locator("text.known").all_text_contents()
    assert picture.locator("path.fault").count() == 1
    # Nothing lies above or left of the paper, and no two nodes on one another.
    boxes = [each.bounding_box() for each in picture.locator(".node > rect").all()]
    paper = picture.bounding_box()
    assert all(box["x"] >= paper["x"] and box["y"] >= paper["y"] for box in boxes)
    overlaps = [
        (a, b)
        for a in boxes
        for b in boxes
        if a is not b and abs(a["x"] - b["x"]) < min(a["width"], b["width"]) and abs(a["y"] - b["y"]) < a["height"]
    ]
    assert overlaps == []


@pytest.mark.browser
def test_findings_are_filtered_and_searched(browser: Any, faulty: Path):
    visit = Visit(browser, faulty)
    everything = visit.shown()
    assert set(everything) == {"undefined-name", "incompatible-operand-shapes", "missing-producer"}
    visit.page.select_option("select[name=severity]", "warning")
    assert visit.shown() == ["missing-producer"]
    visit.page.click("button[type=reset]")
    visit.page.wait_for_timeout(50)
    assert visit.shown() == everything
    visit.page.keyboard.press("Escape")
    visit.page.locator("body").click(position={"x": 2, "y": 2})
    visit.page.keyboard.press("/")
    visit.page.keyboard.type("broadcast")
    assert visit.shown() == ["incompatible-operand-shapes"]
    assert visit.page.locator("#shown").text_content() == "1 of 4 findings"


@pytest.mark.browser
def test_the_filter_is_in_the_address(browser: Any, faulty: Path):
    visit = Visit(browser, faulty)
    visit.page.select_option("select[name=rule]", "missing-producer")
    assert "rule=missing-producer" in visit.page.url
    sent = browser.new_page()
    sent.goto(visit.page.url)
    assert [each.get_attribute("data-rule") for each in sent.locator("details.finding:visible").all()] == [
        "missing-producer"
    ]
    sent.close()
    visit.page.locator(".tiles a", has_text="error").first.click()
    assert set(visit.shown()) == {"undefined-name", "incompatible-operand-shapes"}
    visit.page.go_back()
    visit.page.wait_for_timeout(50)
    assert visit.shown() == ["missing-producer"]
    visit.page.locator(".charts a", has_text="undefined-name").click()
    assert set(visit.shown()) == {"undefined-name"}


@pytest.mark.browser
def test_twenty_thousand_models_are_listed_and_filtered(browser: Any, tmp_path: Path):
    found = [error(rule=f"rule-{index % 40}", message=f"value 'v{index}' is wrong") for index in range(4000)]
    files = [
        FileReport(f"/zoo/part{index // 100}/model{index}.onnx", 1, (found[index // 5],) if index % 5 == 0 else ())
        for index in range(20_000)
    ]
    files[7] = replace(files[7], unreadable="no such file")
    path = tmp_path / "page.html"
    path.write_text(page(Report(tuple(files), "1.23", "onnx-ml")), encoding="utf-8")
    start = time.perf_counter()
    visit = Visit(browser, path)
    loaded = time.perf_counter()
    visit.page.fill("input[name=text]", "model4321.onnx")
    assert visit.page.locator("#listed").text_content() == "1 of 20,000 files"
    filtered = time.perf_counter()
    visit.page.fill("input[name=text]", "")
    visit.page.locator("#files > summary").click()
    assert visit.page.locator("#list li").count() == 300
    visit.page.locator("#files > button").click()
    assert visit.page.locator("#list li").count() == 600
    visit.page.locator(".tiles a", has_text="not checked").click()
    assert visit.page.locator("#list li").all_text_contents() == ["part0/model7.onnx not checked: no such file"]
    # Every finding can be reached, also those that are no markup yet.
    visit.page.locator(".charts a", has_text="rule-0").click()
    assert visit.page.locator("#shown").text_content() == "100 of 4,000 findings"
    last = visit.page.locator("details.finding").last
    last.locator("summary").click()
    last.locator("dl").last.wait_for()
    visit.page.click("button[type=reset]")
    visit.page.locator("#findings + button").click()
    assert visit.page.locator("details.finding").count() == 400
    visit.page.locator(".charts a", has_text="part7/").first.click()
    assert visit.page.locator("#shown").text_content() == "20 of 4,000 findings"
    memory = visit.page.evaluate("performance.memory.usedJSHeapSize")
    size = path.stat().st_size
    print(f"load {loaded - start:.2f} s, filter {filtered - loaded:.2f} s, page {size:,} B, heap {memory:,} B")
    assert (size < 5_000_000, visit.said, visit.requests) == (True, [], [path.as_uri()])


@pytest.mark.browser
def test_the_picture_shows_the_fault_and_can_be_zoomed(browser: Any, faulty: Path):
    visit = Visit(browser, faulty, viewport={"width": 400, "height": 900})
    visit.page.evaluate("document.querySelectorAll('details.finding').forEach((each) => { each.open = true; })")
    picture = visit.page.locator("details.finding[data-rule=undefined-name] .picture").first
    fault = picture.locator(".node.fault:not(.value) > rect")
    seen, box = picture.locator(".scroller").bounding_box(), fault.bounding_box()
    assert seen["x"] <= box["x"] + box["width"] / 2 <= seen["x"] + seen["width"]
    before = picture.locator("svg").bounding_box()["width"]
    picture.get_by_role("button", name="Zoom in").click()
    assert picture.locator("svg").bounding_box()["width"] > before
    picture.get_by_role("button", name="Fit the width").click()
    assert picture.locator("svg").bounding_box()["width"] <= seen["width"]
    mark = visit.page.locator("details.finding[data-rule=undefined-name] pre mark").first.bounding_box()
    assert 0 <= mark["x"] <= mark["x"] + mark["width"] < 400


@pytest.mark.browser
def test_a_picture_of_a_value_shows_the_value(browser: Any, tmp_path: Path):
    """No node is marked then, so that the picture is scrolled to the edge of the value."""
    kinds = ["Relu"] * 12
    nodes = tuple(
        Neighbour(kind, f"a-rather-long-name-of-node-{index}", index, False) for index, kind in enumerate(kinds)
    )
    edges = tuple(ValueEdge(0, index, "", "float[2]", index == 11) for index in range(1, 12))
    found = error(rule="cycle", neighbourhood=Neighbourhood(nodes, edges, is_cut=False))
    path = tmp_path / "page.html"
    path.write_text(page(Report((FileReport("m.onnx", 1, (found,)),), "1.23", "onnx-ml")), encoding="utf-8")
    visit = Visit(browser, path, viewport={"width": 400, "height": 900})
    seen = visit.page.locator(".picture .scroller").bounding_box()
    box = visit.page.locator(".picture path.fault").bounding_box()
    assert box["x"] < seen["x"] + seen["width"]
    assert box["x"] + box["width"] > seen["x"]


@pytest.mark.browser
def test_the_lines_on_a_file_are_apart(browser: Any, tmp_path: Path):
    file = FileReport("m.onnx", 1, (), not_verified=(("the shapes of 'a'", 1),))
    path = tmp_path / "page.html"
    path.write_text(page(Report((file,), "1.23", "onnx-ml")), encoding="utf-8")
    visit = Visit(browser, path)
    tops = [each.bounding_box()["y"] for each in visit.page.locator("#list span").all()]
    assert len(set(tops)) == len(tops) == 2
    assert visit.page.locator("#listed").text_content() == ""


_LINES = """each => {
  const range = document.createRange();
  range.selectNodeContents(each);
  return new Set([...range.getClientRects()].map((box) => box.top)).size;
}"""
"""The number of lines that the text of an element takes."""


@pytest.mark.browser
@pytest.mark.parametrize("width", [1440, 800, 400])
def test_nothing_is_wider_than_the_window(browser: Any, faulty: Path, tmp_path: Path, width: int):
    long = "/".join(f"a-long-name-of-a-folder-{number}" for number in range(6))
    found = error(rule="incompatible-operand-shapes", message=f"input 0 '{long}' is wrong")
    levels = [Severity.ERROR, Severity.WARNING, Severity.NOTE]
    items = tuple(replace(found, severity=level) for level in levels for _ in range(300))
    files = tuple(FileReport(f"{number}/{long}/m.onnx", 1, items) for number in range(2))
    path = tmp_path / "wide.html"
    path.write_text(page(replace(REPORT, files=files)), encoding="utf-8")
    for each in (faulty, path):
        visit = Visit(browser, each, viewport={"width": width, "height": 900})
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
        # A count is on one line, and so is the code without a scroll bar.
        for count in visit.page.locator("td.count:visible").all():
            assert count.evaluate(_LINES) == 1
        for code in visit.page.locator("pre.code:visible").all():
            assert code.evaluate("each => each.scrollWidth <= each.clientWidth")


@pytest.mark.browser
def test_the_tab_key_goes_through_the_page_in_order(browser: Any, faulty: Path):
    visit = Visit(browser, faulty)
    reached = []
    for _ in range(40):
        visit.page.keyboard.press("Tab")
        focused = visit.page.evaluate(
            "[document.activeElement.tagName, document.activeElement.getBoundingClientRect().top + scrollY,"
            " (document.activeElement.getAttribute('aria-label') || document.activeElement.textContent).trim()]"
        )
        reached.append(focused)
        if focused[2].startswith("Files"):
            break
    tags, tops, names = zip(*reached, strict=True)
    assert list(dict.fromkeys(tags[:12]))[:4] == ["A", "INPUT", "SELECT", "BUTTON"]
    assert all(before <= after + 5 for before, after in pairwise(tops))  # a select is a bit higher than a button
    assert all(names)
    assert {"Search", "severity", "rule", "Zoom in"} <= set(names)
    assert reached[-1][2].startswith("Files")


@pytest.mark.browser
def test_the_keyboard_opens_a_finding_and_paper_shows_all(browser: Any, faulty: Path):
    visit = Visit(browser, faulty)
    second = visit.page.locator("details.finding").nth(1)
    second.locator("summary").focus()
    visit.page.keyboard.press("Enter")
    assert second.get_attribute("open") is not None
    second.locator(".picture svg").wait_for()
    visit.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert visit.page.locator("details.finding:not([open])").count() == 0
    assert len(visit.page.pdf()) > 1000
    visit.page.emulate_media(media="print")
    assert visit.page.locator("button:visible").count() == 0
    visit.page.set_viewport_size({"width": 150, "height": 900})
    size = visit.page.locator(".picture svg").first.evaluate(
        "each => [each.viewBox.baseVal.width / each.viewBox.baseVal.height,"
        " each.getBoundingClientRect().width / each.getBoundingClientRect().height]"
    )
    assert size[0] == pytest.approx(size[1], rel=0.02)


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(browser: Any, faulty: Path, scheme: str):
    """A contrast of at least 4.5, as WCAG 2 has it for text."""
    visit = Visit(browser, faulty, color_scheme=scheme)
    visit.page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert visit.faint_texts() == []
    assert len(visit.page.locator("text").all()) > 5  # of a picture


@pytest.mark.browser
def test_it_can_be_read_without_scripts(browser: Any, faulty: Path):
    context = browser.new_context(java_script_enabled=False)
    visit = Visit(context, faulty, ready="html")
    assert len(visit.shown()) == len(re.findall('<details class="finding"', faulty.read_text(encoding="utf-8")))
    assert visit.page.locator("form:visible").count() == 0
