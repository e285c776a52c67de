"use strict";
(async () => {
  const form = document.getElementById("filter");
  const files = document.getElementById("files");
  const grouped = (number) => number.toLocaleString("en");
  const create = (name, properties, ...children) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  };

  // --- the data of the page: JSON, compressed in its own elements, and unpacked when it is needed

  const unpacked = async (element) => {
    const bytes = Uint8Array.from(atob(element.textContent), (each) => each.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  };
  const packed = document.getElementById("data");
  const data = packed ? await unpacked(packed) : { perPart: 1, rules: [], findings: [], texts: [], files: [] };
  const parts = [...document.querySelectorAll("script.part")].map((element) => ({ element, bodies: null }));
  const bodiesOf = async (part) => {
    part.bodies ??= await unpacked(part.element);
  };

  // --- the findings: the first are in the document, the others are made when they are shown

  const entries = [...document.querySelectorAll("details.finding")].map((element) => ({
    element, file: element.parentElement.dataset.file, severity: element.dataset.severity, rule: element.dataset.rule,
    text: null, summary: null,
  }));
  for (const [file, severity, rule, summary] of data.findings) {
    entries.push({ element: null, file: data.files[file][0], severity, rule: data.rules[rule], text: null, summary });
  }
  entries.forEach((entry, number) => {
    entry.part = parts[Math.floor(number / data.perPart)];
    entry.place = number % data.perPart;
    if (entry.element) entry.element.entry = entry;
  });
  const LETTERS = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#x27;": "'", "&amp;": "&" };
  const textOf = (entry) => {
    entry.text ??= `${entry.file} ${entry.summary === null ? entry.element.firstElementChild.textContent
      : entry.summary.replace(/<[^>]*>/g, " ").replace(/&[#\w]+;/g, (each) => LETTERS[each] ?? each)}`.toLowerCase();
    return entry.text;
  };
  const elementOf = (entry) => {
    if (!entry.element) {
      const summary = document.createElement("summary");
      summary.innerHTML = entry.summary; // made by onnx-lint like the rest of the page, with every name escaped
      entry.element = create("details", { className: "finding", entry }, summary);
      Object.assign(entry.element.dataset, { severity: entry.severity, rule: entry.rule });
    }
    return entry.element;
  };
  let pictures = 0;
  const fill = (entry) => {
    const [body, picture] = entry.part.bodies[entry.place];
    if (entry.element.childElementCount < 2) entry.element.append(create("div", { innerHTML: body }));
    const holder = entry.element.querySelector(".picture:empty");
    if (holder && picture) {
      holder.dataset.picture = pictures++;
      drawPicture(holder, picture);
    }
    for (const button of navigator.clipboard ? entry.element.querySelectorAll("button.copy[hidden]") : []) {
      button.hidden = false;
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(button.previousElementSibling.textContent);
        button.textContent = "Copied";
      });
    }
  };
  const open = async ({ entry }) => {
    if (!entry.part) return;
    await bodiesOf(entry.part);
    fill(entry);
  };
  document.addEventListener("toggle", (event) => {
    if (event.target.entry && event.target.open) open(event.target);
  }, true);

  // --- lists that grow by a button

  const growing = (atOnce, button, add) => {
    let items = [];
    let listed = 0;
    const grow = () => {
      add(items.slice(listed, listed + atOnce));
      listed = Math.min(listed + atOnce, items.length);
      button.hidden = listed >= items.length;
      button.textContent = `Show ${grouped(Math.min(atOnce, items.length - listed))} more`;
    };
    button.addEventListener("click", grow);
    return { grow, set: (found) => { items = found; listed = 0; button.hidden = true; }, isEmpty: () => listed === 0 };
  };

  const LEVELS = ["error", "warning", "note"];
  const counts = new Map();
  for (const { file, severity } of entries) {
    if (!counts.has(file)) counts.set(file, {});
    counts.get(file)[severity] = (counts.get(file)[severity] ?? 0) + 1;
  }
  const said = (count) => LEVELS.filter((level) => count[level])
    .map((level) => `${grouped(count[level])} ${level}${count[level] > 1 ? "s" : ""}`).join(", ");
  const sections = document.getElementById("findings");
  const addFindings = (found) => {
    for (const entry of found) {
      if (sections.lastElementChild?.dataset.file !== entry.file) {
        const count = create("span", { className: "faint" }, said(counts.get(entry.file)));
        const heading = create("h3", {}, create("code", {}, entry.file), count);
        const section = create("section", { className: "file" }, heading);
        section.dataset.file = entry.file;
        sections.append(section);
      }
      sections.lastElementChild.append(elementOf(entry));
    }
  };
  const moreFindings = create("button", { type: "button", hidden: true });
  const findingList = growing(200, moreFindings, addFindings);
  if (sections) sections.after(moreFindings);

  const addFiles = (found) => document.getElementById("list").append(...found.map(([path, , lines]) => {
    const texts = lines.map((line) => create("span", {}, data.texts[line]));
    return create("li", {}, create("code", {}, path), " ", ...texts.flatMap((each, at) => at ? [create("br"), each] : [each]));
  }));
  const moreFiles = create("button", { type: "button", hidden: true });
  const fileList = growing(300, moreFiles, addFiles);
  if (files) {
    document.getElementById("others")?.remove();
    files.append(moreFiles);
    files.addEventListener("toggle", () => { if (files.open && fileList.isEmpty()) fileList.grow(); });
  }

  // --- the filter: in the form and in the address, which `#severity=error&rule=cycle` sets

  const NAMES = ["text", "severity", "rule", "file"];
  const lower = data.texts.map((text) => text.toLowerCase());
  const paths = new Set(data.files.map(([path]) => path));
  let wanted = {};
  const fits = (text, words) => words.every((word) => text.includes(word));
  const apply = () => {
    const words = (wanted.text || "").toLowerCase().split(/\s+/).filter(Boolean);
    const { severity, rule, file, files: state } = wanted;
    const isOf = !file ? () => true : paths.has(file) ? (path) => path === file : (path) => path.includes(file);
    const found = state ? [] : entries.filter((each) => (!severity || each.severity === severity)
      && (!rule || each.rule === rule) && isOf(each.file) && (!words.length || fits(textOf(each), words)));
    if (sections) {
      sections.replaceChildren();
      findingList.set(found);
      findingList.grow();
    }
    if (entries.length) {
      document.getElementById("shown").textContent = `${grouped(found.length)} of ${grouped(entries.length)} findings`;
    }
    if (files) {
      const has = rule ? new Set(found.map((each) => each.file)) : null;
      const part = (state || "").toLowerCase();
      const listed = data.files.filter(([path, worst, lines]) => isOf(path)
        && (!severity || worst === severity)
        && (!has || has.has(path)) && (!part || lines.some((line) => lower[line].startsWith(part)))
        && (!words.length || fits(`${path.toLowerCase()} ${lines.map((line) => lower[line]).join(" ")}`, words)));
      document.getElementById("listed").textContent = data.files.length < 2 ? "" : `${grouped(listed.length)} of ${grouped(data.files.length)} files`;
      document.getElementById("list").replaceChildren();
      fileList.set(listed);
      if (files.open) fileList.grow();
    }
  };
  const fromAddress = () => {
    if (location.hash.length > 1 && !location.hash.includes("=")) return; // a place on the page
    wanted = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
    if (form) for (const name of NAMES) form.elements[name].value = wanted[name] || "";
    if (files && wanted.files) files.open = true;
    apply();
    if (wanted.files) files.scrollIntoView();
    else if (location.hash.length > 1 && form) form.scrollIntoView();
  };
  const toAddress = () => {
    wanted = Object.fromEntries([...new FormData(form)].filter(([, value]) => value));
    history.replaceState(null, "", `#${new URLSearchParams(wanted)}`);
    apply();
  };
  if (form) {
    form.hidden = entries.length + data.files.length < 3; // one finding in one file needs no filter
    form.addEventListener("input", toAddress);
    form.addEventListener("reset", () => setTimeout(toAddress));
    form.addEventListener("submit", (event) => event.preventDefault());
    document.addEventListener("keydown", (event) => {
      const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
      if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        form.elements.text.focus();
      }
    });
  }
  addEventListener("hashchange", fromAddress);
  apply();
  fromAddress();

  // The bodies of the first findings are there before they are opened, for paper too, which cannot wait.
  const first = entries.filter((each) => each.element && each.part);
  for (const part of new Set(first.map((each) => each.part))) await bodiesOf(part);
  for (const entry of first) if (entry.element.open) fill(entry);

  let closed = [];
  addEventListener("beforeprint", () => {
    closed = sections ? [...sections.querySelectorAll("details.finding:not([open])")] : [];
    for (const each of closed) {
      each.open = true;
      if (each.entry.part?.bodies) fill(each.entry);
    }
  });
  addEventListener("afterprint", () => { for (const each of closed) each.open = false; });
  document.documentElement.dataset.ready = "";
})();
