// Attention, three ways, under the names that BertViz gave them: head view, model view, neuron view.

const layers = [...new Set(heads.map((h) => h.layer))];
const headTitle = (h) => (layers.length > 1 ? `layer ${h.layer}, ` : "") + `head ${h.head}`;
const headName = (h) => `${nameOf(h.A)}${heads.filter((o) => nameOf(o.A) === nameOf(h.A)).length > 1 ? " of " + headTitle(h) : ""}`;
const chosen = { view: "model", layer: 0, head: 0, query: 0, on: null, scores: false };  // what the attention page shows

const colourOf = (h) => kHeadColours[h.head % kHeadColours.length];
const option = (value, text, current) => el("option", { value, selected: value === current }, text);
function select(label, options, current, change) {
  return el("label", {}, label + " ", el("select", { onchange: (event) => change(Number(event.target.value)) }, options.map((text, i) => option(i, text, current))));
}

// ---- head view: a line from each token to each token that it looks at, one colour for each head

function headView() {
  const all = heads.filter((h) => h.layer === layers[chosen.layer]);
  const lead = all[0], { queries, keys } = tokensOf(lead), n = Math.max(queries.length, keys.length);
  const on = new Set(chosen.on || all.map((_, i) => i));
  const one = n > 40;  // too many lines to see: one query at a time, and its strongest keys
  if (chosen.query >= queries.length) chosen.query = 0;
  const line = n > 24 ? 16 : Math.min(36, 480 / n), x1 = 170, x2 = 520, colours = palette();
  const first = one ? Math.max(0, Math.min(chosen.query - 20, queries.length - 41)) : 0, shown = (labels) => labels.slice(first, first + (one ? 41 : n));
  const y = (i) => 30 + (i - first + 0.5) * line;
  const lines = [];
  let focus = one ? chosen.query : null;
  const wires = svg("g");
  const draw = () => {
    wires.replaceChildren();
    all.forEach((h, i) => {
      const A = valueOf(h.A);
      if (!on.has(i) || !A || A.left_out) return;
      const kr = A.rows / queries.length, kc = A.cols / keys.length;
      for (let q = 0; q < queries.length; ++q) {
        if (focus !== null && q !== focus) continue;
        for (let k = 0; k < keys.length; ++k) {
          const weight = A.at(Math.floor(q * kr), Math.floor(k * kc));
          if (!(weight > 0.01) || (one && (k < first || k > first + 40))) continue;
          const shift = (i - (all.length - 1) / 2) * 2.2;
          wires.append(svg("line", { x1: x1 + 6, y1: y(q) + shift, x2: x2 - 6, y2: y(k) + shift, stroke: colourOf(h), "stroke-width": focus === null ? 1 + 4 * weight : 1.5 + 7 * weight, "stroke-opacity": Math.min(1, 0.12 + weight), "stroke-linecap": "round" }));
        }
      }
    });
  };
  const pick = (q) => { focus = q; draw(); };
  const token = (text, i, x, anchor, choose) => svg("text", { x, y: y(i) + 5, "text-anchor": anchor, "font-size": Math.min(17, line * 0.72), fill: colours.ink, class: choose ? "token" : null, tabindex: choose ? 0 : null, role: choose ? "button" : null,
    onpointerenter: choose ? () => pick(i) : null, onpointerleave: choose && !one ? () => pick(null) : null, onfocus: choose ? () => pick(i) : null, onclick: choose ? () => { chosen.query = i; if (one) redraw(); } : null }, clip(text, 16), svg("title", {}, text));
  const node = svg("svg", { viewBox: `0 0 690 ${40 + shown(Array.from({ length: n })).length * line}`, role: "img", "aria-label": "lines from queries to keys", "font-family": kFont }, svg("title", {}, "Head view"),
    svg("desc", {}, "Each line goes from a query on the left to a key on the right; it is as thick as the weight."),
    svg("text", { x: x1, y: 16, "text-anchor": "end", "font-size": 13, fill: colours.muted }, "query"), svg("text", { x: x2, y: 16, "font-size": 13, fill: colours.muted }, "key"),
    wires, shown(queries).map((t, i) => token(t, i + first, x1, "end", true)), shown(keys).map((t, i) => token(t, i + first, x2, "start", false)));
  node.style.width = "calc(690px * var(--k, 1))";
  draw();
  const boxes = all.map((h, i) => el("label", { class: "box" }, el("input", { type: "checkbox", checked: on.has(i), onchange: (event) => { event.target.checked ? on.add(i) : on.delete(i); chosen.on = [...on]; draw(); } }), swatch(colourOf(h)), `head ${h.head}`));
  return [el("p", { class: "tip" }, one ? "Point at a word on the left, or move to it with Tab. So many words: one query at a time, and the keys near it." : "Point at a word on the left, or move to it with Tab: only its lines stay."),
    el("div", { class: "controls" }, boxes), el("div", { class: "figures" }, el("figure", {}, node, el("div", { class: "under" }, saveButton("heads", node))))];
}

