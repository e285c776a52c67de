# SPDX-License-Identifier: Apache-2.0
"""The HTML report in a real browser: it requests nothing, runs nothing from a model, and its controls work."""

from __future__ import annotations

import io
import re
import shlex
from html import unescape
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import onnx
import onnx.parser
import pytest
from support.models.places import place_at
from support.reports.made_up_picture import PICTURE
from support.reports.made_up_report import REPORT, error
from support.reports.visits import Visit

from onnx_lint.cli.application import run
from onnx_lint.common.record import replace
from onnx_lint.ir.places.place import Place
from onnx_lint.report.file_report import FileFacts, FileReport, OperatorCount
from onnx_lint.report.findings import ContextLine, ProposedFix, RelatedPlace
from onnx_lint.report.pictures import Picture
from onnx_lint.report.totals import Report
from onnx_lint.reporters import Options, html, write_report
from onnx_lint.reporters.html import MAX_FILES, MAX_FINDINGS
from onnx_lint.reporters.html_findings import OPEN_FINDINGS, OPEN_PICTURES
from onnx_lint.spec.clauses import Severity

ATTACK = "</script></title></style><img src=x onerror=alert(1)><script>alert(2)</script>\"'><!--"


def page(report: Report) -> str:
    stream = io.StringIO()
    write_report("html", report, stream, Options(statistics=True))
    return stream.getvalue()


def hostile(*, count: int = 2) -> Report:
    """A report whose every name attacks, and with `count` findings in the last file."""
    texts = dict.fromkeys(("rule", "message", "allowed", "subject", "node", "clause_summary"), ATTACK)
    found = error(at=Place(None, ATTACK), **texts)
    others = (replace(found, rule="cycle"),) * (count - 1)
    file = FileReport(f"{ATTACK}.onnx", 1, (found, *others), not_verified=((ATTACK, 1),))
    return replace(REPORT, files=(*REPORT.files, file), rules=("cycle",))


def test_no_name_becomes_markup():
    text = page(hostile())
    assert "<img" not in text
    assert text.count("<script") == 1
    assert text.count("</script>") == 1
    assert "&lt;img src=x onerror=alert(1)&gt;" in text


def test_the_page_refers_to_nothing_outside():
    text = page(hostile())
    assert re.findall(r"""(?:src|href|action)=["'](?!#)[^"']*""", text.replace(ATTACK, "")) == []
    assert "default-src 'none'" in text


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


def test_the_least_severe_findings_and_files_with_nothing_to_say_are_left_out():
    notes = (error(rule="name", severity=Severity.NOTE),) * 5_000
    few = FileReport("few.onnx", 1, (error(), error(rule="opset")))
    files = [FileReport(f"{index}.onnx", 1) for index in range(3_000)]
    missing = FileReport("missing.onnx", 0, unreadable="no such file")
    text = page(Report((FileReport("many.onnx", 1, notes), *files, missing, few), "1.23", "onnx-ml"))
    shown = re.findall('<details class="finding" data-severity="(.*?)"', text)
    assert (len(shown), shown[:3]) == (MAX_FINDINGS, ["error", "error", "note"])
    assert f"<p>{5_002 - MAX_FINDINGS:,} findings of no higher severity left out; the JSON report has all.</p>" in text
    listed = re.findall('<li data-file="(.*?)"', text)
    assert (len(listed), listed[:4]) == (MAX_FILES, ["few.onnx", "many.onnx", "missing.onnx", "0.onnx"])
    assert "<h2>Files (3,003)</h2>" in text


@pytest.mark.slow
def test_long_findings_and_remarks_stay_below_five_megabytes():
    random = Random(1)
    # Each is all that a finding may have: a long message, lines, and places with messages.
    texts = [random.randbytes(1200).hex() for _ in range(MAX_FINDINGS)]
    found = tuple(
        error(
            rule="cycle",
            message=text[:900],
            related=(RelatedPlace(place_at("graph.node[3]"), text[900:1800], None),),
            context=(ContextLine("1", text[1800:]),),
        )
        for text in texts
    )
    files = [FileReport(f"{text[:500]}.onnx", 1, incomplete=(text,)) for text in texts]
    text = page(Report((FileReport("m.onnx", 1, found), *files), "1.23", "onnx-ml"))
    assert 500 < text.count('<details class="finding"') < MAX_FINDINGS
    assert 200 < text.count("<li data-file=") < MAX_FILES
    assert len(text.encode()) < 5_000_000


