"""Attention, drawn from the numbers of the lessons 09, 10, 12 and 13."""
from draw import BLUE, HEADS, SOFT, Sheet, mixed, number


def projection(lesson):
    """Q, K, V = X W_q, X W_k, X W_v: three roles for every word."""
    s = Sheet(760, 610, "Three projections", "The matrix X, one row for each word, times W_q, W_k and W_v gives queries, keys and values.")
    X = lesson.value("X")
    rows = len(X)
    s.text(380, 30, "One matrix of words, three roles", 16, bold=True)
    s.matrix(64, 315 - 11 * rows, X, (38, 22), 1, lesson.words, title=f"X  {lesson.shape('X')}")
    s.text(140, 333 + 11 * rows, "one row for each word", 12, colour=SOFT)
    for k, (role, says) in enumerate([("q", "what am I looking for?"), ("k", "what am I?"), ("v", "what do I give?")]):
        middle = 135 + 182 * k
        W, result = lesson.value("W_" + role), lesson.value(role.upper())
        s.path([(222, 315), (262, 315), (262, middle), (300, middle)], colour=HEADS[k])
        s.matrix(310, middle - 11 * len(W), W, (38, 22), 1, title=f"W_{role}  {lesson.shape('W_' + role)}")
        s.arrow(310 + 38 * len(W[0]) + 8, middle, 506, middle, f"X W_{role}", colour=HEADS[k])
        s.matrix(556, middle - 11 * len(result), result, (46, 22), 2, lesson.words, title=f"{role.upper()}  {lesson.shape(role.upper())}", frame=HEADS[k])
        s.text(556 + 23 * len(result[0]), middle + 11 * len(result) + 16, says, 12, colour=SOFT, italic=True)
    return s.svg()


def score_flow(lesson):
    """S = Q Kᵀ, E = S / √d, A = softmax(E), each from the one before."""
    s = Sheet(760, 580, "The way of a score", "Queries meet keys: scores, scaled scores, and weights that sum to 1 in every row.")
    n, short = len(lesson.words), [w[:6] for w in lesson.words]
    scale = lesson.lines["E"]["details"]["factor"]
    s.text(380, 30, "From queries and keys to weights", 16, bold=True)
    s.matrix(66, 98, lesson.value("Qhat"), (42, 22), 2, lesson.words, title=f"Q̂  {lesson.shape('Qhat')}")
    s.matrix(66, 290, lesson.value("Khat"), (42, 22), 2, lesson.words, title=f"K̂  {lesson.shape('Khat')}")
    s.text(150, 442, "rows of Q and K, normed", 12, colour=SOFT)
    s.path([(242, 164), (340, 164)])
    s.path([(242, 356), (290, 356), (290, 164), (340, 164)])
    s.matrix(400, 98, lesson.value("S"), (48, 22), 2, lesson.words, short, f"S = Q̂ K̂ᵀ  {lesson.shape('S')}")
    s.arrow(544, 98 + 22 * n + 8, 544, 276, colour=HEADS[0])
    s.text(556, 256, f"times {scale:.3g}", 13, "start", SOFT)
    s.matrix(400, 318, lesson.value("E"), (48, 22), 2, lesson.words, short, f"E = {scale:.3g} S")
    s.path([(544, 318 + 22 * n + 8), (544, 517), (326, 517)], colour=HEADS[0])
    s.text(435, 508, "softmax, row by row", 12, colour=SOFT)
    A = lesson.value("A")
    row = max(range(n), key=lambda i: max(A[i]))
    s.matrix(66, 504, [A[row]], (40, 26), 2, [lesson.words[row]], short, weights=True)
    s.text(66 + 20 * n, 550, f"A, the row of \"{lesson.words[row]}\": its sum is {number(sum(A[row]), 2)}", 12, colour=SOFT)
    return s.svg()


def weighted_sum(lesson):
    """Y_i = Σ_j A_ij V_j for one word i."""
    A, V, Y, words = lesson.value("A"), lesson.value("V"), lesson.value("Y"), lesson.words
    i = max(range(len(A)), key=lambda r: max(A[r]))
    n, d = len(V), len(V[0])
    s = Sheet(760, 120 + 44 * n + 30, "A weighted sum of values", f"The row of {words[i]} in Y is the sum of the rows of V, each times its weight.")
    s.text(380, 30, f"What \"{words[i]}\" takes from every word:  Y = A V", 16, bold=True)
    for x, text in [(130, "weight A"), (340, "value V"), (580, "A times V")]:
        s.text(x, 66, text, 13, bold=True)
    for j in range(n):
        y, a = 82 + 44 * j, A[i][j]
        s.text(60, y + 20, words[j], 13, "end")
        s.add(f'<rect x="72" y="{y + 5}" width="{max(1, 120 * a):.1f}" height="20" fill="{mixed(BLUE, 0.25 + 0.6 * a)}"/>')
        s.text(78 + 120 * a, y + 20, number(a, 4), 12, "start", SOFT)
        s.matrix(340 - 26 * d, y + 3, [V[j]], (52, 24), 2, top=max(abs(v) for row in V for v in row))
        s.text(460, y + 20, "→", 16, colour=SOFT)
        s.matrix(580 - 26 * d, y + 3, [[a * v for v in V[j]]], (52, 24), 2, top=max(abs(v) for row in V for v in row))
        if j:
            s.text(580 - 26 * d - 14, y + 20, "+", 15)
    y = 82 + 44 * n
    s.path([(500, y + 2), (668, y + 2)], head=False)
    s.matrix(580 - 26 * d, y + 14, [Y[i]], (52, 24), 2, top=max(abs(v) for row in V for v in row), frame=HEADS[0])
    s.text(580 - 26 * d - 14, y + 31, f"Y of \"{words[i]}\"  =", 13, "end", bold=True)
    return s.svg()


