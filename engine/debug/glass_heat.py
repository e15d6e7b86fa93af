"""A matrix as shades of grey, or of blue and orange on a terminal."""

MOST = 24  # rows and columns drawn; more are joined into blocks
SHADES, ASCII = " ░▒▓█", " .:*#"
BLUE, ORANGE = (195, 153, 117, 111), (230, 223, 216, 209)  # the colours of the lessons: positive, negative


def blocks(n):
    """[(first, one past the last)] of at most MOST nearly equal parts of 0..n-1."""
    parts = min(n, MOST)
    return [(n * i // parts, n * (i + 1) // parts) for i in range(parts)]


def largest(numbers):
    """The entry that stands for a block: one that is not finite, else the one of largest size."""
    best = 0.0
    for x in numbers:
        if x - x != 0:  # nan or inf
            return x
        if abs(x) > abs(best):
            best = x
    return best


def cell(x, scale, color, ascii):
    """Three columns: a sign and two of shade."""
    if x - x != 0:  # nan or inf
        return " ??" if x != x else " !!" if x > 0 else "-!!"
    level = min(4, int(abs(x) / scale * 4.999)) if scale else 0
    sign = "-" if x < 0 and level else " "
    if color and level:
        return "\x1b[48;5;%dm\x1b[38;5;16m %s \x1b[0m" % ((BLUE if x > 0 else ORANGE)[level - 1], "-" if x < 0 else " ")
    return sign + (ASCII if ascii else SHADES)[level] * 2


def shades(rows, color, ascii):
    """ ", darkest = 0.8721" and the picture. """
    finite = [abs(x) for row in rows for x in row if x - x == 0]
    scale = max(finite, default=0.0)
    n_rows, n_cols = len(rows), len(rows[0]) if rows else 0
    out = [", darkest %.4g" % scale if scale else ", no entry but 0" if finite else ""]
    if not n_rows or not n_cols:
        return out[0]
    down, across = blocks(n_rows), blocks(n_cols)
    if len(down) < n_rows or len(across) < n_cols:
        out[0] += ", a cell stands for up to %d x %d entries" % (max(b - a for a, b in down), max(b - a for a, b in across))
    if any(x - x != 0 for row in rows for x in row):
        out[0] += ", ?? nan, !! infinite"
    width = len(str(n_rows - 1))
    out.append("  " + " " * width + "".join("%3s" % (str(a)[-2:]) for a, b in across))
    for r0, r1 in down:
        picture = ""
        for c0, c1 in across:
            picture += cell(largest(x for row in rows[r0:r1] for x in row[c0:c1]), scale, color, ascii)
        out.append(("  %*d" % (width, r0) + picture).rstrip())
    return "\n".join(out)