def test_the_tables_of_rules_and_producers():
    facts = FileFacts(8, (("", 17),), "pytorch 2.1", 1, 1, 0, (OperatorCount("", 17, "Relu", 1),))
    found = (error(rule="cycle"), replace(error(rule="cycle"), severity=Severity.NOTE), error(rule="opset"))
    text = page(Report((FileReport("m.onnx", 1, found, facts=facts),), "1.23", "onnx-ml"))
    assert '<td><span class="error">1 error</span>, <span class="note">1 note</span></td>' in text
    assert "<tr><td>1</td><td>3</td><td>2</td><td>pytorch 2.1</td></tr>" in text
    assert '<tr data-about="opset"><td>1</td><td>1</td><td>error</td><td>opset</td></tr>' in text


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
    commands = [unescape(each) for each in re.findall(r"<br><code>(.*?)</code>", text)]
    begin = "onnx-lint fix --unsafe-fixes --select cycle"
    assert commands == [f"{begin} 'a b.onnx'", f"{begin} ./-x.onnx", f"{begin} {shlex.quote(ATTACK)}"]
    assert text.count("delete &lt;it&gt; (unsafe)") == len(paths)


# --- pictures


def many_faults(folder: Path, count: int, names: str = "node") -> Path:
    """Write a model with this number of undefined names."""
    texts = (f"{names}_{index} = Add(x, gone{index})" for index in range(count))
    model = onnx.parser.parse_model(
        f"""<ir_version: 10, opset_import: ["": 21], producer_name: "test">
        net (float[2] x) => (float[2] {names}_0) {{ {"  ".join(texts)} }}"""
    )
    path = folder / f"{names}.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def html_of(*arguments: object) -> str:
    """Return the page of a run, without the line that has its command and time."""
    path = Path("page.html")
    run([*map(str, arguments), "--select", "undefined-name", "-q", "-f", "text", "-o", f"html={path}"])
    return re.sub(r"<br>\d{4}-.*", "", path.read_text(encoding="utf-8"))


def test_the_first_pictures_are_open_and_the_others_folded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    text = html_of(many_faults(tmp_path, 45))
    found = re.findall(r'</summary>(<details class="folded"><summary>Picture</summary>)?<figure class="picture', text)
    assert [bool(each) for each in found] == [False] * OPEN_PICTURES + [True] * (45 - OPEN_PICTURES)
    are_open = re.findall(r'<details class="finding"[^>]*?( open)?>', text)
    assert [bool(each) for each in are_open] == [True] * OPEN_FINDINGS + [False] * (45 - OPEN_FINDINGS)


def test_pictures_are_the_same_in_every_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ONNX_LINT_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "models").mkdir()
    for name in "abc":
        many_faults(tmp_path / "models", 3, name)
    expected = html_of("models")
    assert expected.count("<figure") == 9
    assert html_of("models", "--jobs", "2") == expected
    assert html_of("models", "--cache") == expected
    assert html_of("models", "--cache") == expected
    bare = html_of("models", "--no-context")
    assert bare.count("<figure") == 0
    assert html_of("models", "--no-context", "--cache") == bare


def test_many_pictures_stay_below_five_megabytes():
    boxes = tuple(replace(box, name="n" * 300, values=()) for box in PICTURE.boxes) * 2
    picture = Picture((place_at("graph.node[7].output[0]"), place_at("graph.node[3].output[0]")), "", boxes, ())
    found = tuple(error(rule="cycle") for _ in range(MAX_FINDINGS))
    text = page(Report((FileReport("m.onnx", 1, found, pictures=(picture,)),), "1.23", "onnx-ml"))
    assert text.count('<details class="finding"') == MAX_FINDINGS
    assert 100 < text.count("<figure") < MAX_FINDINGS
    assert len(text.encode()) < 5_000_000


