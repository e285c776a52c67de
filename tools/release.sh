#!/usr/bin/env bash
# Makes what a release consists of: tools/release.sh FOLDER
#
# FOLDER, which must not exist, gets the sdist, the wheel built from it, a zipapp, a software bill of materials and
# SHA256SUMS. Everything is built twice from the commit that is checked out, and the script fails if a byte differs.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
[ ! -e "$1" ] || { echo "$0: '$1' exists" >&2; exit 2; }
here=$(cd "$(dirname "$0")/.." && pwd)
[ -z "$(git -C "$here" status --porcelain)" ] || echo "$0: uncommitted changes are not in the release" >&2
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

SOURCE_DATE_EPOCH=$(git -C "$here" log -1 --format=%ct)
export SOURCE_DATE_EPOCH PYTHONHASHSEED=0 TZ=UTC LC_ALL=C.UTF-8
umask 022
locked=$here/tools/locked # what `python -m tools.lock` wrote: versions and hashes
"$python" -m venv "$work/tools"
tools=$work/tools/bin
"$tools/pip" install --quiet --only-binary :all: --require-hashes -r "$locked/release.txt"

build_once() { # number of the build
  local source=$work/source$1 out=$work/out$1 content=$work/content$1
  git clone --quiet "$here" "$source"
  "$tools/python" -m build --no-isolation --outdir "$out" "$source" >"$work/log$1" 2>&1 || { cat "$work/log$1" >&2; exit 1; }
  "$tools/python" -m zipfile -e "$out"/*.whl "$content"
  rm -r "$content"/*.dist-info
  printf 'import onnx_lint.__main__\nonnx_lint.__main__.command()\n' >"$content/__main__.py"
  # The zip format keeps times; all are that of the commit.
  find "$content" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
  "$tools/python" -m zipapp --compress --python "/usr/bin/env python3" --output "$out/onnx-lint.pyz" "$content"
}

build_once 1
build_once 2
diff --recursive --brief "$work/out1" "$work/out2" || { echo "$0: two builds of one commit differ" >&2; exit 1; }

# The bill of materials names the versions of tools/locked, with which this commit was tried.
"$python" -m venv --without-pip "$work/installed"
"$tools/pip" --python "$work/installed" install --quiet --only-binary :all: --require-hashes -r "$locked/run.txt"
"$tools/pip" --python "$work/installed" install --quiet --no-deps "$work"/out1/*.whl
"$tools/cyclonedx-py" environment --output-reproducible --of JSON -o "$work/out1/sbom.cdx.json" "$work/installed"
sed -i "s|file://$work/out1/||" "$work/out1/sbom.cdx.json" # a path of this machine
(cd "$work/out1" && sha256sum -- * >"$work/SHA256SUMS" && mv "$work/SHA256SUMS" .)
mkdir -p "$(dirname "$1")"
mv "$work/out1" "$1"
ls -l "$1"
