// Formulas such as "E = Q Kᵀ / √d" as MathML. The lessons write them for a terminal; here is the grammar:
//
//   formula   parts that are two or more blanks apart
//   part      term { (= + − ∘ · ← ...) term }
//   term      factors side by side; "a b / c" is a fraction over all of "a b", "a/b" over a alone
//   factor    √factor, ( part ), | part |, Σ_ij, name or number, each with ᵀ ² ' _index ^power behind it
//
// What does not fit, or has no sign of mathematics in it, stays text.

const kSupers = { "ᵀ": "T", "²": "2", "³": "3", "¼": "¼", "ˣ": "x" };
const kOperators = "=+−∘·←→<>≤≥≈∈∝⟂;,:*×±‖?";
const kOpening = { "(": ")", "[": "]" };

function tokens(text) {
  const found = [];
  const pattern = /\s+|[A-Za-zα-ωΑ-Ωφ~]+[0-9]*|[0-9]+(?:\.[0-9]+)?(?:e[0-9]+)?|\.\.\.|\.\.|\+=|-|./gu;
  let blank = false;
  for (const [piece] of text.matchAll(pattern)) {
    if (/^\s+$/.test(piece)) blank = true;
    else {
      found.push({ text: piece === "-" ? "−" : piece, blank });
      blank = false;
    }
  }
  return found;
}

const bare = (node) => (node.inside ? node.inside : [node]);

class Formula {
  constructor(text) {
    this.all = tokens(text);
    this.next = 0;
  }
  peek() { return this.all[this.next]?.text; }
  tight() { return this.next < this.all.length && !this.all[this.next].blank; }
  take() { return this.all[this.next++].text; }

  // Up to a closing sign (or the end).
  part(end) {
    const row = [];
    while (this.next < this.all.length && this.peek() !== end) {
      const sign = this.peek();
      if (sign === "|" && this.opens()) row.push(this.bars());
      else if (sign === "|") row.push(this.operator(false));  // [A | B]
      else if (kOperators.includes(sign) || sign === "+=" || sign === "..." || sign === ".." || sign === "…") row.push(this.operator(row.length === 0));
      else row.push(...this.term(end));
    }
    return row;
  }

  operator(first) {
    const sign = mathml("mo", this.take());
    if (first) sign.setAttribute("form", "prefix");
    return sign;
  }

  // Factors side by side, with a thin space where there was a blank.
  term(end) {
    let row = [];
    while (this.next < this.all.length) {
      const sign = this.peek();
      if (sign === end || kOperators.includes(sign) || ["+=", "...", "..", "…", "|"].includes(sign)) break;
      if (sign === "/") {
        const tight = this.tight();
        this.take();
        const over = tight ? [row.pop()] : row.splice(0);
        if (over[0] === undefined) throw new Error("nothing above the line");
        const below = this.factor();  // a line needs no brackets: (a + b) / c
        const more = below.textContent.startsWith("Σ") ? this.term(end) : [];  // a sum reaches to the end of its term
        row.push(mathml("mfrac", mathml("mrow", over.length === 1 ? bare(over[0]) : over), mathml("mrow", more.length ? [below, more] : bare(below))));
        continue;
      }
      const apart = row.length > 0 && !this.tight() === true;
      const factor = this.factor();
      if (apart) {
        const space = mathml("mspace");
        space.setAttribute("width", factor.wordy || row[row.length - 1].wordy ? "0.35em" : "0.2em");
        row.push(space);
      }
      row.push(factor);
    }
    return row;
  }

  opens() {  // |q| begins with a bar that something touches
    const after = this.all[this.next + 1];
    return after && !after.blank && this.all.slice(this.next + 1).some((token) => token.text === "|");
  }

  bars() {
    this.take();
    const inside = this.part("|");
    if (this.peek() !== "|") throw new Error("a bar stays open");
    this.take();
    return this.behind(mathml("mrow", mathml("mo", "|"), inside, mathml("mo", "|")));
  }

  group() {  // in brackets
    const open = this.take(), close = kOpening[open];
    const inside = this.part(close);
    if (this.peek() !== close) throw new Error("a bracket stays open");
    this.take();
    return { open, close, inside };
  }

