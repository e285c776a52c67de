# SPDX-License-Identifier: Apache-2.0
"""The data files of the package."""

from __future__ import annotations

import sys
import zipfile

import pytest

from onnx_lint.common import package_data


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
