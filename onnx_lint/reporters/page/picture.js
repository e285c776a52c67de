"use strict";
// Draws the nodes around a finding, in the HTML report and on the pages of the documentation: laid out by dagre,
// names as text and never as markup.
const drawPicture = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const make = (parent, name, attributes, text) => {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  };
  const width = (text, size) => text.length * size * 0.62;

  const LEAST_SCALE = 0.75;
  return (holder, { nodes, edges, cut }) => {
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
    const said = nodes.filter((node) => node.fault).map((node) => `${node.kind} ${node.name}`.trim()).join(", ");
    make(svg, "title", {}, `${nodes.length} nodes and values around the finding${said && `; marked: ${said}`}`);
    const id = `tip${holder.dataset.picture}`;
    const marker = make(make(svg, "defs", {}), "marker",
      { id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto", markerUnits: "userSpaceOnUse" });
    make(marker, "path", { d: "M0,0 L8,4 L0,8 z" });
    for (const key of graph.edges()) {
      const line = graph.edge(key).points.map((point) => `${point.x},${point.y}`).join(" L");
      const edge = edges[Number(key.name)];
      make(svg, "path", { d: `M${line}`, class: edge.fault ? "fault" : "", "marker-end": `url(#${id})` });
    }
    for (const key of graph.edges()) {
      const { x, y, width: w, height: h } = graph.edge(key);
      const edge = edges[Number(key.name)];
      if (edge.name || edge.known) make(svg, "rect", { class: "back", x: x - w / 2, y: y - h / 2, width: w, height: h });
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
    scroller.setAttribute("role", "region");
    scroller.setAttribute("aria-label", "Picture");
    scroller.append(svg);
    holder.append(scroller);
    const center = nodes.findIndex((node) => node.fault);
    const marked = edges.findIndex((edge) => edge.fault);
    const fault = center < 0 && marked >= 0 ? graph.edge(edges[marked].source, edges[marked].target, String(marked))
      : graph.node(Math.max(center, 0));
    const zoom = (scale) => {
      svg.setAttribute("width", size.width * scale);
      svg.setAttribute("height", size.height * scale);
      scroller.scrollLeft = fault.x * scale - scroller.clientWidth / 2;
      scroller.scrollTop = fault.y * scale - scroller.clientHeight / 2;
    };
    // It fits the width if its text stays readable.
    const fitting = () => (scroller.clientWidth - 1) / size.width; // which is rounded
    let scale = Math.min(1, Math.max(LEAST_SCALE, fitting()));
    zoom(scale);
    const buttons = document.createElement("p");
    const choices = [["\u2212", "Zoom out", () => scale / 1.25], ["+", "Zoom in", () => scale * 1.25],
      ["1:1", "Full size", () => 1], ["Fit", "Fit the width", fitting]];
    for (const [name, said, next] of choices) {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: name, title: said });
      button.setAttribute("aria-label", said);
      button.addEventListener("click", () => { scale = next(); zoom(scale); });
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
})();
