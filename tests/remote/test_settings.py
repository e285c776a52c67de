# SPDX-License-Identifier: Apache-2.0
"""Settings of the environment that make no sense are reported by name, in a run of the program, and never shown."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.servers.remote_models import ENVIRONMENT

pytestmark = pytest.mark.remote

WEB = "https://127.0.0.1:1/m.onnx"
S3 = "s3://bucket/m.onnx"
GCS = "gs://bucket/m.onnx"
HUB = "hf://org/repo/m.onnx"
HIDDEN = "hidden-secret"

NOT_VALID = "the address, or a setting of its store in the environment, is not valid"


def _run(folder: Path, address: str, **variables: str) -> str:
    """Return what a run that fails as it should says of an address, on standard error."""
    environment = {name: value for name, value in os.environ.items() if name not in ENVIRONMENT}
    environment |= {"HOME": str(folder), "AWS_EC2_METADATA_DISABLED": "true", "NO_GCE_CHECK": "true", **variables}
    command = [sys.executable, "-m", "onnx_lint", address]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    assert HIDDEN not in done.stderr + done.stdout
    return done.stderr


@pytest.mark.parametrize(
    ("address", "name", "value", "said"),
    [
        (WEB, "FSSPEC_HTTP", "[" * 100_000, "the configuration of fsspec cannot be read: a variable"),
        (WEB, "FSSPEC_HTTP", f'{{"client_kwargs": "{HIDDEN}"}}', NOT_VALID),
        (WEB, "FSSPEC_HTTP", '{"client_kwargs": {"headers": 3}}', NOT_VALID),
        (S3, "FSSPEC_S3", f'{{"anon": true, "nonsense": "{HIDDEN}"}}', NOT_VALID),
        (S3, "FSSPEC_S3", f'{{"endpoint_url": "{HIDDEN}"}}', NOT_VALID),
        (S3, "AWS_ENDPOINT_URL", f"http://[{HIDDEN}", NOT_VALID),
        (S3, "AWS_PROFILE", HIDDEN, "the AWS configuration has no profile with the name in AWS_PROFILE"),
        (HUB, "HF_ENDPOINT", HIDDEN, NOT_VALID),
        (WEB, "HTTPS_PROXY", HIDDEN, NOT_VALID),
        (WEB, "HTTPS_PROXY", "http://[::1", NOT_VALID),
    ],
)
def test_a_variable_that_makes_no_sense(tmp_path: Path, address: str, name: str, value: str, said: str):
    assert f"{address}: {said}" in _run(tmp_path, address, **{name: value})


@pytest.mark.parametrize("content", ["{", "[3]", '{"http": 3}', "null"])
def test_a_file_that_makes_no_sense(tmp_path: Path, content: str):
    (tmp_path / "x.json").write_text(content)
    said = _run(tmp_path, WEB, FSSPEC_CONFIG_DIR=str(tmp_path))
    assert f"{WEB}: the configuration of fsspec cannot be read: a variable whose name begins with FSSPEC_" in said


def test_what_a_file_system_says_while_it_is_made_is_not_shown(tmp_path: Path):
    """The file system of Google's store asks a server about the token, and prints its request."""
    said = _run(tmp_path, GCS, FSSPEC_GCS=f'{{"token": "{HIDDEN}"}}', HTTPS_PROXY="http://127.0.0.1:1")
    assert f"{GCS}: " in said


def test_a_setting_that_plays_no_part_is_not_blamed(tmp_path: Path):
    """An invalid proxy affects only requests that use it."""
    said = _run(tmp_path, WEB, HTTPS_PROXY=HIDDEN, NO_PROXY="127.0.0.1")
    assert f"{WEB}: the host refused the connection" in said
