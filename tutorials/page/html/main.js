// The frame: which page, which step, the keys, the theme, and the paper.

const pages = { step: "Lesson", tape: "Tape", heads: "Attention", about: "Checks" };
const state = { page: "step", at: { step: 0, tape: 0 }, screen: 0, timer: null };
const root = document.getElementById("page"), place = document.getElementById("place"), live = document.getElementById("live");

const count = () => (state.page === "step" ? steps.length : state.page === "tape" ? walk.length : 0);
const position = () => state.at[state.page] || 0;

function renderAbout() {
  const wrong = doc.checks.filter((c) => c.ok === false).length;
  return el("section", { class: "checksheet" }, el("h2", {}, wrong ? `${wrong} of ${doc.checks.length} checks failed` : `All ${doc.checks.length} checks are ok`),
    el("p", {}, "Made by"), el("pre", {}, doc.command), el("p", {}, `Seed ${doc.seed} · ${doc.precision === "f32" ? "single" : "double"} precision · glassgrad ${doc.version} · schema ${doc.schema}`),
    extra.left_out.map((text) => el("p", { class: "note" }, text)),
    el("ul", { class: "checks" }, doc.checks.map((c) => el("li", {}, c.claim, " ", chip({ ok: c.ok, text: c.verdict })))),
    el("h3", {}, "Keys"), el("dl", { class: "keys" }, [["→ ←", "one step on, one back"], ["Home End", "the first, the last"], ["Space", "play, pause"], ["1 2 3 4", "lesson, tape, attention, checks"], ["t", "light, dark"],
      ["Tab, Enter", "into a figure: arrow keys read its entries, Enter explains a gradient, Esc leaves"]].map(([key, text]) => [el("dt", {}, key), el("dd", {}, text)])));
}

function redraw() {
  const { page } = state, n = count(), i = position();
  document.body.dataset.page = page;
  const cut = page === "step" ? screens(i, root) : [];
  state.screen = Math.min(state.screen, Math.max(cut.length - 1, 0));
  const section = page === "step" ? renderStep(i, ...cut[state.screen]) : page === "tape" ? renderTape(i) : page === "heads" ? renderHeads() : renderAbout();
  root.replaceChildren(section);
  document.getElementById("rail").replaceChildren(...(page === "step" ? [renderRail(i)] : []));
  document.querySelector("#rail [aria-current]")?.scrollIntoView({ block: "nearest" });
  place.textContent = n ? `${i + 1} / ${n}` + (cut.length > 1 ? `  (${state.screen + 1} of ${cut.length})` : "") : "";
  document.getElementById("done").style.width = n > 1 ? `${100 * i / (n - 1)}%` : "0";
  document.getElementById("done").classList.toggle("back", page === "step" ? isBack(steps[i]) : page === "tape" && walk[i].back);
  for (const tab of document.querySelectorAll("nav button[data-page]")) tab.setAttribute("aria-current", tab.dataset.page === page ? "page" : "false");
  document.querySelector("footer").hidden = !n;
  if (page === "tape") fit(section.querySelector(".about"), section.clientHeight, 1.1);
  else fit(section, root.clientHeight - 24);
  root.scrollTop = 0;
}

// The address says where we are, so a place can be linked to: #step=3, #step=3,2 (its second screen), #tape=7, #tape=7,back, #heads
function go(page, index, tail) {
  const where = page === "step" ? "=" + (index + 1) : page === "tape" ? "=" + index : "";
  const hash = "#" + page + where + (tail ? "," + tail : "");
  if (location.hash === hash) open();
  else location.hash = hash;
}

function open() {
  const [, page, index, tail] = /^#(step|tape|heads|about)(?:=(\d+))?(?:,(back|\d+))?$/.exec(location.hash) || [null, "step"];
  state.page = page;
  if (page === "step" && index) state.at.step = Math.min(Math.max(Number(index) - 1, 0), steps.length - 1), state.screen = tail > 1 ? tail - 1 : 0;
  if (page === "tape" && index) state.at.tape = Math.max(walk.findIndex((w) => w.id === Number(index) && w.back === (tail === "back")), 0);
  redraw();
  live.textContent = page === "step" ? stepTitle(steps[position()]) : page === "tape" ? root.querySelector("h2").textContent : pages[page];
}

