// Runs pytest in WebAssembly under Node: node run_pytest.mjs PAGE WHEELS ARGUMENTS...
//
// PAGE is a built page (python -m tools.page), whose Pyodide and wheels are taken; WHEELS is a folder with those of pytest.
// The tests run from the checkout. There is no numpy, no onnx, and no process can be started.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const [page, wheels, ...rest] = process.argv.slice(2);
const root = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");

const parts = resolve(page, readdirSync(page).find((name) => existsSync(join(page, name, "built.json"))));
const folder = join(parts, "pyodide");
const { loadPyodide } = await import(pathToFileURL(join(folder, "pyodide.mjs")));
const python = await loadPyodide({ indexURL: `${folder}/`, env: { PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION: "python" } });
for (const each of [join(parts, "python"), wheels]) {
  for (const name of readdirSync(each).filter((one) => one.endsWith(".whl") && !one.startsWith("onnx_lint"))) {
    python.unpackArchive(new Uint8Array(readFileSync(join(each, name))), "wheel", { extractDir: "/packages" });
  }
}
python.FS.mkdirTree("/checkout");
python.FS.mount(python.FS.filesystems.NODEFS, { root }, "/checkout");
python.globals.set("arguments", python.toPy(rest));
process.exitCode = python.runPython(`
import os, sys
sys.path[:0] = ["/checkout/tests", "/checkout", "/packages"]
sys.dont_write_bytecode = True
os.chdir("/checkout")
import pytest
int(pytest.main(["-p", "no:cacheprovider", "-p", "onnx_lint.pytest_plugin", "-p", "support.webassembly.possible_here", "--capture=sys", "-o", "faulthandler_timeout=0", *arguments]))
`);
process.exit();
