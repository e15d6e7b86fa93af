"""A sheet to draw on: boxes, arrows and matrices as SVG text. White paper, so that it reads on a dark page too."""
import html
import math

INK, SOFT, LINE, PAPER = "#1f2328", "#57606a", "#8c959f", "#ffffff"
FILL = {"": "#f6f8fa", "input": "#ddf4ff", "weight": "#fff1cc", "attention": "#ffe2cc", "norm": "#e6e0ff", "output": "#d7f5dd"}
BLUE, ORANGE = (9, 105, 218), (207, 92, 20)  # safe for red-green deficiency
HEADS = ["#0969da", "#bf5b04", "#5b4bb5", "#1a7f37"]


def mixed(colour, share):
    return "#" + "".join(f"{round(255 + (c - 255) * share):02x}" for c in colour)


def number(x, digits):
    text = f"{x:.{digits}f}"
    return text[1:] if float(text) == 0 and text[0] == "-" else text


class Sheet:
    def __init__(self, width, height, title, about):
        self.width, self.height, self.title, self.about, self.parts = width, height, title, about, []

    def add(self, text):
        self.parts.append(text)

    def text(self, x, y, text, size=13, anchor="middle", colour=INK, bold=False, italic=False):
        style = (' font-weight="600"' if bold else "") + (' font-style="italic"' if italic else "")
        self.add(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{colour}"{style}>{html.escape(text)}</text>')

    def box(self, x, y, w, h, lines, kind="", size=13):
        """A box whose upper left corner is (x, y); the first line is bold, the others are small."""
        self.add(f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" rx="6" fill="{FILL[kind]}" stroke="{LINE}"/>')
        top = y + h / 2 - (len(lines) - 1) * 8 + 4.5
        for i, line in enumerate(lines):
            self.text(x + w / 2, top + 16 * i, line, size if i == 0 else 11.5, bold=i == 0, colour=INK if i == 0 else SOFT)

    def path(self, points, colour=LINE, head=True, dashed=False, width=1.5):
        (x0, y0), (x1, y1) = points[-2], points[-1]
        angle = math.atan2(y1 - y0, x1 - x0)
        line = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        self.add(f'<path d="{line}" fill="none" stroke="{colour}" stroke-width="{width}"' + (' stroke-dasharray="5 4"' if dashed else "") + "/>")
        if head:
            corners = [(x1, y1)] + [(x1 - 8 * math.cos(angle + s), y1 - 8 * math.sin(angle + s)) for s in (0.45, -0.45)]
            self.add('<path d="M' + "L".join(f"{x:.1f} {y:.1f}" for x, y in corners) + f'Z" fill="{colour}"/>')

    def arrow(self, x0, y0, x1, y1, label="", **how):
        self.path([(x0, y0), (x1, y1)], **how)
        if label:
            self.text((x0 + x1) / 2, (y0 + y1) / 2 - 6, label, 12, colour=SOFT)

    def matrix(self, x, y, values, cell=(44, 22), digits=2, rows=(), cols=(), title="", weights=False, top=None, size=11, frame=None):
        """Shaded cells with their numbers. Blue is positive, orange negative. Returns (width, height) without the labels."""
        w, h = cell
        most = 1 if weights else top or max((abs(v) for row in values for v in row), default=0) or 1
        for r, row in enumerate(values):
            for c, v in enumerate(row):
                share = 0.75 * min(1, abs(v) / most)
                self.add(f'<rect x="{x + c * w:.1f}" y="{y + r * h:.1f}" width="{w}" height="{h}" fill="{mixed(BLUE if v >= 0 else ORANGE, share)}" stroke="#d1d9e0"/>')
                if digits is not None:
                    self.text(x + (c + 0.5) * w, y + (r + 0.5) * h + 4, number(v, digits), size)
        wide, tall = w * len(values[0]), h * len(values)
        if frame:
            self.add(f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide}" height="{tall}" fill="none" stroke="{frame}" stroke-width="2"/>')
        for r, label in enumerate(rows):
            self.text(x - 6, y + (r + 0.5) * h + 4, label, 12, "end", SOFT)
        for c, label in enumerate(cols):
            self.text(x + (c + 0.5) * w, y - 5, label, 12, colour=SOFT)
        if title:
            self.text(x + wide / 2, y - (22 if cols else 8), title, 13, bold=True)
        return wide, tall

    def svg(self):
        head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" height="{self.height}" role="img">',
                f"<title>{html.escape(self.title)}</title>", f"<desc>{html.escape(self.about)}</desc>",
                f'<rect x="0.5" y="0.5" width="{self.width - 1}" height="{self.height - 1}" rx="8" fill="{PAPER}" stroke="#d1d9e0"/>',
                '<g font-family="system-ui, DejaVu Sans, Segoe UI, Helvetica, sans-serif">')
        return "\n".join([*head, *self.parts, "</g>", "</svg>"]) + "\n"