function move(by) {
  const i = Math.min(Math.max(position() + by, 0), count() - 1);
  if (state.page === "step") {
    const screen = state.screen + by;
    if (Math.abs(by) === 1 && screen >= 0 && screen < screens(position(), root).length) return go("step", position(), screen + 1), true;
    if (i !== position()) return go("step", i, by === -1 ? screens(i, root).length : 0), true;
  } else if (count() && i !== position()) {
    return go("tape", walk[i].id, walk[i].back ? "back" : ""), true;
  }
  return false;
}

function play(on) {
  clearInterval(state.timer);
  state.timer = on ? setInterval(() => { if (!move(1)) play(false); }, state.page === "tape" ? 1500 : 4000) : null;
  document.getElementById("play").textContent = on ? "❚❚ Pause" : "▶ Play";
  document.getElementById("play").setAttribute("aria-pressed", String(on));
}

function theme(name) {
  document.documentElement.dataset.theme = name;
  document.getElementById("theme").textContent = name === "dark" ? "Light" : "Dark";
}

// On paper: every step, one below the other, in the light colours, then the tape's list.
function unfold() {
  const before = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
  const all = steps.map((_, i) => renderStep(i));
  for (const section of all) section.style.setProperty("--k", "0.62");
  document.getElementById("paper").replaceChildren(el("h1", {}, document.title), el("p", {}, doc.claim), el("pre", {}, doc.command), ...all, renderAbout());
  document.documentElement.dataset.theme = before;
}

document.querySelector("nav").append(...Object.entries(pages).filter(([page]) => (page !== "heads" || heads.length) && (page !== "tape" || tape.length)).map(([page, text], i) =>
  el("button", { type: "button", "data-page": page, title: `key ${i + 1}`, onclick: () => { play(false); go(page, page === "step" ? state.at.step : walk[state.at.tape]?.id, page === "step" ? state.screen + 1 : walk[state.at.tape]?.back ? "back" : ""); } }, text)));
document.getElementById("back").addEventListener("click", () => move(-1));
document.getElementById("next").addEventListener("click", () => move(1));
document.getElementById("play").addEventListener("click", () => play(!state.timer));
document.getElementById("theme").addEventListener("click", () => { theme(dark() ? "light" : "dark"); redraw(); });
document.getElementById("warning").append(...extra.left_out.map((text) => el("p", {}, text)));

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea") || document.querySelector("dialog[open]")) return;
  const tabs = [...document.querySelectorAll("nav button[data-page]")];
  const jump = (i) => move(i - position());
  const keys = { ArrowRight: () => move(1), ArrowLeft: () => move(-1), PageDown: () => move(1), PageUp: () => move(-1), Home: () => jump(0), End: () => jump(count() - 1), t: () => document.getElementById("theme").click() };
  if (event.key === " " && !event.target.closest("button, a, summary, [role=button]")) keys[" "] = () => play(!state.timer);
  if (tabs[Number(event.key) - 1]) keys[event.key] = () => tabs[Number(event.key) - 1].click();
  if (!keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});
addEventListener("hashchange", open);
addEventListener("resize", redraw);
addEventListener("beforeprint", unfold);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => { theme(event.matches ? "dark" : "light"); redraw(); });

// Without a font that knows mathematics the browser leaves an index almost on the line: then the style sheet moves it.
function tryMathematics() {
  const base = mathml("mi", "x"), index = mathml("mi", "x"), box = el("span", {}, mathml("math", mathml("msub", base, index)));
  document.body.append(box);
  const drop = index.getBoundingClientRect().bottom - base.getBoundingClientRect().bottom, size = base.getBoundingClientRect().height;
  document.documentElement.classList.toggle("plain-math", drop < 0.08 * size);
  box.remove();
}

tryMathematics();
theme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
open();
