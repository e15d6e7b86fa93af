// A matrix as a figure: a heat map with its labels, its colour bar, its table, and its own file.

const kNumbers = 12;  // up to so many rows and columns each cell says its number
const kCells = 40;    // up to so many, a cell is a rectangle; beyond, the map is an image

function cellSize(m, square) {
  const side = Math.max(m.rows, m.cols);
  if (side <= 6) return { w: 60, h: square ? 60 : 36, digits: 3 };
  if (side <= kNumbers) return { w: 46, h: square ? 46 : 32, digits: 2 };
  if (m.rows <= kNumbers && m.cols > kNumbers && m.cols <= 16) return { w: 46, h: 32, digits: 2 };
  const size = Math.min(Math.max(440 / side, 1), 24);
  return { w: size, h: size, digits: -1 };
}

const ruler = el("canvas").getContext("2d");
const width = (text, size) => { ruler.font = `${size}px ${kFont}`; return ruler.measureText(text).width; };

// What stands at the sides: labels, every so many if there is no room for all.
function ticks(labels, n, of, size) {
  const every = Math.max(1, Math.ceil(16 / size));
  const all = [];
  for (let i = 0; i < n; i += every) {
    const at = of === n ? i : Math.floor(i * of / n);
    all.push({ i, text: clip(labels.length ? String(labels[at] ?? at) : String(at), 12), whole: labels.length ? String(labels[at] ?? at) : String(at), plain: !labels.length });
  }
  return all;
}

const tickText = (x) => (x === 0 ? "0" : figure(x, Math.abs(x) >= 100 ? 0 : Math.abs(x) >= 0.1 ? 2 : 4));

function colourBar(scale, x, y, h, colours) {
  const id = fresh("ramp");
  const stops = scale.stops.map((colour, i) => svg("stop", { offset: 1 - i / (scale.stops.length - 1), "stop-color": colour })).reverse();
  const numbers = scale.ticks.map((value, i) =>
    svg("text", { x: x + 18, y: y + 5 + (h - 4) * i / 2 + 2, "font-size": 13.5, fill: colours.muted }, tickText(value)));
  return svg("g", { "aria-hidden": "true" }, svg("defs", {}, svg("linearGradient", { id, x1: 0, y1: 0, x2: 0, y2: 1 }, stops)),
    svg("rect", { x, y, width: 12, height: h, fill: `url(#${id})`, stroke: colours.line }), numbers);
}

function pixels(m, scale, hidden, colours) {  // an image, one pixel for each entry
  const canvas = el("canvas", { width: m.cols, height: m.rows });
  const context = canvas.getContext("2d"), image = context.createImageData(m.cols, m.rows), none = channels(colours.none);
  each(m, (x, r, c) => {
    const rgb = x === -Infinity || (hidden && hidden(r, c)) ? none : scale.rgb(x);
    image.data.set(rgb, 4 * (r * m.cols + c));
    image.data[4 * (r * m.cols + c) + 3] = 255;
  });
  context.putImageData(image, 0, 0);
  return canvas;
}

