# SPDX-License-Identifier: Apache-2.0
"""The page that checks models, in a real browser. It is built once, and its downloads stay in pytest's cache."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import onnx
import onnx.parser
import pytest
from support.project.checkout import ROOT
from support.servers.static_pages import RIGHT, serve

from onnx_lint import lint
from tools.page.build import build, parts_of
from tools.page.downloads import BuildError

pytestmark = pytest.mark.browser

PATIENCE = 120_000
"""Milliseconds; the machine may be busy."""

GOOD = """<ir_version: 10, opset_import: ["": 21], producer_name: "test">
net (float[N] x) => (float[N] y) { y = Relu(x) }"""
BROKEN = GOOD.replace("Relu(x)", "Add(x, gone)")


@pytest.fixture(scope="session")
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built page."""
    page = tmp_path_factory.mktemp("page") / "page"
    try:
        build(page, request.config.cache.mkdir("checker_page"), None)
    except BuildError as error:
        pytest.skip(f"the page cannot be built here: {error}")
    return page


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with serve(folder) as address:
        yield address


class Checked:
    """The page in a browser, with all that it requests and says."""

    def __init__(self, context: Any, address: str, state: str = "ready") -> None:
        self.address = address
        self.requests: list[str] = []
        self.said: list[str] = []
        self.runs = 0
        context.on("request", lambda request: self.requests.append(request.url))
        self.page = context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda problem: self.said.append(str(problem)))
        self.page.goto(address)
        if state:
            self.page.wait_for_selector(f"html[data-state={state}]")

    def check(self, *files: Path, kind: str = "files") -> None:
        self.page.set_input_files(f"#{kind}-input", [str(path) for path in files] if kind == "files" else str(files[0]))
        self.wait()

    def wait(self) -> None:
        self.runs += 1
        try:
            self.page.wait_for_selector(f'html[data-done="{self.runs}"]')
        except Exception as error:
            error.add_note(f"run {self.runs}: {self.page.inner_text('#status')}; {self.said}")
            raise
        if self.page.is_visible("#report"):
            self.report.locator("html[data-ready]").wait_for(state="attached")

    @property
    def verdict(self) -> str:
        return self.page.inner_text("#verdict")

    @property
    def problem(self) -> str:
        return self.page.inner_text("#problem") if self.page.is_visible("#problem") else ""

    @property
    def report(self) -> Any:
        return self.page.frame_locator("#report")

    def saved(self, button: str, action: Callable[[], object] | None = None) -> bytes:
        with self.page.expect_download() as found:
            (action or (lambda: self.page.click(button)))()
        return Path(found.value.path()).read_bytes()


@pytest.fixture
def new_page(browser: Any, address: str) -> Iterator[Callable[..., Checked]]:
    """Return a function that opens the page; options as for a context of Playwright."""
    contexts = []

    def opened(at: str = address, state: str = "ready", **options: Any) -> Checked:
        contexts.append(browser.new_context(**options))
        return Checked(contexts[-1], at, state)

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def shared_page(browser: Any, address: str) -> Iterator[Checked]:
    context = browser.new_context()
    yield Checked(context, address)
    context.close()


@pytest.fixture
def page(shared_page: Checked) -> Checked:
    """The page as most tests need it: Python is loaded once for all of them. Its settings are the defaults."""
    shared_page.page.evaluate("document.getElementById('choices').reset()")
    return shared_page


def model(path: Path, text: str = GOOD) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(onnx.parser.parse_model(text).SerializeToString())
    return path


