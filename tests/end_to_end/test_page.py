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
from support.reports.made_up_report import REPORT, error
from support.reports.visits import Visit

from onnx_lint.cli.application import run
from onnx_lint.common.record import replace
from onnx_lint.ir.places.place import Place
from onnx_lint.report.file_report import FileFacts, FileReport
from onnx_lint.report.findings import ContextLine, ProposedFix, RelatedPlace
from onnx_lint.report.totals import Report
from onnx_lint.reporters import Options, write_report
from onnx_lint.reporters.html import MAX_FILES, MAX_FINDINGS
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
    assert (
        f"<p>{5_002 - MAX_FINDINGS:,} more findings, no worse than these, left out; the JSON report has all.</p>"
        in text
    )
    listed = re.findall('<li data-file="(.*?)"', text)
    assert (len(listed), listed[:4]) == (MAX_FILES, ["few.onnx", "many.onnx", "missing.onnx", "0.onnx"])
    assert "<h2>Files (3,003)</h2>" in text


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
    facts = FileFacts(8, (("", 17),), "pytorch 2.1", 1, 1, 0, (("", 17, "Relu", 1),))
    found = (error(rule="cycle"), replace(error(rule="cycle"), severity=Severity.NOTE), error(rule="opset"))
    text = page(Report((FileReport("m.onnx", 1, found, facts=facts),), "1.23", "onnx-ml"))
    assert '<td><span class="error">1 error</span>, <span class="note">1 note</span></td>' in text
    assert "\n     1         3       2  pytorch 2.1</pre>" in text


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
    visit.page.locator("th a", has_text="undefined-name").click()
    assert set(visit.shown()) == {"undefined-name"}
    visit.page.go_back()
    visit.page.wait_for_timeout(50)
    assert visit.shown() == ["missing-producer"]


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
    assert list(dict.fromkeys(tags[:12]))[:4] == ["A", "INPUT", "SELECT", "BUTTON"]
    assert all(before <= after + 5 for before, after in pairwise(tops))  # a select is a bit higher than a button
    assert all(names)
    assert {"Search", "severity", "rule"} <= set(names)
    assert reached[-1][2].startswith("Files")


@pytest.mark.browser
def test_the_keyboard_opens_a_finding_and_paper_shows_all(browser: Any, faulty: Path):
    visit = Visit(browser, faulty)
    second = visit.page.locator("details.finding").nth(1)
    second.locator("summary").focus()
    visit.page.keyboard.press("Enter")
    assert second.get_attribute("open") is not None
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
