"""Layers, networks and their cost, drawn from the numbers of the lessons 09, 14, 17, 19 and 23."""
import math

from draw import BLUE, HEADS, INK, ORANGE, SOFT, Sheet, mixed


def norm(rows):
    return math.sqrt(sum(x * x for row in rows for x in row))


def layer_flow(lesson):
    """Every line of the tape of one head: forward to the right, with the size of its gradient, which came from the right."""
    s = Sheet(760, 460, "One head as a tape", "From X through Q, K and V, the scores E and the weights A to Y. Under each name the norm of its gradient, which the sweep brought from the right.")
    s.text(380, 30, "One layer: values go right, gradients come back", 16, bold=True)
    place = {"X": (24, 200, "input"), "W_q": (140, 70, "weight"), "W_k": (140, 200, "weight"), "W_v": (140, 330, "weight"), "Q": (266, 70, ""),
             "K": (266, 200, ""), "V": (266, 330, ""), "S": (392, 135, "attention"), "E": (392, 225, "attention"), "A": (518, 225, "attention"), "Y": (644, 278, "output")}
    w, h = 92, 58
    by_id = {line["line"]: line["name"] for line in lesson.tape}
    for name, (x, y, kind) in place.items():
        for source in (by_id[i] for i in lesson.lines[name]["from"]):
            sx, sy, _ = place[source]
            if sx == x:
                s.arrow(sx + w / 2, sy + h, x + w / 2, y)
            elif source == "X":
                s.path([(sx + w, sy + h / 2), (sx + w + 10, sy + h / 2), (sx + w + 10, y + h + 14), (x - 12, y + h + 14), (x - 12, y + h - 12), (x - 2, y + h - 12)])
            else:
                s.path([(sx + w, sy + h / 2), (x - 16, sy + h / 2), (x - 16, y + h / 2), (x - 2, y + h / 2)])
        s.box(x, y, w, h, [name, lesson.shape(name).replace(" × ", "×"), f"|d{name}| {norm(lesson.gradient(name)):.2f}"], kind)
    s.path([(736, 422), (24, 422)], colour=HEADS[1], dashed=True)
    s.text(380, 444, "backward: dY is given; dA, dE, dQ, dK, dV, then dW and dX add up what every line sent back", 12, colour=HEADS[1])
    return s.svg()


