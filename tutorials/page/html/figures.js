// Lines of the tape as figures: a value, a gradient, or one beside the other.

function kindOf(id) {
  if (isWeights(id) || tape[id].op === "softmax") return "weights";
  return "signed";
}

// Maps with a word on both sides are square: who looks at whom.
function isAttention(id) {
  const { rows, cols } = labelsOf(id);
  return (rows.length > 0 && cols.length > 0) || heads.some((h) => h.maps.includes(id));
}

// Weights go from 0 to 1, so that heads compare. Of many keys each gets little: then to the largest weight of all heads.
function weightLimit(id) {
  const many = (i) => Math.max(...tape[i].shape) > kCells;
  if (!many(id)) return 1;
  const all = heads.some((h) => h.A === id) ? heads.map((h) => h.A).filter(many) : [id];
  return once("limit" + all[0], () => Math.max(...all.map((i) => largest(valueOf(i))), 1e-300));
}

function mapOf(id, gradient, limit) {
  const head = heads.find((h) => h.maps.includes(id));
  const given = labelsOf(id), tokens = head ? tokensOf(head) : null;
  const matrix = gradient ? gradientOf(id) : valueOf(id);
  return {
    name: gradient ? gradientName(id) : nameOf(id), matrix, square: isAttention(id), axes: Boolean(head),
    kind: gradient ? "signed" : kindOf(id), limit: !gradient && kindOf(id) === "weights" ? weightLimit(id) : limit ?? largest(matrix),
    rows: given.rows.length || !tokens ? given.rows : tokens.queries, cols: given.cols.length || !tokens ? given.cols : tokens.keys,
    hidden: gradient ? null : hiddenOf(id),
    choose: gradient && (!matrix || matrix.full) ? (r, c) => explain(id, r, c) : null,
  };
}

const chip = (verdict) => el("span", { class: verdict.text === "given" || verdict.ok === null ? "chip given" : verdict.ok ? "chip ok" : "chip wrong" }, `${verdict.text === "given" || verdict.ok === null ? "•" : verdict.ok ? "✓" : "✗"} ${verdict.text}`);

// Where a line comes from; a press on it opens it on the tape.
function origin(id) {
  const line = tape[id];
  return el("button", { type: "button", class: "origin", title: sourceText(id) || "show this line of the tape", onclick: () => go("tape", id) },
    `%${id} ${line.op}${line.scope ? " · " + line.scope : ""} · ${sourceOf(id).replace(/^.*\//, "")}`);
}

function valueFigure(id, limit) {
  return heatMap({ ...mapOf(id, false, limit), caption: origin(id) });
}

function gradientFigure(id, limit) {
  const g = gradientOf(id), verdict = verdictOf(id);
  const size = g && !g.left_out && g.full ? el("span", { class: "muted" }, `norm ${figure(norm(g), 4)} `) : null;
  return heatMap({ ...mapOf(id, true, limit), caption: el("div", { class: "origin" }, size, verdict ? chip(verdict) : null) });
}

// On the way back: the value, and beside it the gradient.
function pair(id, limit) {
  return el("div", { class: "pair" }, valueFigure(id), gradientOf(id) ? gradientFigure(id, limit) : null);
}

const together = (ids, get) => Math.max(...ids.map((id) => largest(get(id))), 0);  // one scale for what stands side by side
