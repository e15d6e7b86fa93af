#!/usr/bin/env python3
"""Draws a lesson's coloured terminal output as SVG, for the README. Needs no package.

    docs/pictures/make.py            rewrites docs/pictures/*.svg from build/release or build/test
    docs/pictures/make.py --check    exits with 1 if a picture is not what the lesson prints today
"""
import html
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CELL, LINE, PAD = 8.4, 18, 12  # pixels: width of a character, height of a line, margin
PALETTE = {  # the 256-colour numbers that engine/print.cpp uses
    195: "#d7ffff", 153: "#afd7ff", 117: "#87d7ff", 111: "#87afff",
    230: "#ffffd7", 223: "#ffd7af", 216: "#ffaf87", 209: "#ff875f"}
TEXT = {"1": "#1f2328", "36": "#0969da", "32": "#1a7f37", "31": "#cf222e"}


def runs(line):
    """(text, background, colour, bold) for each stretch of one style."""
    background, colour, bold = None, "#1f2328", False
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        code = re.fullmatch(r"\x1b\[([0-9;]*)m", part)
        if not code:
            if part:
                yield part, background, colour, bold
        elif code[1] == "0":
            background, colour, bold = None, "#1f2328", False
        elif code[1].startswith("48;5;"):
            background = PALETTE[int(code[1][5:])]
        elif code[1] in TEXT:
            colour, bold = TEXT[code[1]], code[1] == "1"


def svg(lines, title):
    width = max(len(re.sub(r"\x1b\[[0-9;]*m", "", line)) for line in lines) * CELL + 2 * PAD
    height = len(lines) * LINE + 2 * PAD
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" role="img">',
           f"<title>{html.escape(title)}</title>",
           f'<rect width="100%" height="100%" rx="8" fill="#ffffff" stroke="#d1d9e0"/>',
           '<g font-family="ui-monospace, DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14">']
    for row, line in enumerate(lines):
        x, y = PAD, PAD + row * LINE
        for text, background, colour, bold in runs(line):
            w = len(text) * CELL
            if background:
                out.append(f'<rect x="{x:.1f}" y="{y}" width="{w:.1f}" height="{LINE}" fill="{background}"/>')
            for word in re.finditer(r"\S+(?: \S+)*", text):  # each stretch at its own place: renderers fold blanks
                weight = ' font-weight="bold"' if bold else ""
                out.append(f'<text x="{x + word.start() * CELL:.1f}" y="{y + 13}" fill="{colour}"{weight} '
                           f'textLength="{len(word[0]) * CELL:.1f}">{html.escape(word[0])}</text>')
            x += w
    return "\n".join(out + ["</g>", "</svg>"]) + "\n"


def lesson(name):
    programs = [ROOT / "build" / preset / "tutorials" / name for preset in ("release", "test", "debug")]
    programs = sorted((p for p in programs if p.exists()), key=lambda p: p.stat().st_mtime)
    if programs:  # the one built last
        return subprocess.run([programs[-1], "--color", "always", "--width", "80"], check=True, capture_output=True,
                              text=True, env={"LC_ALL": "C.UTF-8"}).stdout.splitlines()
    sys.exit(f"{name} is not built")


def excerpt(lines, first, last):
    start = next(i for i, line in enumerate(lines) if first in line)
    end = next(i for i, line in enumerate(lines) if i > start and last in line)
    return lines[start:end]


def main():
    lines = lesson("09_self_attention")
    part = excerpt(lines, "4. Weights", "5. Output") + excerpt(lines, "Back 3. Through softmax", "Back 4.")
    while not part[-1]:
        part.pop()
    path = ROOT / "docs" / "pictures" / "09_self_attention.svg"
    fresh = svg(part, "Lesson 09: attention weights and the gradient of the scores, shaded by size")
    if "--check" in sys.argv:
        sys.exit(0 if path.exists() and path.read_text() == fresh else f"{path.relative_to(ROOT)} is not up to date: run docs/pictures/make.py")
    path.write_text(fresh)
    print("wrote", path.relative_to(ROOT))


main()