def waves(lesson):
    """sin and cos of p w_i: the first columns as waves, each pair 10000^(2/C) times longer than the one before."""
    W = lesson.value("waves")
    n, C = len(W), len(W[0])
    s = Sheet(760, 110 + 96 * (C // 2), "Waves of growing length", "Each pair of columns is a sine and a cosine of the place. The wavelengths grow as a geometric sequence.")
    s.text(380, 30, f"Waves whose lengths grow by 10000^(2/C), here by {10000 ** (2 / C):.3g}", 16, bold=True)
    left, wide, places = 210, 380, 64
    for i in range(C // 2):
        w, middle = 10000 ** (-2 * i / C), 110 + 96 * i
        s.text(24, middle - 4, f"columns {2 * i} and {2 * i + 1}", 13, "start", bold=True)
        s.text(24, middle + 14, f"w = {w:.4g}", 12, "start", SOFT)
        s.text(24, middle + 31, f"length 2π / w = {2 * math.pi / w:.4g}", 12, "start", SOFT)
        s.path([(left, middle), (left + wide, middle)], head=False, colour="#d1d9e0")
        for f, colour in ((math.sin, HEADS[0]), (math.cos, HEADS[1])):
            s.path([(left + wide * k / 320, middle - 34 * f(w * places * k / 320)) for k in range(321)], colour, head=False)
        for p in range(n):  # what the lesson has for its own words
            x = left + wide * p / places
            for c, colour in ((2 * i, HEADS[0]), (2 * i + 1, HEADS[1])):
                s.add(f'<circle cx="{x:.1f}" cy="{middle - 34 * W[p][c]:.1f}" r="3" fill="{colour}"/>')
    bottom = 110 + 96 * (C // 2 - 1) + 50
    for p in range(0, places + 1, 16):
        s.text(left + wide * p / places, bottom + 8, str(p), 12, colour=SOFT)
    s.text(left + wide / 2, bottom + 26, "place in the text", 12, colour=SOFT)
    s.text(left, 58, "— sin, even columns", 12, "start", HEADS[0])
    s.text(left + 150, 58, "— cos, odd columns", 12, "start", HEADS[1])
    s.text(left + 300, 58, "● the words of lesson 14", 12, "start", SOFT)
    s.matrix(740 - 11 * C, 110, W, (11, 18), None, lesson.words, "", f"W  {n} × {C}", top=1)
    return s.svg()


def column(s, x, title, boxes, top=84, gap=30, h=48, w=150):
    """Boxes one below the other, joined by arrows. Returns the middle of each."""
    s.text(x + w / 2, top - 14, title, 14, bold=True)
    y, middles = top, []
    for k, (lines, kind) in enumerate(boxes):
        s.box(x, y, w, h, lines, kind)
        if k:
            s.arrow(x + w / 2, y - gap, x + w / 2, y - 2)
        middles.append(y + h / 2)
        y += h + gap
    return middles


def integrations(alone, hybrid, beside, block):
    """Attention alone, behind a convolution, beside one; and the encoder block."""
    s = Sheet(760, 600, "Where attention stands in a network", "Three ways to build attention into a network, with the shapes of lesson 19, and the encoder block of lesson 17.")
    s.text(380, 32, "Attention alone, behind a convolution, beside one; the encoder block", 16, bold=True)
    column(s, 24, "alone", [(["X", alone.shape("X")], "input"), (["attention", "every word sees all"], "attention"), (["Y", alone.result()], "output")])
    column(s, 204, "behind (hybrid)", [(["X", hybrid.shape("X")], "input"), (["convolution, tanh", "three neighbours"], "weight"), (["H", hybrid.shape("H")], ""),
                                       (["attention", "every row sees all"], "attention"), (["Y", hybrid.result()], "output")])
    x, w = 384, 76
    s.text(x + 76, 70, "beside (augmented)", 14, bold=True)
    s.box(x, 84, 152, 48, ["X", beside.shape("X")], "input")
    for k, (name, lines, kind) in enumerate([("local", ["conv"], "weight"), ("global", ["attention"], "attention")]):
        bx = x + 80 * k - 2
        s.path([(x + 76, 132), (x + 76, 147), (bx + w / 2, 147), (bx + w / 2, 160)])
        s.box(bx, 162, w, 48, lines, kind)
        s.arrow(bx + w / 2, 210, bx + w / 2, 238)
        s.box(bx, 240, w, 48, [name, beside.shape(name).replace(" × ", "×")], "")
        s.path([(bx + w / 2, 288), (bx + w / 2, 303), (x + 76, 303), (x + 76, 316)])
    s.box(x, 318, 152, 48, ["Y = [local | global]", beside.result()], "output")
    names = [(["X", block.shape("X")], "input"), (["norm", "N1 " + block.shape("N1").replace(" × ", "×")], "norm"), (["2 heads, W_o", "M " + block.shape("M").replace(" × ", "×")], "attention"),
             (["+", "R1 = X + M"], ""), (["norm", "N2 " + block.shape("N2").replace(" × ", "×")], "norm"), (["feed forward", "H " + block.shape("H").replace(" × ", "×")], "weight"), (["+", "R2 = R1 + F"], "output")]
    y = column(s, 572, "encoder block", names, gap=22, w=140)
    for start, end in ((0, 3), (3, 6)):  # the sums that go around
        s.path([(712, y[start] + 8), (734, y[start] + 8), (734, y[end] - 8), (714, y[end] - 8)], colour=HEADS[0])
    s.text(456, 420, "The blue lines carry X past", 12, colour=HEADS[0])
    s.text(456, 437, "attention and past the feed-", 12, colour=HEADS[0])
    s.text(456, 454, "forward part: two sums.", 12, colour=HEADS[0])
    return s.svg()


def bert(block):
    """BERT: an embedding for word, place and segment, then post-norm encoder blocks, every word seeing both sides."""
    words = block.words
    n = len(words)
    s = Sheet(760, 612, "The flow through BERT", "Words become rows, go through a stack of post-norm encoder blocks in which every word sees every other, and come out as rows that know their sentence.")
    s.text(380, 32, "BERT: post-norm blocks, every word sees both sides", 16, bold=True)
    x0, step = 210, 520 / n
    for i, word in enumerate(words):
        x = x0 + step * (i + 0.5)
        s.box(x - 46, 560, 92, 34, [word], "input")
        s.arrow(x, 560, x, 524)
        s.arrow(x, 126, x, 72)
        s.box(x - 46, 44, 92, 26, [f"row {i}"], "output", 12)
    s.text(24, 582, "words", 13, "start", bold=True)
    s.box(210, 480, 520, 42, ["X = word + place + segment", block.shape("X") + " here"], "input")
    s.text(24, 498, "three tables, added", 12, "start", SOFT)
    A = block.value("A0")
    for i in range(n):  # who takes from whom, in the first head of the lesson
        for j in range(n):
            s.path([(x0 + step * (j + 0.5), 440), (x0 + step * (i + 0.5), 372)], mixed(BLUE, 0.15 + 0.85 * A[i][j]), head=False, width=0.6 + 4 * A[i][j])
    s.text(24, 402, "weights of head 0,", 12, "start", SOFT)
    s.text(24, 418, "thicker is more", 12, "start", SOFT)
    s.arrow(470, 478, 470, 444)
    parts = [(330, ["M = heads(X) W_o", "2 heads here, 12 in BERT base"], "attention"), (262, ["N1 = norm(X + M)", block.shape("N1")], "norm"),
             (194, ["F = gelu(N1 W_1) W_2", "here relu; four times as wide in BERT"], "weight"), (126, ["Y = norm(N1 + F)", block.shape("R2")], "norm")]
    for k, (y, lines, kind) in enumerate(parts):
        s.box(210, y, 520, 42, lines, kind)
        if k:
            s.arrow(470, parts[k - 1][0], 470, y + 44)
    s.add('<rect x="196" y="112" width="548" height="340" rx="10" fill="none" stroke="#8c959f" stroke-dasharray="6 4"/>')
    s.text(24, 270, "one block;", 13, "start", bold=True)
    s.text(24, 288, "BERT base has 12", 12, "start", SOFT)
    s.text(24, 62, "rows that know", 12, "start", SOFT)
    s.text(24, 78, "their sentence", 12, "start", SOFT)
    return s.svg()


def complexity(lesson):
    """Numbers in memory against the length of the text, as measured on the tape of lesson 23, and the two parts of the operations."""
    s = Sheet(760, 415, "What attention costs", "Left: numbers in memory of plain attention, of flash attention and of a window, for 32 to 256 words. Right: operations of a layer of width 512, the part that grows with n and the part that grows with n squared.")
    s.text(380, 30, "What grows with n, and what with n²", 16, bold=True)
    curves = [c for step in lesson.doc["steps"] for c in step["curves"] if c["title"].startswith("numbers in memory")]
    lengths, most, base, tall = [32, 64, 128, 256], max(max(c["values"]) for c in curves), 360, 260
    s.text(190, 68, "numbers in memory, one head", 14, bold=True)
    for g, n in enumerate(lengths):
        for k, c in enumerate(curves):
            h = tall * c["values"][g] / most
            s.add(f'<rect x="{50 + 78 * g + 20 * k:.1f}" y="{base - h:.1f}" width="18" height="{h:.1f}" fill="{HEADS[k]}"/>')
        s.text(50 + 78 * g + 29, base + 18, f"n = {n}", 12, colour=SOFT)
    s.path([(40, base), (364, base)], head=False)
    for k, c in enumerate(curves):
        s.add(f'<rect x="60" y="{92 + 20 * k}" width="12" height="12" fill="{HEADS[k]}"/>')
        s.text(78, 103 + 20 * k, f"{c['name']}: {c['values'][-1]:.0f} at n = {lengths[-1]}", 12, "start", INK)
    ops = lesson.matrix("10^9 operations, C = 512")
    s.text(570, 68, "10⁹ operations of a layer, C = 512", 14, bold=True)
    top = 3.2  # powers of ten
    for g, label in enumerate(ops["columns"]):
        for k, colour in enumerate((mixed(BLUE, 0.55), mixed(ORANGE, 0.8))):
            v = ops["value"][k][g]
            h = tall * (math.log10(v) + 2) / (top + 2)
            s.add(f'<rect x="{428 + 62 * g + 24 * k:.1f}" y="{base - h:.1f}" width="22" height="{h:.1f}" fill="{colour}"/>')
            s.text(428 + 62 * g + 24 * k + (13 if k else 7), base - h - 4, f"{v:.3g}", 10, colour=SOFT)
        s.text(428 + 62 * g + 23, base + 18, label.replace("n = ", ""), 12, colour=SOFT)
    s.path([(418, base), (740, base)], head=False)
    s.text(580, base + 36, "n, the number of words; each unit of height is a factor", 12, colour=SOFT)
    for k, (colour, text) in enumerate(((mixed(BLUE, 0.55), "projections, 8 n C²"), (mixed(ORANGE, 0.8), "scores and mixing, 4 n² C"))):
        s.add(f'<rect x="436" y="{92 + 20 * k}" width="12" height="12" fill="{colour}"/>')
        s.text(454, 103 + 20 * k, text, 12, "start", INK)
    s.text(190, base + 36, "plain: twice the words, four times the bar", 12, colour=SOFT)
    return s.svg()
