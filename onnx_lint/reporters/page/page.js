"use strict";
// Filters the findings, files, rules and tables of the page: by the form, and by the address, such as `#severity=error&rule=cycle`.
(() => {
  const NAMES = ["text", "severity", "rule", "file"];
  const form = document.getElementById("filter");
  const findings = [...document.querySelectorAll("details.finding")];
  const groups = [...document.querySelectorAll("section.file")];
  const files = [...document.querySelectorAll("#files li")];
  const rulesInTables = [...document.querySelectorAll("tr[data-about]")];
  const rulesBelow = [...document.querySelectorAll(".rule")];
  const rows = [...document.querySelectorAll(".numbers tr:not([data-about], :first-child)")];
  const parts = [...document.querySelectorAll(".table, main > section:has(> .rule)")];
  const texts = new Map();
  const textOf = (element, file) => {
    if (!texts.has(element)) {
      const own = element.matches(".finding") ? [...element.querySelectorAll(":scope > :is(summary, div)")] : [element];
      texts.set(element, `${file} ${own.map((each) => each.textContent).join(" ")}`.toLowerCase());
    }
    return texts.get(element);
  };
  const showRules = (elements, shown) => {
    const found = new Set(shown.flatMap((each) => each.dataset.rule.split(" ")));
    const isAll = shown.length === findings.length; // also of rules whose findings are left out of the page
    for (const each of elements) each.hidden = !isAll && !found.has(each.dataset.about);
  };
  const show = ({ text, severity, rule, file }) => {
    const words = (text || "").toLowerCase().split(/\s+/).filter(Boolean);
    const has = (element, path) => words.every((word) => textOf(element, path).includes(word));
    const fits = (element, path) => (!file || path.includes(file)) && has(element, path);
    const ofAnyRule = findings.filter((each) => (!severity || each.dataset.severity === severity)
      && fits(each, each.parentElement.dataset.file));
    const shown = ofAnyRule.filter((each) => !rule || each.dataset.rule.split(" ").includes(rule));
    for (const each of findings) each.hidden = true;
    for (const each of shown) each.hidden = false;
    const paths = new Set(shown.map((each) => each.parentElement.dataset.file));
    for (const each of groups) each.hidden = !paths.has(each.dataset.file);
    for (const each of files) {
      const path = each.dataset.file;
      each.hidden = !paths.has(path) && Boolean(severity || rule || !fits(each, path));
    }
    // The rows of rules stay while one rule is chosen, so that a click on another row chooses that one.
    showRules(rulesInTables, ofAnyRule);
    showRules(rulesBelow, shown);
    for (const each of rows) each.hidden = !has(each, "");
    for (const each of parts) each.hidden = ![...each.querySelectorAll("tr:has(td), .rule")].some((row) => !row.hidden);
    document.getElementById("shown").textContent =
      `${shown.length.toLocaleString("en")} of ${findings.length.toLocaleString("en")} findings`;
  };
  const fromAddress = () => {
    if (location.hash.length > 1 && !location.hash.includes("=")) return; // a place on the page
    const wanted = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
    for (const name of NAMES) form.elements[name].value = wanted[name] || "";
    show(wanted);
    if (location.hash.length > 1) form.scrollIntoView();
  };
  const toAddress = () => {
    const wanted = Object.fromEntries([...new FormData(form)].filter(([, value]) => value));
    history.replaceState(null, "", `#${new URLSearchParams(wanted)}`);
    show(wanted);
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
    addEventListener("hashchange", fromAddress);
    fromAddress();
  }
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = findings.filter((each) => !each.open);
    for (const each of closed) each.open = true;
  });
  addEventListener("afterprint", () => { for (const each of closed) each.open = false; });
  document.documentElement.dataset.ready = "";
})();
