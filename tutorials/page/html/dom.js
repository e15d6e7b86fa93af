// Making elements. Text always goes in as text nodes: nothing in this program reads a string as HTML.

const SVG = "http://www.w3.org/2000/svg";
const MATH = "http://www.w3.org/1998/Math/MathML";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(9)) {
    if (child !== undefined && child !== null) node.append(child);  // a string becomes a text node
  }
  return node;
}

const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
const mathml = (tag, ...children) => fill(document.createElementNS(MATH, tag), {}, children);

let made = 0;
const fresh = (prefix) => prefix + ++made;  // an id that nothing else has

// A number for a person: as many decimals as asked for, never "-0.00"; small ones keep what distinguishes them from 0.
function figure(x, digits) {
  if (x === Infinity) return "∞";
  if (x === -Infinity) return "−∞";
  if (Number.isNaN(x)) return "nan";
  const a = Math.abs(x);
  if (a >= 1e5) return x.toExponential(1).replace("-", "−");
  const text = a.toFixed(a >= 1000 ? 0 : a >= 100 ? Math.min(digits, 1) : digits);
  return (x < 0 && Number(text) !== 0 ? "−" : "") + text;
}

// All that is known of it: what JSON holds.
const exact = (x) => (Number.isFinite(x) ? String(x).replace("-", "−") : figure(x, 0));

function clip(text, most) {
  const letters = [...text];
  return letters.length <= most ? text : letters.slice(0, most - 1).join("") + "…";
}

function download(name, text) {
  const link = el("a", { href: URL.createObjectURL(new Blob([text], { type: "image/svg+xml" })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
