// "Why is this gradient what it is?" The terms came with the page: upstream gradient times local derivative, for each entry that reads it.

function explain(id, r, c) {
  const map = mapOf(id, true), m = map.matrix;
  const found = (extra.whys[id] || []).find((w) => w.row === r && w.column === c);
  const dialog = document.getElementById("why"), readers = users[id].filter((u) => gradientOf(u));
  let body;
  if (id === doc.root) body = el("p", {}, "It was given: the way back starts here.");
  else if (found && found.terms.length) body = termsTable(id, r, c, found);
  else if (found) body = el("p", {}, "Nothing came back to it: every term is 0.");
  else body = el("div", {}, el("p", {}, "Too much to explain in a page. The sum of what came back through"), el("ul", {}, readers.map((u) => el("li", {}, origin(u)))),
    el("p", {}, "The terms, on the command line:"), el("pre", {}, `${plainCommand()} --why '${gradientName(id)}[${r},${c}]'`));
  dialog.replaceChildren(el("h2", { id: "why-title" }, "Why?"), el("p", { class: "big" }, `${entryName(map, r, c)} = ${m.full ? exact(m.at(r, c)) : figure(m.at(r, c), 4)}`), body,
    el("form", { method: "dialog" }, el("button", {}, "close")));
  if (!dialog.open) dialog.showModal();
}

const plainCommand = () => doc.command.replace(/ --html(=| +)("[^"]*"|\S+)/, "");

function gradientEntry(id, r, c) {
  const m = gradientOf(id);
  return m && !m.left_out ? entryName(mapOf(id, true), r, c) : `${gradientName(id)}[${r}, ${c}]`;
}

function termsTable(id, r, c, why) {
  const most = Math.max(...why.terms.map((t) => Math.abs(t[5])), 1e-300);
  const rows = why.terms.map(([line, row, column, upstream, local, product]) => el("tr", {},
    el("td", {}, el("button", { type: "button", class: "small", title: "why this one?", onclick: () => explain(line, row, column) }, gradientEntry(line, row, column))),
    el("td", { class: "num" }, figure(upstream, 6)), el("td", { class: "num" }, figure(local, 6)), el("td", { class: "num" }, figure(product, 6)), el("td", {}, bar(product / most)), el("td", {}, origin(line))));
  const heads_ = ["upstream", "", `× ∂/∂${nameOf(id)}`, "= term", "", "came through"];
  return el("div", { class: "scroll tall" }, el("table", {}, el("thead", {}, el("tr", {}, heads_.map((t) => el("th", { scope: "col" }, t)))), el("tbody", {}, rows),
    el("tfoot", {}, el("tr", {}, el("th", { scope: "row", colspan: 3 }, why.more ? `sum, with ${why.more} smaller terms` : "sum"), el("td", { class: "num" }, figure(why.sum, 6)), el("td", { colspan: 2 })))));
}

function bar(part) {
  const colours = palette(), w = 58 * Math.abs(part);
  return svg("svg", { width: 124, height: 16, "aria-hidden": "true" }, svg("line", { x1: 62, x2: 62, y1: 0, y2: 16, stroke: colours.line }),
    svg("rect", { x: part < 0 ? 62 - w : 62, y: 3, width: w, height: 10, fill: part < 0 ? colours.signed[0] : colours.signed[6] }));
}
