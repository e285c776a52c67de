"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
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

  // --- pictures: laid out by dagre, drawn here, names as text and never as markup

  const make = (parent, name, attributes, text) => {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  };
  const width = (text, size) => text.length * size * 0.62;

  const LEAST_SCALE = 0.6;
  const draw = (holder, { nodes, edges, cut }) => {
    const graph = new dagre.graphlib.Graph({ multigraph: true });
    graph.setGraph({ nodesep: 24, ranksep: 44, marginx: 8, marginy: 8 });
    nodes.forEach((node, index) => graph.setNode(index, {
      width: Math.max(60, width(node.kind, 13), width(node.name, 11)) + 20, height: node.name ? 42 : 28,
    }));
    edges.forEach((edge, index) => graph.setEdge(edge.source, edge.target, {
      width: Math.max(width(edge.name, 13), width(edge.known, 11)) + 8, height: edge.known && edge.name ? 32 : 18, labelpos: "c",
    }, String(index)));
    dagre.layout(graph);
    const size = graph.graph();
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", `0 0 ${size.width} ${size.height}`);
    svg.setAttribute("role", "img");
    make(svg, "title", {}, `${nodes.length} nodes and values around the finding`);
    const id = `tip${holder.dataset.picture}`;
    const marker = make(make(svg, "defs", {}), "marker",
      { id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto" });
    make(marker, "path", { d: "M0,0 L8,4 L0,8 z" });
    for (const key of graph.edges()) {
      const line = graph.edge(key).points.map((point) => `${point.x},${point.y}`).join(" L");
      const edge = edges[Number(key.name)];
      make(svg, "path", { d: `M${line}`, class: edge.fault ? "fault" : "", "marker-end": `url(#${id})` });
    }
    for (const key of graph.edges()) {
      const { x, y, width: w, height: h } = graph.edge(key);
      const edge = edges[Number(key.name)];
      make(svg, "rect", { class: "back", x: x - w / 2, y: y - h / 2, width: w, height: h });
      const both = edge.known && edge.name;
      if (edge.name) make(svg, "text", { class: edge.fault ? "label error" : "label", x, y: y + (both ? -2 : 4) }, edge.name);
      if (edge.known) make(svg, "text", { class: "label known", x, y: y + (both ? 12 : 4) }, edge.known);
    }
    nodes.forEach((node, index) => {
      const { x, y, width: w, height: h } = graph.node(index);
      const group = make(svg, "g",
        { class: `node${node.index === null ? " value" : ""}${node.fault ? " fault" : ""}` });
      make(group, "rect", { x: x - w / 2, y: y - h / 2, width: w, height: h, rx: node.index === null ? 14 : 4 });
      make(group, "text", { x, y: y + (node.name ? -3 : 5) }, node.kind);
      if (node.name) make(group, "text", { class: "name", x, y: y + 13 }, node.name);
      if (node.index !== null) make(group, "title", {}, `node[${node.index}]`);
    });
    const scroller = Object.assign(document.createElement("div"), { className: "scroller", tabIndex: 0 });
    scroller.append(svg);
    holder.append(scroller);
    const center = nodes.findIndex((node) => node.fault);
    const fault = graph.node(center >= 0 ? center : 0);
    const zoom = (scale) => {
      svg.setAttribute("width", size.width * scale);
      svg.setAttribute("height", size.height * scale);
      scroller.scrollLeft = fault.x * scale - scroller.clientWidth / 2;
      scroller.scrollTop = fault.y * scale - scroller.clientHeight / 2;
    };
    // It fits the width if its text stays readable.
    let scale = Math.min(1, Math.max(LEAST_SCALE, scroller.clientWidth / size.width));
    zoom(scale);
    const buttons = document.createElement("p");
    for (const [name, said, factor] of [["\u2212", "Zoom out", 1 / 1.25], ["+", "Zoom in", 1.25], ["1:1", "Full size", 0]]) {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: name, title: said });
      button.setAttribute("aria-label", said);
      button.addEventListener("click", () => { scale = factor ? scale * factor : 1; zoom(scale); });
      buttons.append(button);
    }
    holder.append(buttons);
    if (cut) {
      const more = document.createElement("p");
      more.className = "faint";
      more.textContent = "There are more nodes than are drawn.";
      holder.append(more);
    }
  };
  const drawIn = (finding) => {
    for (const mark of finding.querySelectorAll("pre mark")) {
      const code = mark.closest("pre");
      code.scrollLeft = mark.offsetLeft + mark.offsetWidth - code.clientWidth + 24;
    }
    for (const holder of finding.querySelectorAll(".picture:empty")) draw(holder, pictures[holder.dataset.picture]);
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