  factor() {
    if (this.next >= this.all.length) throw new Error("something is missing");
    const sign = this.peek();
    if (sign === "√") {
      this.take();
      return mathml("msqrt", this.peek() === "(" ? this.group().inside : this.factor());
    }
    if (sign === "|" && this.opens()) return this.bars();
    if (sign === "∂") return mathml("mrow", mathml("mo", this.take()), this.factor());
    if (kOpening[sign]) {
      const { open, close, inside } = this.group();
      const copy = inside.map((node) => node.cloneNode(true)), whole = mathml("mrow", mathml("mo", open), inside, mathml("mo", close));
      const tall = inside.some((node) => node.tagName === "mfrac" || node.querySelector("mfrac"));
      if (!tall) for (const bracket of [whole.firstChild, whole.lastChild]) bracket.setAttribute("stretchy", "false");
      const node = this.behind(whole);
      if (node === whole && open === "(") node.inside = copy;
      return node;
    }
    if (")]".includes(sign)) throw new Error("a bracket too much");
    if (sign === "−") return this.operator(true);  // a negative index or power
    return this.behind(this.name(this.take()));
  }

  name(text) {
    if (/^[0-9¼½]/.test(text)) return mathml("mn", text);
    if (text === "Σ" || text === "∞" || text === "∂") return mathml("mo", text);
    const numbered = /^(.*\D)([0-9]+)$/.exec(text);  // R2, dR2, W_q2: one name
    if (numbered) return mathml("mrow", this.name(numbered[1]), mathml("mn", numbered[2]));
    const differential = /^(dd?)([A-Z]|[a-z]$)/.exec(text);  // dE, dQ, dX: d and the name
    if (differential && text.length <= 3) {
      const d = mathml("mi", "d");
      d.setAttribute("mathvariant", "normal");
      return mathml("mrow", d, mathml("mi", text.slice(1)));
    }
    const node = mathml("mi", text);  // one letter is italic, more are upright
    node.wordy = text.length > 2;
    return node;
  }

  // ᵀ ² ' _index ^power
  behind(base) {
    let index = null, power = null, marks = "";
    while (this.tight()) {
      const sign = this.peek();
      if (kSupers[sign]) {
        this.take();
        const node = mathml(/[T]/.test(kSupers[sign]) ? "mi" : "mn", kSupers[sign]);
        node.setAttribute("mathvariant", "normal");
        power = power ? mathml("mrow", power, node) : node;
      } else if (sign === "'") marks += (this.take(), "′");
      else if (sign === "_" && !index) index = this.script();
      else if (sign === "^" && !power) power = this.script();
      else break;
    }
    if (marks) base = this.marked(base, marks);
    if (index && power) return mathml("msubsup", base, index, power);
    return index ? mathml("msub", base, index) : power ? mathml("msup", base, power) : base;
  }

  marked(base, marks) {  // the sign itself stands high already: as a power it would be far too high
    const mark = mathml("mo", marks);
    for (const [name, value] of [["form", "postfix"], ["lspace", "0"], ["rspace", "0"]]) mark.setAttribute(name, value);
    return mathml("mrow", base, mark);
  }

  script() {
    const power = this.take() === "^";
    if (this.peek() === "(") return mathml("mrow", this.group().inside);
    if (this.peek() === "−") return mathml("mrow", this.operator(true), this.factor());
    if (this.peek() === "√") return this.factor();
    const text = this.take() ?? "";
    const row = /^[A-Za-z]{2}$/.test(text) ? [...text].map((letter) => mathml("mi", letter)) : [this.name(text)];
    if (power && this.tight() && this.peek() === "_") return mathml("mrow", mathml("msub", row[0], this.script()));  // e^X_ik
    return mathml("mrow", row);
  }
}

// One part as a <math> element, or as text.
function equation(text) {
  const plain = () => el("span", { class: "words" }, text);
  if (!/[=∘√Σᵀ←^_∂∈²⟂‖|]|[a-zA-Z] [·] |ln |d[A-Z]\b/u.test(text) && !/^[A-Z]$/.test(text)) return plain();
  if ((text.match(/\b[a-z]{2,}\b/g) || []).length > 6) return plain();  // a sentence
  try {
    const formula = new Formula(text);
    const row = formula.part(undefined);
    const math = mathml("math", mathml("mrow", row));
    math.setAttribute("displaystyle", "true");
    return el("span", { class: "equation", title: text }, math);
  } catch (_) {
    return plain();
  }
}

const equations = (text) => text.split(/\s{2,}/u).filter(Boolean).map(equation);
