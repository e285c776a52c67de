// The page: takes files and settings, has them checked, and shows what comes back.

import { Checker, Stopped } from "./checker.mjs";
import { chosenFiles, droppedFiles, exampleFiles, firstTwice, sizeInWords } from "./files.mjs";
import { copyMarkdown, hideResult, showFixed, showResult } from "./result.mjs";
import { fetched } from "./server.mjs";

const at = (id) => document.getElementById(id);
const form = document.getElementById("choices");

let built; // built.json
let checker;
let files = []; // what was checked last, or is being checked
let isReady = false; // whether Python is loaded
let isRunning = false;

const say = (words) => { at("state").textContent = words; };

const showProblem = (words) => {
  at("problem").textContent = words;
  at("problem").hidden = !words;
};

const showProgress = (value, most) => {
  const bar = at("progress");
  bar.hidden = false;
  bar.max = most || 1;
  if (value === null) bar.removeAttribute("value");
  else bar.value = value;
};

// --- settings

const settings = () => ({
  edition: form.elements.edition.value,
  target: form.elements.target.value.trim(),
  select: form.elements.select.value.trim(),
  pedantic: form.elements.pedantic.checked,
});

const showSettings = () => {
  const { edition, target, select, pedantic } = settings();
  const words = [`ONNX ${edition}`, target ? `target ${target}` : "no target", select ? `rules ${select}` : "all rules"];
  at("settings-summary").textContent = [...words, ...(pedantic ? ["pedantic"] : [])].join(", ");
};

const fillSettings = () => {
  const options = (names) => names.map((name) => new Option(name, name));
  form.elements.edition.append(...options([...built.editions].reverse()));
  at("targets").append(...options(built.targets));
  form.addEventListener("input", () => {
    showSettings();
    at("again").hidden = !files.length || isRunning;
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (files.length) check(files);
  });
  showSettings();
};

// --- the worker

const onState = ({ state, words, part, parts, seconds, hasNumpy }) => {
  isReady = state === "ready";
  if (state === "loading") {
    if (!isRunning) say(words);
    showProgress(part || null, parts); // most of the time goes into the first part: then the bar moves
  } else if (state === "ready") {
    if (isRunning) {
      showProgress(null);
    } else {
      at("progress").hidden = true;
      say(`Ready after ${seconds.toFixed(1)} seconds.`);
    }
    showBuilt(hasNumpy);
  } else {
    at("progress").hidden = true;
    say("onnx-lint has not started.");
    showProblem(words);
  }
  document.documentElement.dataset.state = state;
};

const setRunning = (running) => {
  isRunning = running;
  for (const button of document.querySelectorAll("#choose button, #fix, #unsafe")) button.disabled = running;
  at("stop").hidden = !running;
  at("progress").hidden = !running && isReady;
};

// Runs one call of the worker, and shows its progress. Returns what it answers; undefined if it failed or was stopped.
const asked = async (what, call) => {
  const started = performance.now();
  const seconds = () => (performance.now() - started) / 1000;
  const bytes = files.reduce((sum, { file }) => sum + file.size, 0);
  let count = 0;
  const show = () => {
    const soFar = count ? `, ${count} done` : "";
    say(`${isReady ? what : `Loading Python, then ${what.toLowerCase()}`} ${files.length === 1 ? files[0].path : `${files.length} files`} (${sizeInWords(bytes)})${soFar}`
      + `, ${Math.round(seconds())} s.`);
  };
  setRunning(true);
  showProblem("");
  if (isReady) showProgress(null);
  at("again").hidden = true;
  show();
  const timer = setInterval(show, 1000);
  try {
    const done = await call((progress) => { count = progress.count; show(); });
    say(done.files.length ? `Done in ${seconds().toFixed(1)} seconds.` : "Not checked.");
    return done;
  } catch (error) {
    say(error instanceof Stopped ? "Stopped. Python is loading again." : "Not checked.");
    if (!(error instanceof Stopped)) showProblem(error.message);
    at("again").hidden = false;
    at("again").focus();
    return undefined;
  } finally {
    clearInterval(timer);
    setRunning(false);
  }
};

const check = async (chosen) => {
  if (isRunning) return;
  if (!chosen.length) {
    showProblem("There is no file in what was chosen.");
    return;
  }
  const twice = firstTwice(chosen.map(({ path }) => path));
  if (twice !== undefined) {
    showProblem(`Two of the files are named ${twice}. Choose them one after the other, or a folder that has both in`
      + " folders of their own.");
    return;
  }
  files = chosen;
  hideResult();
  const done = await asked("Checking", (onProgress) => checker.check(files, settings(), onProgress));
  if (!done) return;
  if (done.summary) showResult(done);
  if (done.code > 1) showProblem(done.said || "onnx-lint wrote no report.");
  document.documentElement.dataset.done = String(Number(document.documentElement.dataset.done || 0) + 1);
};

const fix = async () => {
  if (isRunning) return;
  const wanted = { ...settings(), unsafe: at("unsafe").checked };
  const done = await asked("Fixing", (onProgress) => checker.fix(files, wanted, onProgress));
  if (done) showFixed(done);
};

// --- choosing files

const take = async (promise) => {
  if (isRunning) return;
  try {
    await check(await promise);
  } catch (error) {
    showProblem(`The files cannot be read: ${error.message}`);
  }
};

const listen = () => {
  for (const kind of ["files", "folder"]) {
    const input = at(`${kind}-input`);
    at(kind).addEventListener("click", () => input.click());
    input.addEventListener("change", () => {
      const chosen = chosenFiles(input);
      input.value = ""; // so that the same file can be chosen again after it has changed
      if (chosen.length) take(chosen);
    });
  }
  addEventListener("dragover", (event) => {
    event.preventDefault(); // without this the browser opens the file
    at("drop").classList.add("over");
  });
  addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) at("drop").classList.remove("over");
  });
  addEventListener("drop", (event) => {
    event.preventDefault();
    at("drop").classList.remove("over");
    take(droppedFiles(event.dataTransfer));
  });
  at("examples").append(...built.examples.map(({ title, files: names }) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = title;
    button.addEventListener("click", () => take(exampleFiles(names)));
    return button;
  }));
  at("stop").addEventListener("click", () => checker.stop());
  at("copy").addEventListener("click", copyMarkdown);
  at("fix").addEventListener("click", fix);
  at("unsafe").addEventListener("change", () => { if (!at("fixed").hidden) fix(); });
};

const showBuilt = (hasNumpy) => {
  const commit = built.commit ? `, commit ${built.commit.slice(0, 12)}${built.commit.endsWith("+") ? "+" : ""}` : "";
  const lacking = built.has_numpy ? "without numpy, which cannot be loaded" : "without numpy";
  const numpy = hasNumpy ? "with numpy" : `${lacking}: what needs it is listed as not verified`;
  at("built").textContent = `onnx-lint ${built.onnx_lint}${commit}, in Python ${built.python} `
    + `(Pyodide ${built.pyodide}), ${numpy}.`;
};

export const start = async () => {
  built = await (await fetched("built.json")).json();
  showBuilt(built.has_numpy);
  fillSettings();
  listen();
  checker = new Checker(onState);
};
