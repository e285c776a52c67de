# SPDX-License-Identifier: Apache-2.0
"""Addresses are distinguished from paths, and shown without secrets."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.models.clean_model import CLEAN
from support.project.checkout import ROOT
from support.project.each_case import each_case

from onnx_lint.input.locations import file_name_of, folder_of, is_remote, names_object, shown_address


@pytest.mark.parametrize(
    "path", ["https://h/m.onnx", "s3://b/m.onnx", "hf://o/r", "gs://b", "memory://x", "HTTPS://h/m.onnx", "a+b-c.1://x"]
)
def test_addresses(path: str):
    assert is_remote(path)


@each_case(
    "path",
    [
        *("m.onnx", "./s3:/b", "/a/b", r"C:\m.onnx", "C://m.onnx", "-", "", "://x", "1a://x", "file:///m.onnx"),
        *("FILE://m.onnx", "local://m.onnx", "a b://c", "dir/https://h/m.onnx", "s3:/b/m.onnx"),
    ],
)
def test_paths(path: str):
    assert not is_remote(path)


@each_case(
    ("address", "shown"),
    [
        ("https://h/m.onnx", "https://h/m.onnx"),
        ("https://u:p@h:1/m.onnx", "https://h:1/m.onnx"),
        ("https://u:p@x@h/m.onnx", "https://h/m.onnx"),
        ("https://h/m.onnx?X-Amz-Signature=abc&X-Amz-Date=1", "https://h/m.onnx?X-Amz-Signature=***&X-Amz-Date=***"),
        ("https://h/m.onnx?sv=1&sig=a%2Fb=", "https://h/m.onnx?sv=***&sig=***"),
        ("https://h/m.onnx?token", "https://h/m.onnx?***"),
        ("https://h/m.onnx?a?b=c", "https://h/m.onnx?***=***"),
        ("https://h/m.onnx?download=1&ref=main", "https://h/m.onnx?download=1&ref=main"),
        ("https://h/m.onnx#access_token=abc", "https://h/m.onnx"),
        ("https://h/a;jsessionid=abc/m.onnx", "https://h/a;jsessionid=***/m.onnx"),
        ("https://h?key=abc", "https://h?key=***"),
        ("https://u:p@h", "https://h"),
        ("https://u:p/w@h/m.onnx", "https://h/m.onnx"),  # the host is u, as every client has it; but it is a password
        ("https://u:p?w@h/m.onnx", "https://h/m.onnx"),
        ("https://u:p#w@h/m.onnx", "https://h/m.onnx"),
        ("https://u:p@h/a@b/m.onnx", "https://h/a@b/m.onnx"),
        ("https://u:1/w@h/m.onnx", "https://h/m.onnx"),  # perhaps a port and a path, but perhaps a password
        ("https://u:12/a=b@c@h/m.onnx?a=b@c", "https://h/m.onnx?a=***"),
        ("https://u:1/w?w@h/m.onnx", "https://h/m.onnx"),
        ("https://u:1?w@h/m.onnx", "https://h/m.onnx"),
        ("https://u:/w@h/m.onnx", "https://h/m.onnx"),
        ("https://h:1/m.onnx?name=a@b", "https://h:1/m.onnx?name=***"),
        ("s3://key:12/ret@b/m.onnx", "s3://b/m.onnx"),
        ("https://[::1]:1/a@b/m.onnx", "https://[::1]:1/a@b/m.onnx"),
        ("https://h/m.onnx?path=a;sig=abc", "https://h/m.onnx?path=***"),
        ("https://h/m.onnx?format=a%26sig=abc", "https://h/m.onnx?format=***"),
        ("https://h/m.onnx?ref=https://u:p@h", "https://h/m.onnx?ref=***"),
        ("s3://key:sec/ret@b/m.onnx", "s3://b/m.onnx"),
        ("s3://arn:aws:s3:r:1:accesspoint/p/a@b.onnx", "s3://arn:aws:s3:r:1:accesspoint/p/a@b.onnx"),
        ("hf://u:p@org/repo", "hf://org/repo"),
        ("s3://key:secret@b/m.onnx", "s3://b/m.onnx"),
        ("s3://b/m.onnx?versionId=1", "s3://b/m.onnx?versionId=1"),
        ("s3://b/a#b.onnx", "s3://b/a#b.onnx"),
        ("s3://b/m.onnx#token=a/b+c==", "s3://b/m.onnx#token=***"),
        ("hf://org/repo@main/m.onnx", "hf://org/repo@main/m.onnx"),
        ("hf://gpt2@main/m.onnx", "hf://gpt2@main/m.onnx"),
    ],
)
def test_what_is_shown(address: str, shown: str):
    assert shown_address(address) == shown
    assert shown_address(shown) == shown


_NESTED = [
    *("s3://u:PASS@b", "s3://PASS@b", "//u:PASS@b", "s3%3A//u:PASS@b", "s3:%2F/u:PASS@b", "s3%3a%2f%2fu%3aPASS%40b"),
    *("s3%253A%252F%252Fu%253APASS%2540b", "s3:/%252fu:PASS%40b", "%2%35%33%41u:PASS%25%34%30b", "u%3APASS%40b"),
    *("https%3A//PASS%40h", "%68ttps:%2F/PASS@h"),
    *("s3%25253A%25252F%25252Fu%25253APASS%252540b", "a#token=PASS", "a%23token=PASS", "a%2523token%253DPASS"),
    *("a;token=PASS", "a%3btoken=PASS", "a%3Btoken%3dPASS", "a%26token%3DPASS", "a%3Ftoken=PASS", "a&token=PASS"),
    "a?token=PASS",
]
"""Addresses and parameters with a secret, to be written inside of another address."""


@pytest.mark.parametrize("nested", _NESTED)
@pytest.mark.parametrize(
    "form",
    [
        *("https://h/x?path={}", "https://h/x?PATH={}&raw=1", "https://h/x?name=m;ref={}", "https://h/x?{}=1"),
        *("https://h/x?{}", "https://h/{}/m.onnx", "https://h/m.onnx;v={}", "https://h/m.onnx#path={}"),
        *("HTTPS://u:p@h/{}", "s3://b/{}", "s3://b/x?versionId={}", "s3://b/x#ref={}", "hf://o/r@main/{}", "gs://{}/m"),
    ],
)
def test_a_secret_inside_of_an_address_is_hidden(form: str, nested: str):
    """In each encoding, and each place: better too much of an address is hidden than too little."""
    shown = shown_address(form.format(nested))
    assert "PASS" not in shown
    assert shown_address(shown) == shown


@each_case(
    "address",
    [
        *("https://h/My%20Models/m%2Bx.onnx", "https://h/%40scope/m.onnx", "https://h/a%3Ab/m.onnx", "s3://b/a:1.onnx"),
        *("s3://b/date=2024-01-01/m.onnx", "s3://b/a#1.onnx", "s3://b/a&b.onnx", "s3://b/r&d/m=1.onnx"),
        *("https://h/x?path=a%2Fb.onnx", "https://h/x?name=m%201.onnx", "hf://o/r@refs%2Fpr%2F1/m.onnx"),
        *("https://h/m?path=/a/b", "s3://b/m.onnx?versionId=a.b_c-d", "https://h:80/s3://b/m.onnx"),
    ],
)
def test_what_is_no_secret_is_shown(address: str):
    assert shown_address(address) == address


@pytest.mark.parametrize(
    ("address", "folder"),
    [
        ("https://h/a/m.onnx?sig=a/b", "https://h/a"),
        ("s3://b/m.onnx", "s3://b"),
        ("s3://b/a/m.onnx?versionId=a/b", "s3://b/a"),
        ("https://u:p@h/a/m.onnx", "https://u:p@h/a"),
    ],
)
def test_folders(address: str, folder: str):
    assert folder_of(address) == folder


@pytest.mark.parametrize(
    ("location", "name"),
    [
        ("a/m?x.onnx", "m?x.onnx"),
        ("https://h/a/m.onnx?sig=SECRET/x", "m.onnx"),
        ("https://h/m.onnx;sig=SECRET", "m.onnx;sig=***"),
        ("https://h/m.onnx#SECRET", "m.onnx"),
        ("s3://b/a/m.onnx?versionId=1", "m.onnx"),
    ],
)
def test_file_names(location: str, name: str):
    assert file_name_of(location) == name


@pytest.mark.parametrize(
    ("address", "named"),
    [
        ("https://h/m.onnx?a=*", True),
        ("https://h/get?id=1", True),
        ("https://h/models/", False),
        ("s3://b/m.onnx", True),
        ("s3://b/m.onnx?versionId=1", True),
        ("s3://b/models", False),
        ("s3://b/m[1].onnx", True),
        ("hf://org/repo", False),
        ("hf://org/repo/m.onnx", True),
    ],
)
def test_addresses_of_objects(address: str, named: bool):
    assert names_object(address) == named


def test_nothing_of_remote_models_is_imported_for_a_local_one(tmp_path: Path):
    (tmp_path / "m.textproto").write_text(CLEAN)
    (tmp_path / "l").write_text("m.textproto\n")
    absent = ["onnx_lint.remote", "fsspec", "aiohttp", "asyncio", "ssl", "http.client", "urllib.request"]
    code = (
        "import atexit, sys\n"
        f"atexit.register(lambda: print(sorted(set({absent}) & set(sys.modules))))\n"
        "from onnx_lint.__main__ import main\n"
        "main()"
    )
    for arguments in (["m.textproto"], ["m.textproto", "-f", "json", "-q"], ["--files-from", "l"]):
        done = _run(code, arguments, tmp_path)
        assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "[]"), done.stderr


def _run(code: str, arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the code in a separate process, with the package from the checkout."""
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


@pytest.mark.parametrize("address", ["https://h/m.onnx", "s3://b/m.onnx", "gs://b/**/*.onnx", "hf://o/r"])
def test_without_the_extra_an_address_says_what_to_install(tmp_path: Path, address: str):
    """A separate process, in which none of the packages of the extra can be imported."""
    names = ("aiohttp", "aiobotocore", "botocore", "fsspec", "gcsfs", "huggingface_hub", "s3fs", "yarl")
    code = f"import sys\nsys.modules.update(dict.fromkeys({names}))\nfrom onnx_lint.__main__ import main\nmain()"
    done = _run(code, [address], tmp_path)
    wanted = f"{address}: remote models need further packages: pip install 'aiohttp>="
    assert (done.returncode, wanted in done.stderr, "Traceback" in done.stderr) == (2, True, False), done.stderr
