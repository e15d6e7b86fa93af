#!/usr/bin/env python3
"""The pages of --html in a real browser.  browser_test.py FOLDER_OF_THE_LESSONS CASE [FILE]

  replay   five lessons: they open from disk without a complaint; arrow keys step on and back; pages, why, theme, paper
  P01_P03  words that look like HTML stay words, and the documents inside the page stay whole
  P05      FILE, a page of 512 tokens, 12 heads, 6 layers: small enough, and it can be used
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import browser

failed = []


def check(name, holds, seen=""):
    if not holds:
        failed.append(name)
        print("FAILED:", name, str(seen)[:300])


def make_page(folder, lessons, name, *options):
    path = os.path.join(folder, name + ".html")
    done = subprocess.run([os.path.join(lessons, name), "--html", path, *options], capture_output=True, text=True)
    check(name + " runs with --html", done.returncode == 0 and "wrote " + path in done.stdout, done.stderr or done.stdout[-200:])
    with open(path, encoding="utf-8") as file:
        return path, file.read()


def document(text, which="data"):
    return json.loads(re.search(r'<script type="application/json" id="%s">(.*?)</script>' % which, text, re.S).group(1))


def settled(page, expression, tries=100):
    """True as soon as the expression is; False if it is not within five seconds."""
    for _ in range(tries):
        if page.js(expression):
            return True
        time.sleep(0.05)
    return False


def step_through(page, name, steps):
    check(name + " begins with its first step", page.js("place.textContent").startswith("1 / %d" % steps), page.js("place.textContent"))
    seen, screens = {}, 0
    while screens < 60:  # a step with many figures takes several screens
        at = page.js("place.textContent")
        seen[at.split()[0]] = page.js("document.querySelector('#page h2').textContent")
        screens += 1
        wide = page.js("(() => { const p = document.getElementById('page'); return document.documentElement.scrollWidth > innerWidth || p.scrollWidth > p.clientWidth + 1; })()")
        check("%s at %s fits the width" % (name, at), not wide)
        tight = page.js("[...document.querySelectorAll('#page .map svg g:not([aria-hidden]) > rect + text')].filter((t) => t.getBBox().width > t.previousElementSibling.getBBox().width - 2).map((t) => t.textContent)")
        check("%s at %s: every number fits its cell" % (name, at), tight == [], tight)
        page.key("ArrowRight")
        if not settled(page, "place.textContent !== %s" % json.dumps(at), 10 if at.startswith("%d /" % steps) else 100):
            break
    check(name + " has every step, in order", list(seen) == [str(i + 1) for i in range(steps)], list(seen))
    check(name + " has a heading for each step", len(set(seen.values())) == steps, seen)
    for _ in range(screens - 1):
        at = page.js("place.textContent")
        page.key("ArrowLeft")
        check(name + " goes back from " + at, settled(page, "place.textContent !== %s" % json.dumps(at)))
    check(name + " is back at the first step", page.js("place.textContent").split()[0] == "1", page.js("place.textContent"))


def ask_why(page, doc):
    """A press on a cell of a gradient: the terms add up to the number that the document holds."""
    step = next(i for i, s in enumerate(doc["steps"]) if s["part"] == "Back" and any(g != doc["root"] for g in s["gradients"]))
    line = next(g for g in doc["steps"][step]["gradients"] if g != doc["root"])
    page.js("location.hash = '#step=%d'" % (step + 1))
    check("the step of a gradient", settled(page, "place.textContent.startsWith('%d /')" % (step + 1)))
    name = "d" + doc["tape"][line]["name"]
    box = page.js("(() => { const f = [...document.querySelectorAll('figure')].find((f) => f.querySelector('strong').textContent === %s);"
                  "const r = f.querySelector('svg g rect').getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()" % json.dumps(name))
    page.click(*box)
    check("why opens", settled(page, "document.getElementById('why').open"))
    said = page.js("document.getElementById('why').textContent")
    stored = doc["tape"][line]["gradient"][0][0]
    check("why says the whole number", repr(abs(stored))[:8] in said, said)
    total = page.js("document.querySelector('#why tfoot td').textContent")
    check("why adds up", total and abs(float(total.replace("−", "-")) - stored) < 1e-5 * (1 + abs(stored)), [total, stored])
    page.js("document.getElementById('why').close()")


def read_with_keys(page, doc):
    """Enter on a heat map, then arrows: the second entry of the first row, all digits."""
    page.js("location.hash = '#step=1'")
    settled(page, "place.textContent.startsWith('1 /')")
    page.js("document.querySelector('#page .map').focus()")
    page.key("Enter")
    page.key("ArrowRight")
    line = doc["tape"][doc["steps"][0]["lines"][0]]
    got = page.js("document.querySelector('#page .readout').textContent")
    check("the keys read an entry", got.endswith("= " + ("%r" % line["value"][0][1]).replace("-", "−")), got)
    page.key("Escape")


FORMULAS = {  # as the lessons write them, and as MathML without <math>, <mrow> and spaces
    "E = Q Kᵀ / √d": "<mi>E</mi><mo>=</mo><mfrac><mi>Q</mi><msup><mi>K</mi><mi>T</mi></msup><msqrt><mi>d</mi></msqrt></mfrac>",
    "L_ij = X_ij − ln Σ_k e^X_ik": "<msub><mi>L</mi><mi>i</mi><mi>j</mi></msub><mo>=</mo><msub><mi>X</mi><mi>i</mi><mi>j</mi></msub><mo>−</mo><mi>ln</mi>"
                                   "<msub><mo>Σ</mo><mi>k</mi></msub><msup><mi>e</mi><msub><mi>X</mi><mi>i</mi><mi>k</mi></msub></msup>",
    "dX = (P − q) / rows": "<mi>d</mi><mi>X</mi><mo>=</mo><mfrac><mi>P</mi><mo>−</mo><mi>q</mi><mi>rows</mi></mfrac>",
    "k = q / |q|": "<mi>k</mi><mo>=</mo><mfrac><mi>q</mi><mo>|</mo><mi>q</mi><mo>|</mo></mfrac>",
    "S_t = S_(t-1) + 1": "<msub><mi>S</mi><mi>t</mi></msub><mo>=</mo><msub><mi>S</mi><mi>t</mi><mo>−</mo><mn>1</mn></msub><mo>+</mo><mn>1</mn>",
    "dR2 = dL/dR2": "<mi>d</mi><mi>R</mi><mn>2</mn><mo>=</mo><mfrac><mi>d</mi><mi>L</mi><mi>d</mi><mi>R</mi><mn>2</mn></mfrac>",
    "M = X W_q2": "<mi>M</mi><mo>=</mo><mi>X</mi><msub><mi>W</mi><mi>q</mi><mn>2</mn></msub>",
    "B = H'_gh": "<mi>B</mi><mo>=</mo><msub><mi>H</mi><mo lspace=\"0\" rspace=\"0\">′</mo><mi>g</mi><mi>h</mi></msub>",
    "one row per word": None,
    "A = softmax(E": None,  # what cannot be read stays as it is
    "f = <b>x</b>": "<mi>f</mi><mo>=</mo><mo>&lt;</mo><mi>b</mi><mo>&gt;</mo><mi>x</mi><mo>&lt;</mo>",
}


def formulas(page):
    for text, want in FORMULAS.items():
        got = page.js("(() => { const m = equation(%s).querySelector('math'); return m && new XMLSerializer().serializeToString(m); })()" % json.dumps(text))
        plain = got and re.sub(r"</?(math|mrow|mspace)[^>]*>|(?<=[a-z]) [a-z:]+=\"[^\"]*\"", "", got)
        check("the formula " + text, plain == want if want is None or "<b>" not in text else plain is None or plain.startswith(want), plain)


def save_figures(page):
    """What "save SVG" writes stands alone: it can be parsed, and needs no style sheet."""
    page.js("(download = (name, text) => { (window.saved ||= []).push([name, text]); }, window.saved = [], true)")
    for where in ("step=4", "tape=9", "heads"):
        page.js("location.hash = '#%s'" % where)
        check("figures of " + where, settled(page, "document.querySelectorAll('#page .small').length > 0 && location.hash === '#%s'" % where))
        page.js("[...document.querySelectorAll('#page .small')].filter((b) => b.textContent === 'save SVG').forEach((b) => b.click())")
    check("save SVG saves", page.js("saved.length") >= 3, page.js("saved.length"))
    check("a saved figure is SVG", page.js("saved.every(([name, text]) => name.endsWith('.svg') && new DOMParser().parseFromString(text, 'image/svg+xml').documentElement.tagName === 'svg')"))
    plain = page.js("saved.filter(([, text]) => /<rect(?![^>]*fill=)/.test(text)).map(([name]) => name)")
    check("a saved figure has its colours", plain == [], plain)


def replay(lessons):
    page = browser.Browser()
    with tempfile.TemporaryDirectory() as folder:
        for name in ("09_self_attention", "12_multi_head", "17_encoder_block", "24_flash_attention", "31_multi_token_attention"):
            path, text = make_page(folder, lessons, name)
            doc = document(text)
            outside = re.findall(r'(?:src|href|action)\s*=\s*["\']?\s*(?:https?:)?//[^"\' >]*|@import|url\(\s*["\']?http', text)
            check(name + " asks for nothing from outside", not outside, outside)
            page.problems.clear()
            page.open(path)
            step_through(page, name, len(doc["steps"]))
            if name.startswith("09"):
                ask_why(page, doc)
                read_with_keys(page, doc)
                check("equations are MathML", page.js("location.hash = '#step=3', true") and settled(page, "document.querySelectorAll('#page msqrt').length > 0"))
                page.key("t")
                check("the theme changes", settled(page, "document.documentElement.dataset.theme === 'dark'"))
                page.js("document.querySelector('details.numbers').open = true")
                check("the table behind the map", settled(page, "document.querySelectorAll('details.numbers td').length > 3"))
                formulas(page)
                save_figures(page)
                page.print_pdf(os.path.join(folder, "paper.pdf"))
                check("all steps are on the paper", page.js("document.querySelectorAll('#paper .step').length") == len(doc["steps"]))
                page.call("Emulation.setEmulatedMedia", media="print")
                shades = page.js("['color', 'backgroundColor'].map((c) => getComputedStyle(document.querySelector('#paper pre'))[c])")
                check("the paper is light, though the screen is dark", shades == ["rgb(21, 24, 29)", "rgb(243, 245, 248)"], shades)
                page.call("Emulation.setEmulatedMedia", media="")
            page.key("2", "Digit2")
            check(name + " has its tape", settled(page, "document.querySelectorAll('.graph .box').length > 3"))
            line = page.js("parseInt(place.textContent)")  # where the steps had come to
            page.key("ArrowRight")
            check(name + " walks the tape", settled(page, f"/^#tape=/.test(location.hash) && parseInt(place.textContent) === {line + 1}"), page.js("place.textContent"))
            page.key("3", "Digit3")
            check(name + " shows attention", settled(page, "document.querySelectorAll('.thumb').length > 0"))
            for view in ("Head view", "Neuron view"):
                page.js("[...document.querySelectorAll('.controls button')].find((b) => b.textContent === '%s').click()" % view)
                check(name + " " + view, settled(page, "document.querySelectorAll('#page figure svg, #page .note').length > 0"))
            check(name + ": not a word on the console", not page.problems, page.problems)
    page.close()


def hostile(lessons):
    words = ["<script>alert(1)</script>", "a<b&c", "</script>", "<!--", "]]>", "<img/src=x/onerror=alert(2)>", "{{script}}", "\"'`\\", "x\u2028y"]
    page = browser.Browser()
    with tempfile.TemporaryDirectory() as folder:
        path, text = make_page(folder, lessons, "09_self_attention", "--text", " ".join(words))
        check("P03 three scripts begin and three end", len(re.findall("<script", text)) == 3 and len(re.findall("</script", text)) == 3)
        check("P03 no comment, no end of CDATA", "<!--" not in text and "]]>" not in text)
        check("P01 the document holds the words as they are", document(text)["words"] == words, document(text)["words"])
        page.open(path, "step=3")
        settled(page, "place.textContent.startsWith('3 /')")
        check("P03 the page works", page.js("document.scripts.length") == 3 and page.js("document.querySelectorAll('.map svg rect').length") > 9)
        shown = page.js("[...document.querySelectorAll('.map svg text > title')].map((t) => t.textContent)")
        for word in words:
            check("P01 a word is shown as it is: " + repr(word), word in shown, shown)
        check("P01 no element was made of a word", page.js("document.querySelectorAll('#page img, #page script, svg image[onerror]').length") == 0)
        for where in ("tape=7", "heads", "about"):
            page.js("location.hash = '#%s'" % where)
            check("P01 " + where, settled(page, "document.querySelector('#page h2') !== null"))
        check("P01 nothing ran, nothing complained", not page.problems, page.problems)
    page.close()


def large(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    size, doc = os.path.getsize(path), document(text)
    check("P05 the page is below 20 MB", size < 20e6, size)
    page = browser.Browser()
    started = time.time()
    page.open(path, "heads")
    check("P05 it opens", settled(page, "document.querySelectorAll('.thumb canvas').length === 72", 600), page.js("document.querySelectorAll('.thumb').length"))
    ready = time.time() - started
    check("P05 it says what it left out", "8 bits" in page.js("document.getElementById('warning').textContent"))
    page.js("document.querySelectorAll('.thumb')[71].click()")
    check("P05 a head can be enlarged", settled(page, "document.querySelector('.large svg image') !== null && document.querySelector('.large h3').textContent === 'layer 5, head 11'", 600))
    page.js("[...document.querySelectorAll('.controls button')].find((b) => b.textContent === 'Head view').click()")
    check("P05 the head view", settled(page, "document.querySelectorAll('#page figure svg line').length > 0", 600))
    page.js("location.hash = '#tape=100'")
    check("P05 the tape shows a neighbourhood", settled(page, "document.querySelectorAll('.graph .box').length > 3", 600))
    check("P05 nothing on the console", not page.problems, page.problems)
    page.close()
    print("%.1f MB, %d lines, open after %.1f s" % (size / 1e6, len(doc["tape"]), ready))


def main():
    if not browser.find_chromium():
        print("no Chromium here: skipped (Debian: apt-get install chromium)")
        return browser.SKIP
    {"replay": replay, "P01_P03": hostile}.get(sys.argv[2], lambda _: large(sys.argv[3]))(sys.argv[1])
    print("%d failed" % len(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
