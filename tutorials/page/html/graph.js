// The tape as a graph: inputs on top, every line below the lines that it reads. Arrow keys walk down the list, and back.

const kShown = 80;  // of a longer tape, the neighbourhood of the chosen line
const kWide = 140, kHigh = 46, kGapX = 18, kGapY = 34;

// The walk: forward over all lines, then back over those that have a gradient, from the root.
const walk = [...tape.map((line) => ({ id: line.line, back: false })),
  ...(doc.root === null ? [] : tape.slice(0, doc.root + 1).filter((line) => line.gradient).map((line) => ({ id: line.line, back: true })).reverse())];

function neighbourhood(id) {
  if (tape.length <= kShown) return tape.map((line) => line.line);
  const seen = new Set([id]);
  let rim = [id];
  while (rim.length && seen.size < kShown) {
    const next = [];
    for (const at of rim) for (const other of [...tape[at].from, ...users[at], ...(tape[at].view ? [tape[at].view.of] : [])])
      if (!seen.has(other) && seen.size < kShown) seen.add(other), next.push(other);
    rim = next;
  }
  return [...seen].sort((a, b) => a - b);
}

const readsOf = (id) => [...new Set(tape[id].view ? [tape[id].view.of] : tape[id].from)];

// Layers by the longest way from a leaf; leaves stand just above their first reader. An edge that crosses layers gets a place in each
// of them ("from>to@layer"), so that it runs between the boxes. Within a layer, by the mean place of the neighbours.
function layout(ids) {
  const inside = new Set(ids), level = new Map(), above = new Map(), below = new Map();
  const reads = new Map(ids.map((id) => [id, readsOf(id).filter((i) => inside.has(i))]));
  const join = (from, to) => { (above.get(to) || above.set(to, []).get(to)).push(from), (below.get(from) || below.set(from, []).get(from)).push(to); };
  for (const id of ids) level.set(id, Math.max(-1, ...reads.get(id).map((i) => level.get(i))) + 1);
  for (const id of [...ids].reverse()) {
    const readers = ids.filter((u) => reads.get(u).includes(id)).map((u) => level.get(u));
    if (!reads.get(id).length && readers.length) level.set(id, Math.min(...readers) - 1);
  }
  const rows = [], ways = [];
  for (const id of ids) (rows[level.get(id)] ||= []).push(id);
  for (const to of ids) for (const from of reads.get(to)) {
    const way = [from];
    for (let l = level.get(from) + 1; l < level.get(to); ++l) (rows[l] ||= []).push(`${from}>${to}@${l}`), way.push(`${from}>${to}@${l}`);
    way.push(to);
    for (let i = 1; i < way.length; ++i) join(way[i - 1], way[i]);
    ways.push(way);
  }
  const x = new Map(), narrow = (id) => (typeof id === "string" ? 0.3 : 1);
  const place = (row) => {
    const sum = row.reduce((s, id) => s + narrow(id), 0);
    row.reduce((left, id) => (x.set(id, left + narrow(id) / 2), left + narrow(id)), -sum / 2);
    return sum;
  };
  rows.forEach(place);
  for (let sweep = 0; sweep < 8; ++sweep) {
    for (const row of sweep % 2 ? [...rows].reverse() : rows) {
      const near = (id) => { const all = (sweep % 2 ? below : above).get(id) || []; return all.length ? all.reduce((s, i) => s + x.get(i), 0) / all.length : x.get(id); };
      const wish = new Map(row.map((id) => [id, near(id)]));
      row.sort((a, b) => wish.get(a) - wish.get(b));
      place(row);
    }
  }
  const most = Math.max(...rows.map(place)), at = new Map();
  rows.forEach((row, y) => row.forEach((id) => at.set(id, { x: (x.get(id) + most / 2) * (kWide + kGapX), y: y * (kHigh + kGapY) + 8 })));
  return { at, ways, w: most * (kWide + kGapX), h: rows.length * (kHigh + kGapY) };
}

// A smooth line from box to box, straight down past the boxes of the layers in between.
function wire(way, at) {
  let path = "", x = 0, y = 0;
  way.forEach((id, i) => {
    const p = at.get(id), top = p.y - (i === way.length - 1 ? 2 : 0);
    if (i) path += `C${x} ${(y + top) / 2 + 4} ${p.x} ${(y + top) / 2 - 4} ${p.x} ${top}`;
    else path = `M${p.x} ${p.y + kHigh}`;
    if (i && i < way.length - 1) path += `V${p.y + kHigh}`;
    x = p.x, y = p.y + kHigh;
  });
  return path;
}

// In attributes, not in the style sheet, so that a saved figure looks the same. Parameters and inputs have a strong border, views and
// constants a dotted one; the chosen line is filled, on the way back in the colour of the way back.
function lookOf(id, current, back) {
  const line = tape[id], c = palette(), leaf = !line.view && !line.from.length;
  if (current) return { box: { fill: back ? c.back : c.accent, stroke: c.ink, "stroke-width": 3 }, name: c.paper, rest: c.paper };
  if (leaf && line.wants_gradient) return { box: { fill: c.raise, stroke: c.accent, "stroke-width": 2.5, "stroke-dasharray": line.parameter ? null : "6 3" }, name: c.ink, rest: c.muted };
  return { box: { fill: leaf || line.view ? c.paper : c.raise, stroke: c.muted, "stroke-width": 1.2, "stroke-dasharray": leaf || line.view ? "2 3" : null }, name: c.ink, rest: c.muted };
}

