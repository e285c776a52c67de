// Loads Pyodide and onnx-lint, and runs `check.py` on files that stay where they are.

import { WHO, checkFile, fetched } from "./server.mjs";

const MOUNT = "/models";
const PACKAGES = "/packages";

const say = (words, part) => postMessage({ state: "loading", words, part, parts: 4 });

const PYODIDE = ["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json"];

const started = async () => {
  const { loadPyodide } = await import("./pyodide/pyodide.mjs");
  return loadPyodide({ indexURL: new URL("./pyodide/", import.meta.url).href });
};

// Pyodide waits without end for WebAssembly that it cannot load. It only prints two warnings, of which the second is the
// error. Returns a promise that this error rejects.
const failureOfWebAssembly = () => new Promise((_, reject) => {
  const warn = console.warn;
  let isNext = false;
  console.warn = (...said) => {
    if (isNext) reject(said[0]);
    isNext = /wasm instantiation failed/.test(said[0]);
    warn(...said);
  };
});

const loadPython = async () => {
  try {
    return await Promise.race([started(), failureOfWebAssembly()]);
  } catch (error) {
    await Promise.all(PYODIDE.map((name) => checkFile(`pyodide/${name}`)));
    throw new Error(whyPythonFails(String(error.message || error)));
  }
};

const whyPythonFails = (words) => {
  if (/Content Security Policy|unsafe-eval|disallowed by embedder/i.test(words)) {
    return "The server sends worker.mjs with a Content-Security-Policy that forbids WebAssembly: its script-src has no"
      + ` 'wasm-unsafe-eval'. ${WHO}`;
  }
  if (/CompileError|WebAssembly\.\w+\(\)/.test(words)) {
    return `pyodide/pyodide.asm.wasm is damaged, or this browser is too old for it. ${WHO}\n\n${words}`;
  }
  return `Python cannot start in this browser: ${words}`;
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

// Throws NotReadableError if a file has changed or gone since it was chosen. Within Python, that would be fatal.
const readBeginnings = (files) => {
  const reader = new FileReaderSync();
  for (const { file } of files) reader.readAsArrayBuffer(file.slice(0, 1));
};

const run = ({ python, check }, { call, files, settings }) => {
  readBeginnings(files);
  mount(python, files);
  let isUsable = true;
  try {
    const asked = JSON.stringify({ paths: files.map(({ path }) => path), settings });
    const done = JSON.parse(check[call](asked, (count) => postMessage({ progress: { count } })));
    for (const each of done.files) {
      each.bytes = python.FS.readFile(each.at);
      python.FS.unlink(each.at);
    }
    return done;
  } catch (error) {
    isUsable = !isFatal(error);
    throw error;
  } finally {
    if (isUsable) python.FS.unmount(MOUNT); // otherwise this would throw another error, which says less
  }
};

// After this Python cannot go on: memory has run out, a file has changed while it was read, or WebAssembly has failed.
const isFatal = (error) => error.pyodide_fatal_error || error instanceof WebAssembly.RuntimeError
  || error instanceof RangeError || error.name === "FatalPyodideError" || /fatally failed/.test(error.message);

const inWords = (error) => {
  const text = String(error.message || error).trim();
  const last = text.split("\n").at(-1);
  if (/NotReadableError|NotFoundError|could not be (read|found)/.test(`${error.name} ${text}`)) {
    return "A file has changed since it was chosen, or it is gone. Choose it again.";
  }
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