def external(path: Path, size: int) -> Path:
    """Write a model whose weights are in `weights.bin` beside it."""
    made = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["": 21], producer_name: "test">
        net (float[N] x) => (float[N] y) <float[1] w = {1}> { y = Mul(x, w) }"""
    )
    weights = made.graph.initializer[0]
    weights.dims[0] = size // 4
    weights.ClearField("float_data")
    weights.data_location = onnx.TensorProto.EXTERNAL
    weights.external_data.add(key="location", value="weights.bin")
    made.graph.input[0].type.tensor_type.shape.dim[0].dim_value = size // 4
    made.graph.output[0].type.tensor_type.shape.dim[0].dim_value = size // 4
    path.write_bytes(made.SerializeToString())
    return path


# --- what it finds


def test_a_good_and_a_broken_model_and_no_request_to_another_origin(new_page: Callable[..., Checked], tmp_path: Path):
    page = new_page()
    page.check(model(tmp_path / "good.onnx"))
    assert page.verdict == "1 model conforms to ONNX 1.23"
    assert page.page.get_attribute("#verdict", "data-conforms") == "true"
    page.check(model(tmp_path / "broken.onnx", BROKEN))
    assert page.verdict.startswith("1 model does not conform to ONNX 1.23: 1 error")
    assert page.report.locator("details.finding").get_attribute("data-rule") == "undefined-name"
    assert page.report.locator("figure.picture svg").count() == 1
    assert page.page.evaluate("document.activeElement.id") == "verdict"
    others = [each for each in page.requests if not each.startswith((page.address, f"blob:{page.address}"))]
    assert others == []
    assert len(page.requests) > 10
    assert page.said == []
    assert page.problem == ""


def test_the_report_is_filtered_in_its_frame(page: Checked):
    page.page.click("#examples button:first-of-type")
    page.wait()
    assert page.report.locator("details.finding:visible").count() == 6
    page.report.locator("select[name=rule]").select_option("cycle")
    assert page.report.locator("details.finding:visible").count() == 1
    page.report.locator("button[type=reset]").click()
    page.report.locator("input[name=text]").fill("float_data")
    assert page.report.locator("details.finding:visible").count() == 1
    assert page.said == []


def test_each_example_has_the_verdict_of_the_command_line(page: Checked, folder: Path):
    buttons = page.page.locator("#examples button")
    examples = json.loads((parts_of(folder) / "built.json").read_text(encoding="utf-8"))["examples"]
    assert buttons.all_inner_texts() == [each["title"] for each in examples]
    found = []
    for index, each in enumerate(examples):
        buttons.nth(index).click()
        page.wait()
        found.append(json.loads(page.saved("#save-json"))["files"][0]["conforms"])
        assert found[-1] == lint(parts_of(folder) / "examples" / each["files"][0]).conforms
    assert {True, False} == set(found)


def test_data_beside_the_model_and_without_it(page: Checked, tmp_path: Path):
    path = external(tmp_path / "m.onnx", 400)
    page.check(path)
    assert "does not conform" in page.verdict
    assert "data files" in page.page.inner_text("#hint")
    (tmp_path / "weights.bin").write_bytes(bytes(400))
    page.check(path, tmp_path / "weights.bin")
    assert page.verdict == "1 model conforms to ONNX 1.23"
    assert not page.page.is_visible("#hint")
    (tmp_path / "weights.bin").write_bytes(bytes(396))
    page.check(path, tmp_path / "weights.bin")
    assert page.report.locator("details.finding").get_attribute("data-rule") == "external-range-beyond-file"


def test_a_folder_with_models_in_folders(page: Checked, tmp_path: Path):
    models = tmp_path / "zoo"
    model(models / "a" / "good.onnx")
    model(models / "b" / "broken.onnx", BROKEN)
    external(models / "c.onnx", 400)
    (models / "weights.bin").write_bytes(bytes(400))
    (models / "notes.md").write_text("no model", encoding="utf-8")
    page.check(models, kind="folder")
    assert page.verdict.startswith("3 models: 2 conform to ONNX 1.23, 1 does not (1 error")
    files = json.loads(page.saved("#save-json"))["files"]
    assert [file["path"] for file in files] == ["zoo/c.onnx", "zoo/a/good.onnx", "zoo/b/broken.onnx"]


def test_files_are_dropped(page: Checked, tmp_path: Path):
    content = list(model(tmp_path / "m.onnx", BROKEN).read_bytes())
    transfer = page.page.evaluate_handle(
        """content => {
          const transfer = new DataTransfer();
          transfer.items.add(new File([new Uint8Array(content)], "dropped.onnx"));
          return transfer;
        }""",
        content,
    )
    page.page.dispatch_event("#drop", "dragover", {"dataTransfer": transfer})
    assert page.page.get_attribute("#drop", "class") == "over"
    page.page.dispatch_event("#drop", "drop", {"dataTransfer": transfer})
    page.wait()
    assert page.report.locator("section.file").get_attribute("data-file") == "dropped.onnx"


def test_a_file_that_is_no_model(page: Checked, tmp_path: Path):
    (tmp_path / "notes.txt").write_text("These are notes.\n" * 20, encoding="utf-8")
    (tmp_path / "empty.onnx").write_bytes(b"")
    for name in ("notes.txt", "empty.onnx"):
        page.check(tmp_path / name)
        assert page.report.locator("details.finding").get_attribute("data-rule") in ("not-a-model", "truncated-file")
        assert "does not conform" in page.verdict
    assert page.problem == ""


def test_a_chosen_file_that_is_not_checked_is_named(page: Checked, tmp_path: Path):
    (tmp_path / "model.pb").write_bytes(b"broken")
    page.check(model(tmp_path / "good.onnx"), tmp_path / "model.pb")
    assert page.page.inner_text("#left-out").startswith("Not checked: model.pb.")
    page.check(tmp_path / "good.onnx")
    assert not page.page.is_visible("#left-out")


def test_two_files_of_one_name_are_refused(page: Checked):
    page.page.evaluate(
        """() => {
          const transfer = new DataTransfer();
          for (const content of ["a", "b"]) transfer.items.add(new File([content], "m.onnx"));
          dispatchEvent(new DragEvent("drop", { dataTransfer: transfer }));
        }"""
    )
    page.page.get_by_text("Two of the files are named m.onnx").wait_for()


def test_a_file_that_changes_after_it_was_chosen(page: Checked, tmp_path: Path):
    path = model(tmp_path / "m.onnx", BROKEN)
    page.check(path)
    path.write_bytes(path.read_bytes() + b"more")
    os.utime(path, (1, 1))
    page.page.evaluate("document.getElementById('choices').requestSubmit()")
    page.page.get_by_text("A file has changed since it was chosen").wait_for()
    page.check(model(path))
    assert page.verdict == "1 model conforms to ONNX 1.23"


def test_results_are_no_steps_of_the_back_button(page: Checked, tmp_path: Path):
    page.check(model(tmp_path / "m.onnx"))
    before = page.page.evaluate("history.length")
    page.check(tmp_path / "m.onnx")
    page.check(tmp_path / "m.onnx")
    assert page.page.evaluate("history.length") == before


def test_a_gibibyte_of_weights(page: Checked, tmp_path: Path):
    size = 1 << 30
    path = external(tmp_path / "m.onnx", size)
    with open(tmp_path / "weights.bin", "wb") as stream:
        stream.truncate(size)
    page.check(path, tmp_path / "weights.bin")
    assert page.verdict == "1 model conforms to ONNX 1.23"
    with open(tmp_path / "weights.bin", "wb") as stream:
        stream.truncate(size - 4)
    page.check(path, tmp_path / "weights.bin")
    assert page.report.locator("details.finding").get_attribute("data-rule") == "external-range-beyond-file"


# --- settings, reports and fixes


def test_settings(page: Checked, tmp_path: Path):
    path = model(tmp_path / "m.onnx", BROKEN)
    page.check(path)
    page.page.click("#settings summary")
    page.page.select_option("select[name=edition]", "1.16")
    page.page.fill("input[name=target]", "onnxruntime=1.32.0")
    page.page.fill("input[name=select]", "cycle")
    assert page.page.inner_text("#settings-summary") == "ONNX 1.16, target onnxruntime=1.32.0, rules cycle"
    page.page.click("#again")
    page.wait()
    written = json.loads(page.saved("#save-json"))
    assert written["tool"]["specification"]["edition"] == "1.16"
    assert "cycle" in written["tool"]["rules"]
    assert "undefined-name" not in written["tool"]["rules"]
    assert "onnxruntime 1.32.0" in page.report.locator("header").inner_text()
    page.page.fill("input[name=target]", "onnxruntime=99")
    page.page.click("#again")
    page.page.wait_for_selector("#problem:visible")
    assert "target 'onnxruntime=99'" in page.problem
    assert not page.page.is_visible("#result")
    page.runs += 1
    page.page.fill("input[name=target]", "")
    page.page.fill("input[name=select]", "")
    page.page.keyboard.press("Enter")  # in a field, it checks again
    page.wait()
    assert page.problem == ""
    assert "does not conform" in page.verdict


def test_reports_to_take_along(new_page: Callable[..., Checked], tmp_path: Path):
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    page.check(model(tmp_path / "m.onnx", BROKEN))
    page.page.click("#copy")
    page.page.get_by_text("Copied.").wait_for()
    copied = page.page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("## onnx-lint: 1 model does not conform to ONNX 1.23")
    assert "undefined-name" in copied
    assert json.loads(page.saved("#save-sarif"))["runs"][0]["results"][0]["ruleId"] == "undefined-name"
    assert json.loads(page.saved("#save-json"))["summary"]["conforms"] is False
    assert page.saved("#save-html").startswith(b"<!DOCTYPE html>")
    refused = new_page(permissions=[])
    refused.page.add_init_script("delete Navigator.prototype.clipboard")
    refused.page.reload()
    refused.page.wait_for_selector("html[data-state=ready]")
    refused.check(tmp_path / "m.onnx")
    assert refused.saved("#copy").startswith(b"## onnx-lint")
    assert "onnx-lint.md" in refused.page.inner_text("#copied")


def test_the_fixed_model_and_its_difference(page: Checked, tmp_path: Path):
    made = onnx.parser.parse_model(GOOD)
    made.opset_import.append(made.opset_import[0])
    path = tmp_path / "m.onnx"
    path.write_bytes(made.SerializeToString())
    page.check(path)
    page.page.click("#fix")
    page.page.wait_for_selector("#fixed:visible")
    assert '-    1 | opset_import "" : 21' in page.page.inner_text("#difference")
    fixed = page.saved("#fixed-files a")
    assert len(onnx.load_from_string(fixed).opset_import) == 1
    assert lint(fixed).diagnostics == ()
    assert len(path.read_bytes()) > len(fixed)


def test_stop(page: Checked, tmp_path: Path):
    nodes = "".join(f"n{index} = Add(n{index - 1}, x{index % 7}) " for index in range(1, 30_000))
    path = model(tmp_path / "m.onnx", GOOD.replace("y = Relu(x)", f"n0 = Relu(x) {nodes} y = Relu(n0)"))
    page.page.set_input_files("#files-input", str(path))
    page.page.click("#stop")
    page.page.get_by_text("Ready after").wait_for()
    assert page.problem == ""
    page.check(model(tmp_path / "good.onnx"))
    assert page.verdict == "1 model conforms to ONNX 1.23"


# --- what goes wrong with the server


@pytest.mark.parametrize(
    ("types", "words"),
    [
        ({".mjs": "text/plain"}, 'sends page.mjs as "text/plain"'),
        ({".mjs": "application/octet-stream"}, 'sends page.mjs as "application/octet-stream"'),
    ],
)
def test_a_wrong_type_is_named(new_page: Callable[..., Checked], folder: Path, types: dict[str, str], words: str):
    with serve(folder, {**RIGHT, **types}) as wrong:
        page = new_page(wrong, state="")
        page.page.wait_for_selector("#problem:visible")
        assert words in page.problem


def test_webassembly_of_a_wrong_type_is_named(new_page: Callable[..., Checked], folder: Path):
    with serve(folder, {**RIGHT, ".wasm": "text/plain"}) as wrong:
        page = new_page(wrong, state="")
        page.page.wait_for_selector("html[data-state=broken]")
        assert 'sends pyodide/pyodide.asm.wasm as "text/plain"' in page.problem


def test_damaged_webassembly_is_named(new_page: Callable[..., Checked], folder: Path, tmp_path: Path):
    page_folder = tmp_path / "page"
    shutil.copytree(folder, page_folder)
    os.truncate(parts_of(page_folder) / "pyodide" / "pyodide.asm.wasm", 3_000_000)
    with serve(page_folder) as address:
        page = new_page(address, state="broken")
        assert "pyodide/pyodide.asm.wasm is damaged" in page.problem


def test_a_policy_of_the_server(new_page: Callable[..., Checked], folder: Path, tmp_path: Path):
    with serve(folder, policy="default-src 'self'; script-src 'self'") as address:
        assert "has no 'wasm-unsafe-eval'" in new_page(address, state="broken").problem
    (policy,) = re.findall(r"^Content-Security-Policy: (.+)$", (ROOT / "docs" / "browser.md").read_text(), re.MULTILINE)
    with serve(folder, policy=policy) as address:
        page = new_page(address)
        page.check(model(tmp_path / "good.onnx"))
        assert page.verdict == "1 model conforms to ONNX 1.23"


@pytest.mark.parametrize("name", ["worker.mjs", "pyodide/pyodide.asm.wasm", "built.json", "check.py"])
def test_a_missing_file_is_named(new_page: Callable[..., Checked], folder: Path, tmp_path: Path, name: str):
    page_folder = tmp_path / "page"
    shutil.copytree(folder, page_folder)
    (parts_of(page_folder) / name).unlink()
    with serve(page_folder) as address:
        page = new_page(address, state="")
        page.page.wait_for_selector("#problem:visible")
        assert name in page.problem
        assert "404" in page.problem


def test_a_page_that_is_opened_as_a_file_says_what_to_do(new_page: Callable[..., Checked], folder: Path):
    page = new_page((folder / "index.html").as_uri(), state="")
    page.page.wait_for_selector("#problem:visible")
    assert "python3 -m http.server" in page.problem


# --- numpy


@pytest.fixture
def with_numpy(folder: Path, tmp_path: Path) -> Path:
    """The page with a stand-in for numpy, as a host would add the wheel."""
    page = tmp_path / "page"
    shutil.copytree(folder, page)
    parts = parts_of(page)
    lock = json.loads((parts / "pyodide" / "pyodide-lock.json").read_text(encoding="utf-8"))
    entry = lock["packages"]["numpy"]
    wheel = parts / "pyodide" / entry["file_name"]
    with zipfile.ZipFile(wheel, "w") as content:
        content.writestr("numpy/__init__.py", "# a stand-in without functions")
        info = f"numpy-{entry['version']}.dist-info"
        content.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: numpy\nVersion: {entry['version']}\n")
        content.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        content.writestr(f"{info}/RECORD", "")
    entry["sha256"] = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (parts / "pyodide" / "pyodide-lock.json").write_text(json.dumps(lock), encoding="utf-8")
    built = json.loads((parts / "built.json").read_text(encoding="utf-8"))
    (parts / "built.json").write_text(json.dumps({**built, "has_numpy": True}), encoding="utf-8")
    return page


def test_the_page_takes_numpy_from_its_host_or_says_that_it_is_missing(
    new_page: Callable[..., Checked], with_numpy: Path, tmp_path: Path
):
    assert "without numpy" in new_page().page.inner_text("#built")
    with serve(with_numpy) as address:
        page = new_page(address)
        assert page.page.inner_text("#built").endswith("with numpy.")
        (wheel,) = [each for each in page.requests if "/numpy-" in each]
        assert wheel.startswith(address)
    next((parts_of(with_numpy) / "pyodide").glob("numpy-*")).unlink()
    with serve(with_numpy) as address:
        page = new_page(address)
        assert "without numpy, which cannot be loaded" in page.page.inner_text("#built")
        page.check(model(tmp_path / "good.onnx"))
        assert page.verdict == "1 model conforms to ONNX 1.23"


# --- how it looks


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_nothing_is_wider_than_the_window_and_text_stands_out(
    new_page: Callable[..., Checked], scheme: str, width: int
):
    from support.reports.visits import faint_texts

    page = new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.page.click("#settings summary")
    for index in (1, 0):
        page.page.locator("#examples button").nth(index).click()
        page.wait()
    page.page.click("#fix")
    page.page.wait_for_selector("#fixed:visible")
    assert page.page.evaluate("document.documentElement.scrollWidth") <= width
    assert faint_texts(page.page) == []
    dark = page.report.locator("body").evaluate("each => getComputedStyle(each).backgroundColor")
    assert (dark == "rgb(20, 23, 28)") == (scheme == "dark")


def test_the_keyboard_is_enough(new_page: Callable[..., Checked]):
    page = new_page()
    reached = []
    for _ in range(6):
        page.page.keyboard.press("Tab")
        reached.append(page.page.evaluate("document.activeElement.textContent.trim()"))
    assert reached[:3] == ["Choose files", "Choose a folder", "six faults"]
    page.page.keyboard.press("Shift+Tab")
    page.page.locator("#examples button").first.focus()
    page.page.keyboard.press("Enter")
    page.wait()
    assert page.page.evaluate("document.activeElement.id") == "verdict"
    page.page.keyboard.press("Tab")
    assert page.page.evaluate("document.activeElement.id") == "copy"