def test_pictures_take_the_room_that_words_leave(monkeypatch: pytest.MonkeyPatch):
    picture = Picture((place_at("graph.node[7].output[0]"), place_at("graph.node[3].output[0]")), "", PICTURE.boxes, ())
    found = tuple(error(rule="cycle", message=f"number {index}") for index in range(100))
    report = Report((FileReport("m.onnx", 1, found, pictures=(picture,)),), "1.23", "onnx-ml")
    text = page(report)
    assert text.count("<figure") == 100
    words = len(page(replace(report, files=(FileReport("m.onnx", 1, found),))))
    each = (len(text) - words) // 100
    monkeypatch.setattr(html, "MAX_MARKUP", words + 30 * each)
    less = page(report)
    assert less.count('<details class="finding"') == 100
    assert 20 < less.count("<figure") < 50
    assert len(less) < words + 50 * each


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
    listed = ("--severity", "missing-producer=warning")
    run([str(tmp_path / "model.onnx"), *listed, "-o", f"html={tmp_path / 'report.html'}", "-q"])
    return tmp_path / "report.html"


@pytest.mark.browser
def test_nothing_is_asked_for_and_nothing_goes_wrong(browser: Any, faulty: Path, tmp_path: Path):
    nothing = Report((), "1.23", "onnx-ml")
    for text in (faulty.read_text(encoding="utf-8"), page(hostile()), page(REPORT), page(nothing)):
        path = tmp_path / "page.html"
        path.write_text(text, encoding="utf-8")
        visit = Visit(browser, path)
        visit.page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        visit.page.wait_for_timeout(100)
        assert visit.requests == [path.as_uri()]
        assert visit.said == []
        assert visit.page.locator("img").count() == 0


@pytest.mark.browser
def test_findings_are_filtered_and_searched(browser: Any, faulty: Path):
    visit = Visit(browser, faulty)
    everything = visit.shown()
    assert set(everything) == {"undefined-name", "incompatible-operand-shapes", "missing-producer"}
    visit.page.select_option("select[name=severity]", "warning")
    assert visit.shown() == ["missing-producer"] * 2
    visit.page.click("button[type=reset]")
    visit.page.wait_for_timeout(50)
    assert visit.shown() == everything
    visit.page.keyboard.press("Escape")
    visit.page.locator("body").click(position={"x": 2, "y": 2})
    visit.page.keyboard.press("/")
    visit.page.keyboard.type("broadcast")
    assert visit.shown() == ["incompatible-operand-shapes"]
    assert visit.page.locator("#shown").text_content() == "1 of 5 findings"


@pytest.mark.browser
def test_the_filter_is_in_the_address(browser: Any, faulty: Path):
    visit = Visit(browser, faulty)
    visit.page.select_option("select[name=rule]", "missing-producer")
    assert "rule=missing-producer" in visit.page.url
    sent = browser.new_page()
    sent.goto(visit.page.url)
    shown = sent.locator("details.finding:visible").all()
    assert [each.get_attribute("data-rule") for each in shown] == ["missing-producer"] * 2
    sent.close()
    visit.page.locator("th a", has_text="undefined-name").click()
    assert set(visit.shown()) == {"undefined-name"}
    visit.page.go_back()
    visit.page.wait_for_timeout(50)
    assert visit.shown() == ["missing-producer"] * 2


@pytest.mark.browser
def test_the_search_is_at_the_top_and_the_tables_follow_it(browser: Any, tmp_path: Path):
    facts = FileFacts(
        8, (("", 17),), "pytorch 2.1", 1, 1, 0, (OperatorCount("", 17, "Hardmax", 1), OperatorCount("", 17, "Abs", 1))
    )
    found = (error(rule="cycle", message="a cycle of Hardmax"), error(rule="opset"))
    path = tmp_path / "page.html"
    path.write_text(page(Report((FileReport("m.onnx", 1, found, facts=facts),), "1.23", "onnx-ml")), encoding="utf-8")
    visit = Visit(browser, path)
    tops = [visit.page.locator(each).first.bounding_box()["y"] for each in ("#filter", "main table", ".numbers")]
    assert tops == sorted(tops)
    rows, below = visit.page.locator("tr:visible"), visit.page.locator("article:visible h3")
    assert rows.count() == 2 + 3 + 3 + 2
    visit.page.fill("input[name=text]", "Hardmax")
    assert visit.shown() == ["cycle"]
    texts = [" ".join(each.split()) for each in rows.all_inner_texts()]
    shown = ["nodes models operator set operator", "1 1 ai.onnx 17 Hardmax"]
    assert texts == ["cycle 1 error", *shown, "findings files severity rule", "1 1 error cycle"]
    assert below.all_inner_texts() == ["cycle"]
    visit.page.fill("input[name=text]", "")
    visit.page.select_option("select[name=rule]", "opset")
    assert rows.count() == 2 + 3 + 3 + 2  # a click on a row chooses another rule
    assert below.all_inner_texts() == ["opset"]


