"use strict";
(() => {
  const pictures = JSON.parse(document.getElementById("pictures").textContent);
  const findings = [...document.querySelectorAll("details.finding")];
  const groups = [...document.querySelectorAll("section.file")];
  const form = document.getElementById("filter");
  const files = document.getElementById("files");
  const grouped = (number) => number.toLocaleString("en");

  // --- the filter: in the form and in the address, which `#severity=error&rule=cycle` sets

  const NAMES = ["text", "severity", "rule", "file"];
  const texts = findings.map((each) => `${each.parentElement.dataset.file} ${each.textContent}`.toLowerCase());
  let wanted = {};
  const fits = (text, words) => words.every((word) => text.includes(word));
  const apply = () => {
    const words = (wanted.text || "").toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    findings.forEach((each, index) => {
      const { severity, rule } = each.dataset;
      const shown = !wanted.files && (!wanted.severity || severity === wanted.severity)
        && (!wanted.rule || rule === wanted.rule)
        && (!wanted.file || each.parentElement.dataset.file === wanted.file) && fits(texts[index], words);
      each.hidden = !shown;
      count += shown;
    });
    for (const each of groups) each.hidden = !each.querySelector("details.finding:not([hidden])");
    const shown = document.getElementById("shown");
    if (shown) shown.textContent = `${grouped(count)} of ${grouped(findings.length)} findings shown`;
    if (files) listFiles(words);
  };
  const fromAddress = () => {
    const asked = new URLSearchParams(location.hash.slice(1));
    if (location.hash.length > 1 && !location.hash.includes("=")) return; // a place on the page
    wanted = Object.fromEntries(asked);
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
    form.hidden = false;
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

  // --- the list of files: its entries are made when it is open, a few hundred at a time

  const AT_ONCE = 300;
  const states = files ? JSON.parse(document.getElementById("states").textContent) : { texts: [], files: [] };
  const lower = states.texts.map((text) => text.toLowerCase());
  let fitting = [];
  let listed = 0;
  const listMore = () => {
    const entries = fitting.slice(listed, listed + AT_ONCE).map(([path, , lines]) => {
      const entry = document.createElement("li");
      entry.append(Object.assign(document.createElement("code"), { textContent: path }));
      for (const line of lines) entry.append(" ", Object.assign(document.createElement("span"), { textContent: states.texts[line] }));
      return entry;
    });
    document.getElementById("list").append(...entries);
    listed += entries.length;
    more.hidden = listed >= fitting.length;
    more.textContent = `Show ${grouped(Math.min(AT_ONCE, fitting.length - listed))} more`;
  };
  const more = Object.assign(document.createElement("button"), { type: "button", hidden: true });
  more.addEventListener("click", listMore);
  const listFiles = (words) => {
    const has = wanted.rule ? new Set(groups.filter((each) => !each.hidden).map((each) => each.dataset.file)) : null;
    const part = (wanted.files || "").toLowerCase();
    fitting = states.files.filter(([path, worst, lines]) => (!wanted.file || path === wanted.file)
      && (!wanted.severity || worst === wanted.severity || (wanted.severity === "internal error"
        && lines.some((line) => lower[line].startsWith("internal error"))))
      && (!has || has.has(path)) && (!part || lines.some((line) => lower[line].startsWith(part)))
      && (!words.length || fits(`${path.toLowerCase()} ${lines.map((line) => lower[line]).join(" ")}`, words)));
    document.getElementById("listed").textContent = `${grouped(fitting.length)} of ${grouped(states.files.length)} files`;
    document.getElementById("list").replaceChildren();
    listed = 0;
    if (files.open) listMore();
  };
  if (files) {
    document.getElementById("others")?.remove();
    files.append(more);
    files.addEventListener("toggle", () => { if (files.open && !listed) listMore(); });
  }

  const drawIn = (finding) => {
    for (const mark of finding.querySelectorAll("pre mark")) {
      const code = mark.closest("pre");
      code.scrollLeft = mark.offsetLeft + mark.offsetWidth - code.clientWidth + 24;
    }
    for (const holder of finding.querySelectorAll(".picture:empty")) drawPicture(holder, pictures[holder.dataset.picture]);
  };
  for (const finding of findings) {
    finding.addEventListener("toggle", () => { if (finding.open) drawIn(finding); });
    if (finding.open) drawIn(finding);
  }
  // --- copy commands

  for (const button of navigator.clipboard ? document.querySelectorAll("button.copy") : []) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.previousElementSibling.textContent);
      button.textContent = "Copied";
    });
  }

  apply();
  fromAddress();

  let closed = [];
  addEventListener("beforeprint", () => {
    closed = findings.filter((each) => !each.hidden && !each.open);
    for (const each of closed) { each.open = true; drawIn(each); }
  });
  addEventListener("afterprint", () => { for (const each of closed) each.open = false; });
})();
