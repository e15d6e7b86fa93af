// The lesson as its author tells it: one step on the screen at a time, forward and then back.

const steps = doc.steps.filter((s) => s.name || s.lines.length || s.gradients.length || s.matrices.length || s.texts.length);
const isBack = (s) => s.part === "Back" || (s.gradients.length > 0 && !s.part);
const stepTitle = (s) => `${s.part ? s.part + " " : ""}${s.number ? s.number + ". " : ""}${s.name || "Beginning"}`;

function freeFigure(m) {  // a matrix that is no line of the tape
  const matrix = decode(m.value, m.shape);
  return heatMap({ name: m.name, matrix, kind: "signed", limit: largest(matrix), rows: m.rows, cols: m.columns, square: false, axes: false, hidden: null, choose: null, caption: null });
}

// Lines that were shown together have one scale, unless one would drown the others.
function group(ids, get, draw) {
  const most = together(ids, get);
  return ids.map((id) => draw(id, largest(get(id)) * 2.5 >= most ? most : undefined));
}

function curveFigure(curves) {
  const colours = palette(), w = 640, h = 240, top = Math.max(...curves.flatMap((c) => c.values), 1e-300);
  const longest = Math.max(...curves.map((c) => c.values.length));
  const lines = curves.map((c, i) => svg("polyline", { fill: "none", stroke: kHeadColours[i], "stroke-width": 2.5,
    points: c.values.map((y, x) => `${60 + x / Math.max(longest - 1, 1) * w},${10 + h - y / top * h}`).join(" ") }));
  const marks = [0, 0.5, 1].map((t) => svg("text", { x: 52, y: 15 + h - t * h, "text-anchor": "end", "font-size": 13, fill: colours.muted }, figure(t * top, 2)));
  const legend = curves.map((c, i) => svg("text", { x: 72 + 130 * i, y: h + 48, "font-size": 15, fill: kHeadColours[i] }, "— " + c.name));
  const node = svg("svg", { viewBox: `0 0 ${w + 80} ${h + 60}`, role: "img", "font-family": kFont }, svg("title", {}, curves[0].title),
    svg("path", { d: `M60 10V${h + 10}H${w + 60}`, fill: "none", stroke: colours.line }), lines, marks, legend,
    svg("text", { x: w + 60, y: h + 28, "text-anchor": "end", "font-size": 13, fill: colours.muted }, String(longest)));
  node.style.width = `calc(${w + 80}px * var(--k, 1))`;
  return el("figure", {}, el("figcaption", {}, el("strong", {}, curves[0].title)), node, el("div", { class: "under" }, saveButton(curves[0].title, node)));
}

// A step's figures, each made when it is needed.
function figuresOf(s) {
  const curves = new Map();
  for (const c of s.curves) curves.set(c.title, [...(curves.get(c.title) || []), c]);
  const grouped = (ids, get, draw) => group(ids, get, (id, limit) => () => draw(id, limit));
  return [...grouped(s.lines, valueOf, valueFigure), ...grouped(s.gradients, gradientOf, pair), ...s.matrices.map((m) => () => freeFigure(m)),
    ...[...curves.values()].map((c) => () => curveFigure(c))];
}

// Figures first to last-1 of a step; what was calculated and checked stands below the last ones.
function renderStep(i, first = 0, last = Infinity) {
  const s = steps[i], figures = figuresOf(s), end = last >= figures.length;
  const checks = s.checks.map((n) => doc.checks[n]).filter((c) => c.line === null || !s.gradients.includes(c.line));
  return el("section", { class: isBack(s) ? "step back" : "step", "aria-label": stepTitle(s) },
    el("h2", {}, stepTitle(s)),
    s.formula ? el("p", { class: "formula" }, equations(s.formula)) : null,
    s.note ? el("p", { class: "tip" }, s.note.replace(/\s*\n\s*/g, " ")) : null,
    first === 0 ? s.says.map((text) => el("p", { class: "say" }, text.trim())) : null,
    el("div", { class: "figures" }, figures.slice(first, last).map((make) => make())),
    end && s.texts.length ? el("pre", {}, s.texts.join("").replace(/^\n+|\s+$/g, "")) : null,
    end && checks.length ? el("ul", { class: "checks" }, checks.map((c) => el("li", {}, c.claim, " ", chip({ ok: c.ok, text: c.verdict })))) : null);
}

// A step with more figures than can be read on one screen takes several: [[0,3],[3,5]] are figures 0 to 2, then 3 and 4.
const kReadable = 0.85;
const cuts = new Map();
function screens(i, root) {
  const key = `${i} ${root.clientWidth} ${root.clientHeight}`;
  if (cuts.has(key)) return cuts.get(key);
  const section = renderStep(i), flow = section.querySelector(".figures"), all = [...flow.children], found = [];
  section.style.setProperty("--k", kReadable);
  root.replaceChildren(section);
  const fits = () => section.scrollHeight <= root.clientHeight - 24 && flow.scrollWidth <= flow.clientWidth;
  if (all.length < 2 || fits()) found.push([0, Infinity]);
  else {
    const below = [...section.querySelectorAll(":scope > pre, :scope > ul")];
    const show = (first, last) => {
      flow.replaceChildren(...all.slice(first, last));
      for (const node of below) node.hidden = last < all.length;
    };
    for (let first = 0, last; first < all.length; first = last) {
      for (last = first + 1; last < all.length; ++last) {
        show(first, last + 1);
        if (!fits()) break;
      }
      found.push([first, last >= all.length ? Infinity : last]);
    }
    const n = Math.ceil(all.length / found.length), even = found.map((_, j) => [n * j, j + 1 === found.length ? Infinity : n * (j + 1)]);
    if (even.every(([first, last]) => (show(first, last), fits()))) found.splice(0, found.length, ...even);
  }
  cuts.set(key, found);
  return found;
}

// The first screen of a part says what the part is about; the rail on the left leads to every step.
function renderRail(current) {
  const wrong = (s) => s.checks.some((n) => doc.checks[n].ok === false);
  return el("ol", {}, steps.map((s, i) => el("li", { class: i > 0 && s.part !== steps[i - 1].part ? "first" : null },
    el("a", { href: "#step=" + (i + 1), class: isBack(s) ? "back" : null, "aria-current": i === current ? "step" : null },
      el("span", { class: "n" }, s.part ? s.part[0] + s.number : String(s.number || "")), el("span", {}, s.name || "Beginning"), wrong(s) ? el("span", { class: "chip wrong" }, "✗") : null))));
}

// The largest scale at which the figures need no scroll bar.
function fit(section, room, most = 1.5) {
  const flow = section.querySelector(".figures");
  if (!flow || !flow.children.length) return;
  for (let k = most; k >= 0.45; k -= 0.05) {
    section.style.setProperty("--k", k.toFixed(2));
    if (section.scrollHeight <= room && flow.scrollWidth <= flow.clientWidth) return;
  }
}