@pytest.mark.browser
@pytest.mark.parametrize(("width", "is_beside"), [(1300, True), (400, False)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pictures_fit_and_stand_beside_the_text(browser: Any, faulty: Path, width: int, is_beside: bool, scheme: str):
    visit = Visit(browser, faulty, viewport={"width": width, "height": 900}, color_scheme=scheme)
    visit.page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    pictures = visit.page.locator(".picture:visible")
    assert pictures.count() == 3  # the finding about the producer has none
    sticking_out = """each => {
      const edge = each.getBoundingClientRect();
      const inner = [...each.querySelectorAll("text, rect, path")].map((part) => part.getBoundingClientRect());
      return inner.filter((part) => part.left < edge.left || part.right > edge.right
        || part.top < edge.top || part.bottom > edge.bottom).length;
    }"""
    for picture in pictures.all():
        assert picture.locator("svg").evaluate(sticking_out) == 0
        box, text = picture.bounding_box(), picture.locator("xpath=following-sibling::div").bounding_box()
        assert 0 <= box["x"] <= box["x"] + box["width"] <= width
        assert is_beside == (box["y"] + box["height"] > text["y"] + 1)
        assert picture.locator("g.node.fault circle").count() == 1


@pytest.mark.browser
def test_the_search_does_not_look_into_pictures(browser: Any, faulty: Path):
    visit = Visit(browser, faulty)
    assert visit.page.locator("svg text", has_text="output").count() > 0
    visit.page.fill("input[name=text]", "output")
    assert "undefined-name" in visit.shown()  # its clause has the word
    visit.page.fill("input[name=text]", "float[2,10]")
    assert visit.shown() == []


@pytest.mark.browser
def test_the_lines_on_a_file_are_apart(browser: Any, tmp_path: Path):
    file = FileReport("m.onnx", 1, (), not_verified=(("the shapes of 'a'", 1),))
    path = tmp_path / "page.html"
    path.write_text(page(Report((file,), "1.23", "onnx-ml")), encoding="utf-8")
    visit = Visit(browser, path)
    tops = [each.bounding_box()["y"] for each in visit.page.locator("#files span").all()]
    assert len(set(tops)) == len(tops) == 2


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
    assert list(dict.fromkeys(tags[:12]))[:4] == ["INPUT", "SELECT", "BUTTON", "A"]
    assert all(before <= after + 5 for before, after in pairwise(tops))  # a select is a bit higher than a button
    assert all(names)
    assert {"Search", "severity", "rule"} <= set(names)
    assert reached[-1][2].startswith("Files")


@pytest.mark.browser
def test_the_keyboard_opens_a_finding_and_paper_shows_all(browser: Any, faulty: Path):
    visit = Visit(browser, faulty)
    second = visit.page.locator("details.finding").nth(1)
    second.locator("summary").focus()
    assert second.get_attribute("open") is not None  # as the first twenty findings
    visit.page.keyboard.press("Enter")
    assert second.get_attribute("open") is None
    visit.page.keyboard.press("Enter")
    assert second.get_attribute("open") is not None
    visit.page.keyboard.press("Enter")
    visit.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert visit.page.locator("details.finding:not([open])").count() == 0
    assert len(visit.page.pdf()) > 1000
    visit.page.emulate_media(media="print")
    assert visit.page.locator("button:visible").count() == 0


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(browser: Any, faulty: Path, scheme: str):
    """A contrast of at least 4.5, as WCAG 2 has it for text."""
    visit = Visit(browser, faulty, color_scheme=scheme)
    visit.page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert visit.faint_texts() == []


@pytest.mark.browser
def test_it_can_be_read_without_scripts(browser: Any, faulty: Path):
    context = browser.new_context(java_script_enabled=False)
    visit = Visit(context, faulty, ready="html")
    assert len(visit.shown()) == len(re.findall('<details class="finding"', faulty.read_text(encoding="utf-8")))
    assert visit.page.locator("form:visible").count() == 0
