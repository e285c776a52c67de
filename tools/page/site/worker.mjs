// Loads Pyodide and onnx-lint, and runs `check.py` on files that stay where they are.

import { checkFile, fetched } from "./server.mjs";

const MOUNT = "/models";
const PACKAGES = "/packages";

const say = (words, part) => postMessage({ state: "loading", words, part, parts: 4 });

const PYODIDE = ["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json"];

const started = async () => {
  const { loadPyodide } = await import("./pyodide/pyodide.mjs");
  return loadPyodide({ indexURL: new URL("./pyodide/", import.meta.url).href });
};

// Pyodide waits without end for WebAssembly that it cannot load, so the files are checked beside that.
const loadPython = async () => {
  const checked = Promise.all(PYODIDE.map((name) => checkFile(`pyodide/${name}`)));
  const python = started().catch(async (error) => {
    await checked;
    throw new Error(`Python cannot start in this browser: ${error.message || error}`);
  });
  return (await Promise.all([python, checked]))[0];
};

// Pyodide only prints that a package cannot be loaded.
const loadNumpy = async (python) => {
  try {
    await python.loadPackage("numpy", { messageCallback: () => {} });
    python.runPython("import numpy");
    return true;
  } catch {
    return false;
  }
};

const load = async () => {
  const began = performance.now();
  say("Loading Python and onnx-lint, 17 MB. The browser keeps them for the next time.", 0);
  const built = await (await fetched("built.json")).json();
  const wheels = Promise.all(built.wheels.map(async (name) => (await fetched(`python/${name}`)).arrayBuffer()));
  const program = fetched("check.py").then((answer) => answer.text());
  wheels.catch(() => {}); // both are reported below, when they are awaited
  program.catch(() => {});
  const python = await loadPython();
  say("Unpacking onnx-lint.", 1);
  for (const wheel of await wheels) python.unpackArchive(wheel, "wheel", { extractDir: PACKAGES });
  if (built.has_numpy) say("Loading numpy.", 2);
  const hasNumpy = built.has_numpy && await loadNumpy(python);
  say("Starting onnx-lint.", 3);
  python.FS.writeFile(`${PACKAGES}/check.py`, await program);
  python.runPython(`import sys; sys.path.insert(0, "${PACKAGES}")`);
  const check = python.pyimport("check");
  check.prepare();
  postMessage({ state: "ready", seconds: (performance.now() - began) / 1000, hasNumpy });
  return { python, check };
};

const mount = (python, files) => {
  python.FS.mkdirTree(MOUNT);
  const blobs = files.map(({ path, file }) => ({ name: path, data: file }));
  python.FS.mount(python.FS.filesystems.WORKERFS, { blobs }, MOUNT);
};

const run = ({ python, check }, { call, files, settings }) => {
  mount(python, files);
  try {
    const asked = JSON.stringify({ paths: files.map(({ path }) => path), settings });
    const done = JSON.parse(check[call](asked, (count) => postMessage({ progress: { count } })));
    for (const each of done.files) {
      each.bytes = python.FS.readFile(each.at);
      python.FS.unlink(each.at);
    }
    return done;
  } finally {
    python.FS.unmount(MOUNT);
  }
};

// After this Python cannot go on: memory has run out, or WebAssembly has failed.
const isFatal = (error) => error.pyodide_fatal_error || error instanceof WebAssembly.RuntimeError
  || error instanceof RangeError || error.name === "FatalPyodideError";

const inWords = (error) => {
  const text = String(error.message || error).trim();
  const last = text.split("\n").at(-1);
  if (/MemoryError|out of memory|memory access|allocation failed/i.test(text)) {
    return "The memory of this page is not enough for these files. The installed onnx-lint can use all of the computer's.";
  }
  if (/call stack/i.test(text)) return "This model is nested more deeply than the browser can follow.";
  return `onnx-lint could not finish: ${last}`;
};

const loaded = load();
loaded.catch((error) => postMessage({ state: "broken", words: error.message }));

onmessage = async ({ data }) => {
  let ready;
  try {
    ready = await loaded;
  } catch (error) {
    postMessage({ failed: error.message });
    return;
  }
  try {
    const done = run(ready, data);
    postMessage({ done }, done.files.map((each) => each.bytes.buffer));
  } catch (error) {
    postMessage({ [isFatal(error) ? "fatal" : "failed"]: inWords(error) });
  }
};
