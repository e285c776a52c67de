# SPDX-License-Identifier: Apache-2.0
"""What the action, the container and a release install is named by hash, commit or digest."""

from __future__ import annotations

import itertools
import re
from importlib import metadata

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from support.project.checkout import ROOT
from support.project.each_case import each_case

from tools import lock

SCRIPTS = ("action.yml", "tools/release.sh", "Containerfile", ".github/workflows/release.yml")
WORKFLOWS = ("action.yml", ".github/workflows/ci.yml", ".github/workflows/release.yml")
PAGES = ("README.md", *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").glob("*.md"))))
OURS = ("./", "OWNER/onnx-lint@COMMIT")

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
SYSTEMS = (("linux", "posix", "Linux"), ("darwin", "posix", "Darwin"), ("win32", "nt", "Windows"))


def _environments() -> list[dict[str, str]]:
    found = []
    for version, (platform, name, system), machine in itertools.product(VERSIONS, SYSTEMS, ("x86_64", "arm64")):
        python = {"python_version": version, "python_full_version": f"{version}.1", "implementation_name": "cpython"}
        machine_of = {"sys_platform": platform, "os_name": name, "platform_system": system, "platform_machine": machine}
        found.append({**python, **machine_of, "platform_python_implementation": "CPython", "extra": ""})
    return found


def _text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def _entries(name: str) -> list[tuple[Requirement, list[str]]]:
    """Return the packages of a file of `tools/locked`, with their hashes."""
    lines = _text(f"tools/locked/{name}.txt").replace("\\\n", " ").splitlines()
    found = []
    for line in lines[1:]:
        requirement, *hashes = line.split("--hash=")
        found.append((Requirement(requirement), [each.strip() for each in hashes]))
    return found


def _versions(name: str, environment: dict[str, str]) -> dict[str, str]:
    """Return the version of each package that is installed in an environment."""
    applicable = [each for each, _ in _entries(name) if each.marker is None or each.marker.evaluate(environment)]
    versions = {canonicalize_name(each.name): str(each.specifier).removeprefix("==") for each in applicable}
    assert len(versions) == len(applicable), "a package is named twice"
    return versions


def _missing(requirements: list[str], versions: dict[str, str], environment: dict[str, str]) -> list[str]:
    """Return the requirements that the versions do not fulfil, those of the packages included, if they are here."""
    missing, seen, waiting = [], set(), [Requirement(each) for each in requirements]
    while waiting:
        each = waiting.pop()
        name = canonicalize_name(each.name)
        if each.marker is not None and not each.marker.evaluate(environment):
            continue
        if name not in versions or not each.specifier.contains(versions[name], prereleases=True):
            missing.append(str(each))
        if name not in seen:
            seen.add(name)
            waiting += _needs(name)
    return missing


def _needs(name: str) -> list[Requirement]:
    try:
        return [Requirement(each) for each in metadata.requires(name) or []]
    except metadata.PackageNotFoundError:  # a tool of the release that the tests do not need
        return []


@pytest.mark.parametrize("name", sorted(lock.wanted()))
def test_each_package_has_one_version_and_hashes(name: str):
    entries = _entries(name)
    assert entries != []
    for requirement, hashes in entries:
        assert re.fullmatch(r"==[0-9][0-9a-z.]*", str(requirement.specifier)), requirement
        assert hashes != []
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", each) for each in hashes), requirement
    assert "://" not in _text(f"tools/locked/{name}.txt"), "a registry is the user's choice"


@pytest.mark.parametrize("name", sorted(lock.wanted()))
def test_the_packages_are_those_of_the_project_on_each_platform(name: str):
    for environment in _environments():
        assert _missing(lock.wanted()[name], _versions(name, environment), environment) == [], environment


def test_a_missing_package_or_another_range_is_found():
    environment = _environments()[0]
    versions = _versions("run", environment)
    assert _missing(["numpy>=99", "hypothetical"], versions, environment) == ["hypothetical", "numpy>=99"]
    assert _missing(["rich"], {"rich": "1"}, environment) != [], "what a package needs is looked at as well"


def test_both_files_of_the_action_install_together():
    """pip refuses two versions of one package."""
    run, build = ({canonicalize_name(each.name) for each, _ in _entries(name)} for name in ("run", "build"))
    assert run & build == set()


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_installation_checks_hashes(name: str):
    text = _text(name).replace("\\\n", " ")
    commands = re.findall(r"""\bpip"? (?:--python \S+ )?(?:install|wheel|download) .*?(?=&&|\n)""", text)
    assert commands != []
    for command in commands:
        assert _is_checked(command), command


def _is_checked(command: str) -> bool:
    """Return whether pip compares hashes, or installs what is here: the project, or wheels that were compared."""
    if "--require-hashes" in command:
        return "--only-binary :all:" in command
    return "--no-index" in command or re.fullmatch(_OF_PROJECT, command) is not None


_OF_PROJECT = (
    r'pip"? (?:--python \S+ )?(?:install|wheel)(?: --quiet| --disable-pip-version-check| --no-cache-dir)*'
    r' --no-deps (?:"\$\w+"/\S*\*\.whl|--no-build-isolation (?:--wheel-dir \S+ )? *(?:\.|"\$GITHUB_ACTION_PATH")) *'
)


@pytest.mark.parametrize(
    "command",
    [
        "pip install --no-deps --no-build-isolation numpy",
        "pip install --no-deps --no-build-isolation . numpy",
        "pip install --no-deps --no-build-isolation numpy .",
        "pip install --no-deps numpy.whl",
        "pip install --no-deps https://example.org/a.whl",
        "pip install --no-deps .",
        "pip install --quiet numpy",
        "pip install --require-hashes -r a.txt",
    ],
)
def test_an_installation_without_hashes_is_found(command: str):
    assert not _is_checked(command)


@each_case("name", [*WORKFLOWS, *PAGES])
def test_actions_are_named_by_commit_and_images_by_digest(name: str):
    text = _text(name)
    for used in re.findall(r"^ *(?:- )?uses: (.*)", text, re.MULTILINE):
        assert used in OURS or re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", used), used
    for image in re.findall(r"^ *image: (.*)", text, re.MULTILINE):
        assert re.fullmatch(r"\S+@sha256:[0-9a-f]{64} # \d+\.\d+\.\d+", image), image


def test_the_container_is_based_on_a_digest():
    bases = re.findall(r"^FROM (\S+)", _text("Containerfile"), re.MULTILINE)
    assert len(bases) == 2
    assert len(set(bases)) == 1
    assert re.fullmatch(r"\S+@sha256:[0-9a-f]{64}", bases[0])


def test_one_action_has_one_commit():
    """A commit that was renewed in one place only would go unnoticed."""
    found = {
        used.rstrip()
        for name in (*WORKFLOWS, *PAGES)
        for used in re.findall(r"^ *(?:- )?uses: (\S+@[0-9a-f]{40})", _text(name), re.MULTILINE)
    }
    assert len(found) == len({used.partition("@")[0] for used in found})
