# SPDX-License-Identifier: Apache-2.0
"""The data files of the package."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile

import pytest
from support.project.checkout import ROOT
from support.project.each_case import each_case

from onnx_lint.common import package_data

DATA = sorted(path for folder in ("onnx_lint", "rules") for path in (ROOT / folder).rglob("*.json*"))


def test_a_file_is_read_from_a_folder_and_from_a_zip_file(tmp_path, monkeypatch):
    (tmp_path / "of_folder").mkdir()
    (tmp_path / "of_folder" / "__init__.py").touch()
    (tmp_path / "of_folder" / "data.bin").write_bytes(b"1")
    with zipfile.ZipFile(tmp_path / "app.zip", "w") as archive:
        archive.writestr("of_zip/__init__.py", "")
        archive.writestr("of_zip/data.bin", b"2")
    for path in (tmp_path, tmp_path / "app.zip"):
        monkeypatch.syspath_prepend(path)
    try:
        assert (package_data.read("of_folder", "data.bin"), package_data.read("of_zip", "data.bin")) == (b"1", b"2")
        for package in ("of_folder", "of_zip"):
            with pytest.raises(OSError, match=r"other\.bin"):
                package_data.read(package, "other.bin")
    finally:
        for package in ("of_folder", "of_zip"):
            sys.modules.pop(package, None)


@each_case("path", DATA, ids=[path.name for path in DATA])
def test_the_json_of_data_files_is_what_the_package_json_reads(path):
    text = path.read_bytes()
    for each in text.splitlines() if path.suffix == ".jsonl" else [text]:
        assert package_data.from_json(each) == json.loads(each)


def test_an_interpreter_without_the_scanner_in_c_reads_the_same():
    code = (
        "import sys; sys.modules['_json'] = None\n"
        "from onnx_lint.common import package_data\n"
        """print(package_data.from_json(b'{"a": [1, 1.5, true, null, "b"]}'), 'json' in sys.modules)"""
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "{'a': [1, 1.5, True, None, 'b']} True\n"
