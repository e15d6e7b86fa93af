"""A lesson's coloured terminal output as SVG."""
import html
import re

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
           '<rect width="100%" height="100%" rx="8" fill="#ffffff" stroke="#d1d9e0"/>',
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


def excerpt(lines, first, last):
    start = next(i for i, line in enumerate(lines) if first in line)
    end = next(i for i, line in enumerate(lines) if i > start and last in line)
    return lines[start:end]
