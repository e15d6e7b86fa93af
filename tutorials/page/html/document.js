// The document that the lesson wrote (docs/json.md), and what follows from it: matrices, labels, who reads whom.

const doc = JSON.parse(document.getElementById("data").textContent);
const extra = JSON.parse(document.getElementById("extra").textContent);
const tape = doc.tape;
const kMinusInf = 253, kInf = 254, kNan = 255;  // in a map of bytes

// A matrix as it stands in the document: rows of numbers, or a map of bytes where those would be too many, or nothing.
function decode(stored, shape) {
  if (!stored) return null;
  if (stored.left_out) return { rows: shape[0], cols: shape[1], left_out: true };
  if (Array.isArray(stored)) {
    const numbers = stored.map((row) => row.map((x) => (typeof x === "number" ? x : x === "nan" ? NaN : x === "inf" ? Infinity : -Infinity)));
    return { rows: shape[0], cols: shape[1], at: (r, c) => numbers[r][c], full: true };
  }
  const bytes = Uint8Array.from(atob(stored.map), (letter) => letter.charCodeAt(0));
  const step = (stored.high - stored.low) / 252;
  const at = (r, c) => {
    const b = bytes[r * stored.columns + c];
    return b === kMinusInf ? -Infinity : b === kInf ? Infinity : b === kNan ? NaN : stored.low + b * step;
  };
  return { rows: stored.rows, cols: stored.columns, at, full: false, of: shape };
}

const kept = new Map();
function once(key, make) {
  if (!kept.has(key)) kept.set(key, make());
  return kept.get(key);
}
const valueOf = (id) => once("v" + id, () => decode(tape[id].value, tape[id].shape));
const gradientOf = (id) => once("g" + id, () => decode(tape[id].gradient, tape[id].shape));

function each(m, visit) {
  for (let r = 0; r < m.rows; ++r) for (let c = 0; c < m.cols; ++c) visit(m.at(r, c), r, c);
}

function largest(m) {  // of the finite numbers, without sign
  let most = 0;
  if (m && !m.left_out) each(m, (x) => { if (Number.isFinite(x)) most = Math.max(most, Math.abs(x)); });
  return most;
}

function norm(m) {
  let sum = 0;
  each(m, (x) => { sum += x * x; });
  return Math.sqrt(sum);
}

const nameOf = (id) => tape[id].name || "%" + id;
const gradientName = (id) => "d" + nameOf(id);
const shapeText = (shape) => shape[0] + " × " + shape[1];
const sourceText = (id) => extra.sources[id] || "";
const sourceOf = (id) => tape[id].source.file + ":" + tape[id].source.line;

// Labels of rows and columns; a view of whole rows has those of its parent.
function labelsOf(id) {
  const line = tape[id];
  let rows = line.rows, cols = line.columns;
  if (!rows.length && line.view && line.view.row === 0 && tape[line.view.of].shape[0] === line.shape[0]) rows = labelsOf(line.view.of).rows;
  return { rows, cols };
}

// ---- who reads a line, and on which lines of the tape attention weights stand

const users = tape.map(() => []);
tape.forEach((line) => line.from.forEach((id) => users[id].push(line.line)));

const kWeights = ["softmax", "sparsemax", "entmax15", "sigmoid"];
const mixes = (id) => users[id].find((u) => tape[u].op === "matmul" && tape[u].from[0] === id && tape[u].from[1] !== id);  // A V

// Back from scores to the product Q Kᵀ, through scale, mask, added positions; the lines on the way, or null.
function toProduct(id) {
  const way = [];
  for (let steps = 0; steps < 10; ++steps) {
    way.push(id);
    if (tape[id].op === "matmul_nt") return way;
    if (!tape[id].from.length) return null;
    id = tape[id].from[0];
  }
  return null;
}

// Weights of attention: what mixes values, or what was made of a product of queries and keys.
const isWeights = (id) => once("w" + id, () => kWeights.includes(tape[id].op) && (mixes(id) !== undefined || (tape[id].op !== "sigmoid" && toProduct(tape[id].from[0]) !== null)));
const isSoftmax = (id) => tape[id].op === "softmax" || isWeights(id);

// A weight whose score is -inf was hidden by a mask: that is not the same as a small one.
function hiddenOf(id) {
  if (!isSoftmax(id)) return null;
  const scores = valueOf(tape[id].from[0]), weights = valueOf(id);
  if (!scores || scores.left_out || !weights || scores.rows !== weights.rows || scores.cols !== weights.cols) return null;
  return (r, c) => scores.at(r, c) === -Infinity;
}

const number = (text, word) => {
  const found = new RegExp("\\b" + word + " (\\d+)").exec(text);
  return found ? Number(found[1]) : -1;
};

// Every head: its weights A, the scores E, and where the tape shows them, Q and K.
function findHeads() {
  const found = [];
  let layer = 0, last = -1;
  for (const line of attentionLines()) {
    const E = line.from[0], way = toProduct(E), [Q, K] = way ? tape[way[way.length - 1]].from : [-1, -1];
    const head = { A: line.line, E, Q, K, maps: [line.line, ...(way || [E])], layer: number(line.scope, "layer"), head: number(line.scope, "head") };
    if (head.layer < 0) head.layer = head.head >= 0 && head.head <= last ? ++layer : layer;
    layer = head.layer;
    if (head.head < 0) head.head = found.filter((h) => h.layer === layer).length;
    last = head.head;
    found.push(head);
  }
  return found;
}

// What stands behind the root was recorded for a comparison: it counts only where there is nothing else.
function attentionLines() {
  const all = tape.filter((line) => isWeights(line.line)), before = all.filter((line) => doc.root !== null && line.line <= doc.root);
  return before.length ? before : all;
}
const heads = findHeads();

// Tokens of a head's queries and keys: labels if the lesson gave some, else its words if there are as many, else numbers.
function tokensOf(head) {
  const [n, m] = tape[head.A].shape;
  const pick = (given, size) => (given && given.length === size ? given : doc.words.length === size ? doc.words : Array.from({ length: size }, (_, i) => String(i)));
  const label = [labelsOf(head.A), labelsOf(head.E)];
  return { queries: pick(label.find((l) => l.rows.length === n)?.rows, n), keys: pick(label.find((l) => l.cols.length === m)?.cols, m) };
}

// The verdict of a gradient: by central differences, "given" for the root, or none.
function verdictOf(id) {
  if (id === doc.root) return { ok: true, text: "given" };
  const check = doc.checks.find((c) => c.line === id);
  return check ? { ok: check.ok, text: check.verdict } : null;
}