def multi_head(lesson):
    """One projection, cut into columns; every head attends by itself; the results are joined and mixed."""
    s = Sheet(760, 550, "Several heads", "Q, K and V are cut into columns, one block for each head. Each head has weights of its own. Their outputs stand side by side, and W_o mixes them.")
    words, n = lesson.words, len(lesson.words)
    heads = [name for name in lesson.lines if name[0] == "A" and name[1:].isdigit()]
    per = lesson.lines["Q"]["shape"][1] // len(heads)
    s.text(380, 30, f"{len(heads)} heads: cut, attend, join", 16, bold=True)
    for k, name in enumerate("QKV"):
        M = lesson.value(name)
        y = 84 + 160 * k
        s.matrix(64, y, M, (38, 18), 1, words, title=f"{name}  {lesson.shape(name)}", size=10)
        for h in range(len(heads)):
            s.add(f'<rect x="{64 + 38 * per * h + 1:.1f}" y="{y + 1}" width="{38 * per - 2}" height="{18 * n - 2}" fill="none" stroke="{HEADS[h]}" stroke-width="2.5"/>')
    right = 64 + 38 * per * len(heads)
    for h, name in enumerate(heads):
        y = 96 + 250 * h
        s.path([(right + 8, 290), (right + 40, 290), (right + 40, y + 66), (right + 72, y + 66)], colour=HEADS[h], width=2)
        s.matrix(right + 128, y, lesson.value(name), (26, 22), None, words, [w[:3] for w in words], f"{name} = softmax(Q{'₀₁₂₃'[h]} K{'₀₁₂₃'[h]}ᵀ / √{per})", weights=True, frame=HEADS[h])
        s.path([(right + 128 + 26 * n + 8, y + 66), (right + 128 + 26 * n + 60, y + 66), (right + 128 + 26 * n + 60, 290), (right + 128 + 26 * n + 88, 290)], colour=HEADS[h], width=2)
        s.text(right + 128 + 13 * n, y + 22 * n + 18, f"head {h}: {name} times V, columns {h * per} to {h * per + per - 1}", 12, colour=SOFT)
    x = right + 128 + 26 * n + 96
    s.box(x, 262, 118, 56, ["join", "side by side"], "attention")
    s.arrow(x + 59, 318, x + 59, 362)
    s.box(x, 362, 118, 56, ["W_o", "mixes the heads"], "weight")
    s.arrow(x + 59, 418, x + 59, 462)
    s.box(x, 462, 118, 56, ["Y", lesson.shape("Y")], "output")
    return s.svg()


def cross_attention(lesson):
    """Queries from one text, keys and values from the other."""
    Q, K = lesson.lines["Q"], lesson.lines["K"]
    asking, answering = Q["rows"] or lesson.lines["X"]["rows"], K["rows"] or lesson.lines["Z"]["rows"]
    s = Sheet(760, 500, "Cross-attention", "Queries come from the rows of X, keys and values from the rows of Z: a matrix of weights with a row for each word that asks and a column for each word that answers.")
    s.text(380, 30, "One text asks, another answers", 16, bold=True)
    s.box(40, 60, 190, 60, [f"X  {lesson.shape('X')}", " ".join(asking)], "input")
    s.box(40, 360, 190, 60, [f"Z  {lesson.shape('Z')}", " ".join(answering)], "input")
    for x, y, name, source, colour in [(300, 60, "Q", "X W_q", HEADS[0]), (300, 290, "K", "Z W_k", HEADS[1]), (300, 400, "V", "Z W_v", HEADS[1])]:
        s.box(x, y, 130, 60, [f"{name} = {source}", lesson.shape(name)], "weight")
        start = 90 if name == "Q" else 390
        s.path([(230, start), (262, start), (262, y + 30), (298, y + 30)] if start != y + 30 else [(230, start), (298, start)], colour=colour)
    A = lesson.value("A")
    w, h = min(50, 216 // len(A[0])), 30
    tall = h * len(A)
    s.matrix(520, 150, A, (w, h), 2, asking, answering, f"A = softmax(Q Kᵀ / √d)  {lesson.shape('A')}", weights=True)
    s.path([(430, 90), (462, 90), (462, 150 + tall / 2 - 8), (474, 150 + tall / 2 - 8)], colour=HEADS[0])
    s.path([(430, 320), (462, 320), (462, 150 + tall / 2 + 8), (474, 150 + tall / 2 + 8)], colour=HEADS[1])
    s.text(520 + w * len(A[0]) / 2, 150 + tall + 20, "a row asks, a column answers", 12, colour=SOFT)
    s.path([(430, 430), (522, 430)], colour=HEADS[1])
    s.path([(620, 150 + tall + 30), (620, 398)], colour=HEADS[0])
    s.box(524, 400, 206, 60, ["Y = A V", lesson.shape("Y") + ": a row for each word of X"], "output")
    return s.svg()