// Number, op and shape, as much as fits into a box.
function caption(line) {
  const op = line.name && line.from.length ? " " + line.op : "", shape = " " + shapeText(line.shape), number = "%" + line.line;
  return [number + op + shape, number + shape, number].find((text) => width(text, 12.5) < kWide - 8) || number;
}

function drawGraph(id, back) {
  const ids = neighbourhood(id), { at, ways, w, h } = layout(ids), colours = palette(), arrow = fresh("arrow");
  const edges = ways.map((way) => {
    const near = way[0] === id || way[way.length - 1] === id;
    return svg("path", { d: wire(way, at), fill: "none", stroke: near ? colours.ink : colours.muted, "stroke-width": near ? 2.5 : 1.2, "stroke-opacity": near ? 1 : 0.55, "marker-end": `url(#${arrow})` });
  });
  const boxes = ids.map((i) => {
    const p = at.get(i), line = tape[i], current = i === id, look = lookOf(i, current, back);
    return svg("g", { class: current ? "box current" : "box", tabindex: 0, role: "button", "aria-label": `line ${i}: ${line.op} ${line.name}, ${shapeText(line.shape)}${line.gradient ? ", has a gradient" : ""}`, "aria-current": current ? "true" : null,
      onclick: () => go("tape", i), onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") go("tape", i), event.preventDefault(), event.stopPropagation(); } },
      svg("rect", { x: p.x - kWide / 2, y: p.y, width: kWide, height: kHigh, rx: line.from.length ? 8 : 20, ...look.box }),
      svg("text", { x: p.x, y: p.y + 20, "text-anchor": "middle", "font-size": 16, "font-weight": 600, fill: look.name }, clip(line.name || line.op, 13)),
      svg("text", { x: p.x, y: p.y + 37, "text-anchor": "middle", "font-size": 12.5, fill: look.rest }, caption(line)),
      svg("title", {}, sourceText(i) || sourceOf(i)));
  });
  const node = svg("svg", { viewBox: `-8 0 ${w + 16} ${h}`, role: "group", "aria-label": "graph of the tape", "font-family": kFont, class: "graph" }, svg("title", {}, "The tape as a graph"),
    svg("defs", {}, svg("marker", { id: arrow, viewBox: "0 0 10 10", refX: 9, refY: 5, markerUnits: "userSpaceOnUse", markerWidth: 9, markerHeight: 9, orient: "auto" }, svg("path", { d: "M0 0L10 5L0 10z", fill: colours.muted }))), edges, boxes);
  node.style.width = `min(${w + 16}px, max(100%, ${0.7 * w}px))`;  // a little smaller rather than a scroll bar
  return { node, ids };
}

function field(name, ...content) { return [el("dt", {}, name), el("dd", {}, content)]; }
const links = (ids) => (ids.length ? ids.map((i) => el("a", { class: "line", href: "#tape=" + i }, `%${i} ${tape[i].name || tape[i].op}`)) : "none");

function renderTape(at) {
  const hadFocus = Boolean(document.activeElement?.closest?.(".graph"));
  const { id, back } = walk[at], line = tape[id], { node, ids } = drawGraph(id, back), verdict = verdictOf(id);
  const about = el("div", { class: "about" },
    el("h2", {}, back ? `Back through %${id} ${line.op}` : `%${id} ${line.op}`, line.name ? el("span", {}, ` "${line.name}"`) : null),
    el("dl", {}, field("shape", shapeText(line.shape)), line.scope ? field("scope", line.scope) : null,
      field("recorded at", el("code", {}, sourceOf(id))), sourceText(id) ? field("source", el("code", { class: "code" }, sourceText(id))) : null,
      line.view ? field("view of", links([line.view.of])) : field("reads", links(line.from)), field("read by", links(users[id])),
      verdict ? field("gradient", chip(verdict)) : null),
    el("div", { class: "figures" }, valueFigure(id), !back && gradientOf(id) ? null : gradientOf(id) ? gradientFigure(id) : el("p", { class: "muted" }, line.wants_gradient ? "No gradient came here: nothing that the way back started from depends on it." : "It wants no gradient.")));
  const frame = el("div", { class: "frame", tabindex: 0, role: "region", "aria-label": "graph" }, node);
  const note = ids.length < tape.length ? el("p", { class: "note" }, `${ids.length} of ${tape.length} lines: those around %${id}.`) : null;
  requestAnimationFrame(() => {
    const box = node.querySelector(".current")?.getBoundingClientRect(), room = frame.getBoundingClientRect();
    if (hadFocus) node.querySelector(".current")?.focus({ preventScroll: true });
    if (box) frame.scrollBy(box.left + box.width / 2 - room.left - room.width / 2, box.top + box.height / 2 - room.top - room.height / 2);
  });
  return el("section", { class: back ? "tape back" : "tape" }, el("div", { class: "graphside" }, note, frame, el("div", { class: "under" }, saveButton("tape", node))), about);
}