const swatch = (colour) => svg("svg", { width: 16, height: 16, "aria-hidden": "true" }, svg("rect", { width: 16, height: 16, rx: 3, fill: colour }));

// ---- model view: every head of every layer; a press makes one large, beside it the gradient

function modelView() {
  const grid = el("div", { class: "thumbs" });
  grid.style.setProperty("--heads", Math.max(...layers.map((l) => heads.filter((h) => h.layer === l).length)));
  const columns = Number(grid.style.getPropertyValue("--heads")), size = Math.min(110, Math.max(24, Math.floor(0.42 * innerWidth / columns) - 18));
  heads.forEach((h, i) => {
    const A = valueOf(h.A);
    const canvas = A && !A.left_out ? pixels(A, scaleFor("weights", weightLimit(h.A)), hiddenOf(h.A), palette()) : el("span", {}, "left out");
    canvas.style.width = canvas.style.height = size + "px";
    grid.append(el("button", { type: "button", class: "thumb", "aria-pressed": String(i === chosen.head), "aria-label": `weights of ${headTitle(h)}`, onclick: () => { chosen.head = i; redraw(); } }, canvas, el("span", {}, layers.length > 1 ? `${h.layer}·${h.head}` : `head ${h.head}`)));
  });
  const h = heads[chosen.head], id = chosen.scores ? h.E : h.A;
  const which = [["weights A", false], ["scores E", true]].map(([text, scores]) => el("button", { type: "button", "aria-pressed": String(chosen.scores === scores), onclick: () => { chosen.scores = scores; redraw(); } }, text));
  const most = together(heads.filter((o) => o.layer === h.layer).map((o) => o.E), valueOf);  // one scale for heads that are compared
  const large = el("div", { class: "large" }, el("div", { class: "controls" }, el("h3", {}, headTitle(h)), which),
    el("div", { class: "figures" }, heatMap({ ...mapOf(id, false, most), caption: origin(id) }), gradientOf(id) ? gradientFigure(id) : null));
  return [el("p", { class: "tip" }, `${heads.length} ${heads.length === 1 ? "head" : "heads"}${layers.length > 1 ? ` in ${layers.length} layers, a row for each` : ""}. Press one to enlarge it.`), el("div", { class: "model" }, grid, large)];
}

// ---- neuron view: why is this score what it is? q, k, their product, the sum, the weight

function strip(numbers, x, y, w, h, limit) {
  const scale = scaleFor("signed", limit), each_ = w / numbers.length;
  return numbers.map((v, i) => [svg("rect", { x: x + i * each_, y, width: Math.max(each_ - 1, 0.5), height: h, fill: css(scale.rgb(v)) }),
    each_ >= 44 ? svg("text", { x: x + (i + 0.5) * each_, y: y + h / 2 + 5, "text-anchor": "middle", "font-size": 14, fill: textOn(scale.rgb(v)) }, figure(v, 2)) : null]);
}

