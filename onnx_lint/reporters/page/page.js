"use strict";
(() => {
  if (!document.getElementById("filter")) return; // there are no findings
  const SVG = "http://www.w3.org/2000/svg";
  const pictures = JSON.parse(document.getElementById("pictures").textContent);
  const findings = [...document.querySelectorAll("details.finding")];

  // --- filter and search

  const form = document.getElementById("filter");
  const shown = document.getElementById("shown");
  const texts = findings.map((each) => each.textContent.toLowerCase());
  const apply = () => {
    const wanted = new FormData(form);
    const words = wanted.get("text").toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    findings.forEach((each, index) => {
      const data = each.dataset;
      const fits = (!wanted.get("severity") || data.severity === wanted.get("severity"))
        && (!wanted.get("rule") || data.rule === wanted.get("rule"))
        && (!wanted.get("file") || data.file === wanted.get("file"))
        && words.every((word) => texts[index].includes(word));
      each.hidden = !fits;
      count += fits;
    });
    shown.textContent = `${count.toLocaleString("en")} of ${findings.length.toLocaleString("en")} shown`;
  };
  form.hidden = false;
  form.addEventListener("input", apply);
  form.addEventListener("reset", () => setTimeout(apply));
  form.addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      form.elements.text.focus();
    }
  });
  apply();

  // --- pictures: laid out by dagre, drawn here, names as text and never as markup

  const make = (parent, name, attributes, text) => {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  };
  const width = (text, size) => text.length * size * 0.62;

  const draw = (holder, { nodes, edges, cut }) => {
    const graph = new dagre.graphlib.Graph({ multigraph: true });
    graph.setGraph({ nodesep: 24, ranksep: 44, marginx: 8, marginy: 8 });
    nodes.forEach((node, index) => graph.setNode(index, {
      width: Math.max(60, width(node.kind, 13), width(node.name, 11)) + 20, height: node.name ? 42 : 28,
    }));
    edges.forEach((edge, index) => graph.setEdge(edge.source, edge.target, {
      width: Math.max(width(edge.name, 13), width(edge.known, 11)) + 8, height: edge.known ? 32 : 18, labelpos: "c",
    }, String(index)));
    dagre.layout(graph);
    const size = graph.graph();
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", `0 0 ${size.width} ${size.height}`);
    svg.setAttribute("width", size.width);
    svg.setAttribute("height", size.height);
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
      make(svg, "text", { class: edge.fault ? "label error" : "label", x, y: y + (edge.known ? -2 : 4) }, edge.name);
      if (edge.known) make(svg, "text", { class: "label known", x, y: y + 12 }, edge.known);
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
    holder.append(svg);
    if (cut) {
      const more = document.createElement("p");
      more.className = "faint";
      more.textContent = "There are more nodes than are drawn.";
      holder.append(more);
    }
  };
  const drawIn = (finding) => {
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

  let closed = [];
  addEventListener("beforeprint", () => {
    closed = findings.filter((each) => !each.hidden && !each.open);
    for (const each of closed) { each.open = true; drawIn(each); }
  });
  addEventListener("afterprint", () => { for (const each of closed) each.open = false; });
})();