function hatching(id, colours) {
  return svg("pattern", { id, width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    svg("rect", { width: 7, height: 7, fill: colours.none }), svg("line", { x1: 0, y1: 0, x2: 0, y2: 7, stroke: colours.muted, "stroke-width": 2 }));
}

// The drawing alone. map: {name, matrix, kind, limit, rows, cols, hidden, square, axes}
function drawMap(map) {
  const m = map.matrix, colours = palette(), size = cellSize(m, map.square), scale = scaleFor(map.kind, map.limit);
  const of = m.of || [m.rows, m.cols];
  const left = ticks(map.rows, m.rows, of[0], size.h), top = ticks(map.cols, m.cols, of[1], size.w);
  const widest = Math.max(...top.map((t) => width(t.text, 15)), 8), slanted = widest > size.w * Math.max(1, Math.ceil(16 / size.w)) - 4;
  const x0 = Math.max(...left.map((t) => width(t.text, 15)), map.axes ? 56 : 8) + 12;
  const y0 = Math.max(slanted ? widest * 0.68 + 18 : 24, map.axes ? 34 : 0);
  const w = m.cols * size.w, h = m.rows * size.h;
  const bar = 34 + Math.max(...scale.ticks.map((value) => width(tickText(value), 13.5)));
  const whole = { w: x0 + w + bar, h: y0 + Math.max(h, 44) + 8 }, tip = slanted ? widest * 0.74 - size.w / 2 : 0;
  whole.w = Math.max(whole.w, x0 + w + tip);
  const hatch = fresh("hatch"), title = fresh("title"), about = fresh("about");
  const cells = svg("g"), longest = size.digits < 0 ? 1 : Math.max(...Array.from({ length: m.rows * m.cols }, (_, i) => width(figure(m.at(Math.floor(i / m.cols), i % m.cols), size.digits), 15)));
  const letters = Math.max(10, Math.min(15, 15 * (size.w - 8) / longest));  // one size for all cells
  const isHidden = (x, r, c) => x === -Infinity || (map.hidden && map.hidden(r, c));
  if (Math.max(m.rows, m.cols) > kCells) {
    cells.append(svg("image", { href: pixels(m, scale, map.hidden, colours).toDataURL(), x: x0, y: y0, width: w, height: h, preserveAspectRatio: "none", style: null, "image-rendering": "pixelated" }));
  } else {
    each(m, (x, r, c) => {
      const rgb = scale.rgb(x), hide = isHidden(x, r, c), X = x0 + c * size.w, Y = y0 + r * size.h;
      cells.append(svg("rect", { x: X + 0.5, y: Y + 0.5, width: Math.max(size.w - 1, 0.5), height: Math.max(size.h - 1, 0.5), fill: hide ? `url(#${hatch})` : css(rgb) }));
      if (size.digits < 0 || (hide && map.kind === "weights")) return;
      const text = figure(x, size.digits);
      cells.append(svg("text", { x: X + size.w / 2, y: Y + size.h / 2 + 5, "text-anchor": "middle", "font-size": letters, fill: hide ? colours.ink : textOn(rgb),
        ...(hide ? { stroke: colours.none, "stroke-width": 4, "paint-order": "stroke" } : {}) }, text));
    });
  }
  const rowLabels = left.map((t) => svg("text", { x: x0 - 8, y: y0 + (t.i + 0.5) * size.h + 5, "text-anchor": "end", "font-size": t.plain ? 12.5 : 15, fill: t.plain ? colours.muted : colours.ink }, t.text, svg("title", {}, t.whole)));
  const colLabels = top.map((t) => {
    const x = x0 + (t.i + 0.5) * size.w, y = y0 - 7;
    return svg("text", { x, y, "text-anchor": slanted ? "start" : "middle", transform: slanted ? `rotate(-42 ${x} ${y})` : null, "font-size": t.plain ? 12.5 : 15, fill: t.plain ? colours.muted : colours.ink }, t.text, svg("title", {}, t.whole));
  });
  const axes = map.axes ? [svg("text", { x: x0 - 8, y: y0 - 20, "text-anchor": "end", "font-size": 13, fill: colours.muted }, "key →"),
    svg("text", { x: x0 - 8, y: y0 - 6, "text-anchor": "end", "font-size": 13, fill: colours.muted }, "query ↓")] : [];
  const cursor = svg("rect", { class: "cursor", width: size.w, height: size.h, fill: "none", stroke: colours.ink, "stroke-width": 2.5, visibility: "hidden" });
  const node = svg("svg", { viewBox: `0 0 ${whole.w} ${whole.h}`, role: "img", "aria-labelledby": title, "aria-describedby": about, "font-family": kFont },
    svg("title", { id: title }, map.name), svg("desc", { id: about }, describe(map)), svg("defs", {}, hatching(hatch, colours)),
    cells, rowLabels, colLabels, axes, colourBar(scale, x0 + w + 12, y0, Math.max(h, 44), colours), cursor);
  node.style.width = `calc(${Math.round(whole.w)}px * var(--k, 1))`;
  const place = (r, c) => {
    cursor.setAttribute("x", x0 + c * size.w), cursor.setAttribute("y", y0 + r * size.h);
    cursor.setAttribute("visibility", r < 0 ? "hidden" : "visible");
  };
  const cellAt = (event) => {
    const box = node.getBoundingClientRect(), k = box.width / whole.w;
    const c = Math.floor(((event.clientX - box.left) / k - x0) / size.w), r = Math.floor(((event.clientY - box.top) / k - y0) / size.h);
    return r >= 0 && c >= 0 && r < m.rows && c < m.cols ? [r, c] : null;
  };
  return { node, place, cellAt, whole };
}

function describe(map) {
  const m = map.matrix;
  const how = map.kind === "weights" ? "Weights from 0 to 1" : `Numbers up to ${figure(largest(m), 4)} in size`;
  const lost = m.full === false ? ` Drawn from 8 bits for each entry${m.of[0] === m.rows && m.of[1] === m.cols ? "" : `, averaged from ${shapeText(m.of)}`}.` : "";
  return `${how}, ${shapeText(m.of || [m.rows, m.cols])}; rows: ${map.axes ? "queries" : "rows"}, columns: ${map.axes ? "keys" : "columns"}. The same numbers follow as a table.${lost}`;
}

function entryName(map, r, c) {
  const m = map.matrix, of = m.of || [m.rows, m.cols];
  const R = of[0] === m.rows ? r : Math.floor(r * of[0] / m.rows), C = of[1] === m.cols ? c : Math.floor(c * of[1] / m.cols);
  return `${map.name}[${map.rows[R] ?? R}, ${map.cols[C] ?? C}]`;
}

function numbersTable(map) {
  const m = map.matrix, details = el("details", { class: "numbers" }, el("summary", {}, "numbers"));
  details.addEventListener("toggle", () => {
    if (!details.open || details.children.length > 1) return;
    if (m.rows * m.cols > 4096) return details.append(el("p", {}, "Too many for a table here. The command line writes them: --csv " + map.name));
    const head = el("tr", {}, el("td"), Array.from({ length: m.cols }, (_, c) => el("th", { scope: "col" }, String(map.cols[c] ?? c))));
    const rows = Array.from({ length: m.rows }, (_, r) => el("tr", {}, el("th", { scope: "row" }, String(map.rows[r] ?? r)),
      Array.from({ length: m.cols }, (__, c) => el("td", {}, map.hidden && map.hidden(r, c) ? "hidden" : figure(m.at(r, c), 6)))));
    details.append(el("div", { class: "scroll" }, el("table", {}, el("caption", {}, map.name), el("thead", {}, head), el("tbody", {}, rows))));
  });
  return details;
}

function saveButton(name, node) {
  return el("button", { type: "button", class: "small", title: "save this figure as an SVG file", onclick: () => {
    const copy = node.cloneNode(true), box = copy.getAttribute("viewBox").split(" ");
    copy.setAttribute("xmlns", SVG), copy.setAttribute("width", box[2]), copy.setAttribute("height", box[3]);
    copy.removeAttribute("style"), copy.querySelector(".cursor")?.remove();
    copy.insertBefore(svg("rect", { width: "100%", height: "100%", fill: palette().paper }), copy.children[2] || null);
    download(`lesson_${doc.lesson}_${name.replace(/[^A-Za-z0-9_]+/g, "_")}.svg`, new XMLSerializer().serializeToString(copy));
  } }, "save SVG");
}

// The figure: caption, drawing, what the pointer or the arrow keys point at, and the table.
// map.choose(r, c): what a click, or Enter, does; map.caption: more nodes for the caption
function heatMap(map) {
  const caption = el("figcaption", {}, el("strong", {}, map.name), " ", el("span", { class: "muted" }, shapeText(map.matrix?.of || [map.matrix.rows, map.matrix.cols])), " ", map.caption);
  if (map.matrix.left_out) return el("figure", {}, caption, el("p", { class: "note" }, "Left out, because this page would be too large. The command line writes it: --csv " + map.name));
  if (!map.matrix.rows || !map.matrix.cols) return el("figure", {}, caption, el("p", { class: "note" }, "It has no entries."));
  const drawing = drawMap(map), m = map.matrix;
  const readout = el("p", { class: "readout", "aria-live": "polite" });
  let at = null, reading = false;  // reading: Enter was pressed, and the arrow keys move from entry to entry
  const point = (cell) => {
    at = cell;
    drawing.place(...(cell || [-1, -1]));
    const mean = m.of && (m.of[0] !== m.rows || m.of[1] !== m.cols) ? " (mean of a block)" : m.full === false ? " (from 8 bits)" : "";
    readout.textContent = cell ? `${entryName(map, ...cell)} = ${map.hidden && map.hidden(...cell) ? "hidden by the mask" : (m.full ? exact : (x) => figure(x, 4))(m.at(...cell)) + mean}` : "";
  };
  const area = el("div", { class: "map", tabindex: 0, role: "group", "aria-label": `${map.name}: Enter, then arrow keys, reads the entries${map.choose ? "; Enter again explains one" : ""}` }, drawing.node);
  if (map.choose) area.classList.add("choosable");
  area.addEventListener("pointermove", (event) => point(drawing.cellAt(event)));
  area.addEventListener("pointerleave", () => point(null));
  area.addEventListener("blur", () => { reading = false; });
  area.addEventListener("click", (event) => { const cell = drawing.cellAt(event); if (cell && map.choose) map.choose(...cell); });
  area.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (move && reading) point([Math.min(Math.max(at[0] + move[0], 0), m.rows - 1), Math.min(Math.max(at[1] + move[1], 0), m.cols - 1)]);
    else if (event.key === "Enter" && !reading) (reading = true), point([0, 0]);
    else if (event.key === "Enter" && map.choose) map.choose(...at);
    else if (event.key === "Escape" && reading) (reading = false), point(null);
    else return;
    event.preventDefault(), event.stopPropagation();
  });
  return el("figure", { role: "group", "aria-label": map.name }, caption, area, el("div", { class: "under" }, readout, numbersTable(map), saveButton(map.name, drawing.node)));
}