function neuronView() {
  const h = heads[chosen.head], [Q, K, E, A] = [h.Q, h.K, h.E, h.A].map((id) => (id < 0 ? null : valueOf(id)));
  if (!Q || !K || Q.left_out || K.left_out || E.left_out) return [el("p", { class: "note" }, "The tape does not show how this score was made of a query and a key: they are inside one fused line, or too large for this page.")];
  if (!Q.full || !K.full || !E.full) return [el("p", { class: "note" }, "So many tokens: this page keeps 8 bits of each entry, too little for products. Fewer tokens (--tokens) show this view.")];
  const { queries, keys } = tokensOf(h), colours = palette(), d = Q.cols;
  if (chosen.query >= queries.length) chosen.query = 0;
  const q = chosen.query, vector = (m, r) => Array.from({ length: d }, (_, i) => m.at(r, i)), query = vector(Q, q);
  const w = Math.min(Math.max(d * 52, 150), 230), row = 40, x = { k: 130, p: 130 + w + 40, s: 170 + 2 * w + 30, e: 170 + 2 * w + 120, a: 170 + 2 * w + 215 };
  const most = Math.max(largest(Q), largest(K));
  const rows = keys.map((key, j) => {
    const k = vector(K, j), product = query.map((v, i) => v * k[i]), sum = product.reduce((a, b) => a + b, 0), y = 120 + j * row, weight = A.at(q, j), score = E.at(q, j);
    const text = (at, value) => svg("text", { x: at + 62, y: y + 20, "text-anchor": "end", "font-size": 15, fill: colours.ink }, value);
    return svg("g", {}, svg("text", { x: 120, y: y + 20, "text-anchor": "end", "font-size": 16, fill: colours.ink }, clip(key, 11), svg("title", {}, key)),
      strip(k, x.k, y, w, 30, most), strip(product, x.p, y, w, 30, most * most), text(x.s, figure(sum, 3)), text(x.e, figure(score, 3)),
      svg("rect", { x: x.a, y: y + 2, width: 130 * (weight || 0), height: 26, fill: css(scaleFor("weights").rgb(Math.max(weight, 0.25))) }), svg("text", { x: x.a + 130 * (weight || 0) + 6, y: y + 20, "font-size": 15, fill: colours.ink }, score === -Infinity ? "hidden" : figure(weight, 3)));
  });
  const heading = (at, text, anchor) => svg("text", { x: at, y: 108, "text-anchor": anchor || "start", "font-size": 14, fill: colours.muted }, text);
  const node = svg("svg", { viewBox: `0 0 ${x.a + 200} ${130 + keys.length * row}`, role: "img", "font-family": kFont }, svg("title", {}, `Neuron view of ${headTitle(h)}, query ${queries[q]}`),
    svg("desc", {}, "For the chosen query: its vector q, each key k, their products, the sum, the score, the weight."),
    svg("text", { x: 120, y: 50, "text-anchor": "end", "font-size": 16, "font-weight": 700, fill: colours.ink }, clip(queries[q], 11)), strip(query, x.k, 30, w, 30, most), svg("text", { x: x.k, y: 22, "font-size": 14, fill: colours.muted }, "query q"),
    heading(x.k, "key k"), heading(x.p, "q ∘ k"), heading(x.s + 62, "sum q · k", "end"), heading(x.e + 62, "score E", "end"), heading(x.a, "weight A"), rows);
  node.style.width = `calc(${Math.round(x.a + 200)}px * var(--k, 1))`;
  return [el("div", { class: "controls" }, select("query", queries, q, (i) => { chosen.query = i; redraw(); })), el("div", { class: "figures" }, el("figure", {}, node, el("div", { class: "under" }, saveButton("neuron", node))))];
}

function renderHeads() {
  if (!heads.length) return el("section", {}, el("h2", {}, "Attention"), el("p", { class: "note" }, "No line of this tape holds attention weights (a softmax or its like, whose result is multiplied by values)."));
  const views = { model: ["All heads", modelView], head: ["Head view", headView], neuron: ["Neuron view", neuronView] };
  const tabs = Object.entries(views).map(([key, [text]]) => el("button", { type: "button", "aria-pressed": String(chosen.view === key), onclick: () => { chosen.view = key; redraw(); } }, text));
  const picker = chosen.view === "head" && layers.length > 1 ? select("layer", layers.map(String), chosen.layer, (i) => { chosen.layer = i; redraw(); })
    : chosen.view === "neuron" ? select("head", heads.map(headTitle), chosen.head, (i) => { chosen.head = i; redraw(); }) : null;
  return el("section", { class: "attention" }, el("h2", {}, "Attention"), el("div", { class: "controls", role: "group", "aria-label": "views" }, tabs, picker), views[chosen.view][1]());
}
