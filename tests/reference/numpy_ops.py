"""The formulas of engine/ops.h once more, in NumPy. Written from the mathematics, not from the C++: two accounts of one thing.

OPS[name](details, operands...) is the value of a line. What is not here, recompute.py takes as given.
"""
import math

import numpy as np

erf = np.vectorize(math.erf, otypes=[float])


def softmax(e):  # a row of nothing but -inf, or of nothing, is a row of zeros
    top = np.max(e, axis=1, keepdims=True, initial=-np.inf)
    w = np.where(np.isneginf(e), 0.0, np.exp(e - np.where(np.isinf(top), 0, top)))
    total = w.sum(axis=1, keepdims=True)
    return np.divide(w, total, out=np.zeros_like(w), where=total > 0)


def log_sum_exp(e):
    return np.logaddexp.reduce(e, axis=1, initial=-np.inf).reshape(-1, 1)


def thresholded(e, alpha):  # max((alpha-1) e - t, 0)^(1/(alpha-1)), t by bisection, so that the row sums to 1
    rows = []
    for row in (alpha - 1) * e:
        low, high = np.max(row) - 1, np.max(row)
        if np.isneginf(high):
            rows.append(np.zeros_like(row))
            continue
        for _ in range(100):
            t = (low + high) / 2
            low, high = (t, high) if np.sum(np.maximum(row - t, 0) ** (1 / (alpha - 1))) >= 1 else (low, t)
        a = np.maximum(row - low, 0) ** (1 / (alpha - 1))
        rows.append(a / a.sum())
    return np.array(rows)


def layer_norm(d, x, gain, bias):
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + d["eps"]) * gain + bias


def cross_entropy(d, x):
    log_p, losses = x - log_sum_exp(x), []
    for row, target in zip(log_p, d["targets"]):
        if target != d["ignore"]:
            spread = d["smoothing"] * row.mean() if d["smoothing"] else 0
            losses.append(-((1 - d["smoothing"]) * row[target] + spread))
    return np.array([[np.mean(losses) if losses else 0.0]])


def keep(d, rows, cols):  # no mask: every pair; one row: the same for all
    k = np.array(d["keep"], dtype=bool) if d["keep"] else np.ones((rows, cols), dtype=bool)
    return np.broadcast_to(k, (rows, cols))


def attend(q, k, v, factor, seen):  # (weights times values, log of the sum of exponentials)
    e = np.where(seen, factor * (q @ np.where(seen.any(0)[:, None], k, 0).T), -np.inf)
    return softmax(e) @ np.where(seen.any(0)[:, None], v, 0), log_sum_exp(e)


def flash_attention(d, q, k, v):
    batch, heads, n, m = d["batch"], d["heads"], len(q) // d["batch"], len(k) // d["batch"]
    dh, dv = q.shape[1] // heads, v.shape[1] // d["kv_heads"]
    rows = []
    for b in range(batch):
        masks = np.array(d["keep"], dtype=bool)
        seen = np.ones((n, m), dtype=bool)
        if masks.size:
            each = len(masks) // d["masks"]
            first = each * b if d["masks"] > 1 else 0
            seen = seen & masks[first:first + each]
        if d["causal"]:
            seen = seen & (np.arange(m) <= np.arange(n)[:, None] + m - n)
        ys, ls = [], []
        for h in range(heads):
            g = h * d["kv_heads"] // heads
            y, l = attend(q[b * n:b * n + n, h * dh:h * dh + dh], k[b * m:b * m + m, g * dh:g * dh + dh],
                          v[b * m:b * m + m, g * dv:g * dv + dv], d["factor"], seen)
            ys.append(y), ls.append(l)
        rows.append(np.hstack(ys + (ls if d["with_L"] else [])))
    return np.vstack(rows)


def sparse_attention(d, q, k, v):
    seen = np.zeros((len(q), len(k)), dtype=bool)
    for i in range(len(q)):
        seen[i, d["keys"][d["starts"][i]:d["starts"][i + 1]]] = True
    return attend(q, k, v, d["factor"], seen)[0]


def causal_sums(d, a, b, v):
    seen = np.arange(len(b)) <= np.arange(len(a))[:, None] + len(b) - len(a) - d["lag"]
    return ((a @ b.T) * seen) @ np.hstack([v, np.ones((len(v), 1))])


def rotary(d, x):
    y, n, width = x.copy(), len(x) // d["batch"], x.shape[1] // d["heads"]
    dims = width if d["dims"] < 0 else d["dims"]
    for row in range(len(x)):
        for h in range(d["heads"]):
            for i in range(dims // 2):
                a, b = (i, i + dims // 2) if d["half"] else (2 * i, 2 * i + 1)
                a, b = a + h * width, b + h * width
                angle = (d["first"] + row % n) * d["spacing"] * d["base"] ** (-2 * i / dims)
                y[row, a] = x[row, a] * math.cos(angle) - x[row, b] * math.sin(angle)
                y[row, b] = x[row, a] * math.sin(angle) + x[row, b] * math.cos(angle)
    return y


def shifted(x, by):  # row t is row t + by of x, 0 outside
    y = np.zeros_like(x)
    for t in range(len(x)):
        if 0 <= t + by < len(x):
            y[t] = x[t + by]
    return y


def conv1d(d, x, w):
    wide = x.shape[1]
    return sum(shifted(x, k - d["left"]) @ w[k * wide:(k + 1) * wide] for k in range(len(w) // wide))


def conv2d_causal(d, x, w):
    tall, wide = w.shape
    y = np.zeros_like(x)
    for a in range(tall):
        for b in range(wide):
            y += w[a, b] * shifted(shifted(x, a - tall + 1).T, b - (wide - 1) // 2).T
    return y


def gelu_tanh(d, x):
    return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def scatter(d, x, shape):
    y = np.zeros(shape)
    np.add.at(y.reshape(-1), np.array(d["places"], dtype=int), x.reshape(-1))
    return y


def sigmoid(x):
    return np.exp(-np.logaddexp(0, -x))


OPS = {
    "add": lambda d, a, b: a + b, "sub": lambda d, a, b: a - b, "mul": lambda d, a, b: a * b, "div": lambda d, a, b: a / b,
    "pow": lambda d, a, b: a ** b, "maximum": lambda d, a, b: np.maximum(a, b),
    "neg": lambda d, x: -x, "scale": lambda d, x: d["factor"] * x, "add_number": lambda d, x: x + d["number"],
    "clamp": lambda d, x: np.clip(x, d["low"], d["high"]), "exp": lambda d, x: np.exp(x), "log": lambda d, x: np.log(x),
    "sin": lambda d, x: np.sin(x), "cos": lambda d, x: np.cos(x), "sqrt": lambda d, x: np.sqrt(x), "abs": lambda d, x: np.abs(x),
    "tanh": lambda d, x: np.tanh(x), "sigmoid": lambda d, x: sigmoid(x), "softplus": lambda d, x: np.logaddexp(0, x),
    "elu_plus_one": lambda d, x: np.where(x > 0, x + 1, np.exp(x)), "relu": lambda d, x: np.maximum(x, 0),
    "gelu": lambda d, x: x * (1 + erf(x / math.sqrt(2))) / 2, "gelu_tanh": gelu_tanh, "silu": lambda d, x: x * sigmoid(x),
    "sum": lambda d, x: x.sum(keepdims=True), "row_sum": lambda d, x: x.sum(1, keepdims=True), "col_sum": lambda d, x: x.sum(0, keepdims=True),
    "mean": lambda d, x: x.mean(keepdims=True), "row_mean": lambda d, x: x.mean(1, keepdims=True), "col_mean": lambda d, x: x.mean(0, keepdims=True),
    "max": lambda d, x: x.max(keepdims=True), "row_max": lambda d, x: x.max(1, keepdims=True), "col_max": lambda d, x: x.max(0, keepdims=True),
    "norm": lambda d, x: np.sqrt((x * x).sum(keepdims=True)), "log_sum_exp": lambda d, x: log_sum_exp(x),
    "matmul": lambda d, a, b: a @ b, "matmul_nt": lambda d, a, b: a @ b.T, "matmul_tn": lambda d, a, b: a.T @ b,
    "linear": lambda d, x, w, b: x @ w + b, "transpose": lambda d, x: x.T, "detach": lambda d, x: x,
    "concat_rows": lambda d, *x: np.vstack(x), "concat_cols": lambda d, *x: np.hstack(x),
    "conv1d": conv1d, "depthwise_conv1d": lambda d, x, w: sum(shifted(x, k - d["left"]) * w[k] for k in range(len(w))), "conv2d_causal": conv2d_causal,
    "softmax": lambda d, e: softmax(e), "sparsemax": lambda d, e: thresholded(e, 2), "entmax15": lambda d, e: thresholded(e, 1.5),
    "log_softmax": lambda d, x: x - log_sum_exp(x), "layer_norm": layer_norm,
    "rms_norm": lambda d, x, gain: x / np.sqrt((x * x).mean(1, keepdims=True) + d["eps"]) * gain,
    "cross_entropy": cross_entropy, "bce_logits": lambda d, x, t: t * np.logaddexp(0, -x) + (1 - t) * np.logaddexp(0, x),
    "mse": lambda d, a, b: ((a - b) ** 2).mean(keepdims=True),
    "kl": lambda d, p, q: np.where(p > 0, p * (np.log(np.where(p > 0, p, 1)) - q), 0).sum(1, keepdims=True),
    "mask": lambda d, x: np.where(keep(d, *x.shape), x, d["other"]), "select": lambda d, a, b: np.where(keep(d, *a.shape), a, b),
    "drop_hidden": lambda d, x: np.where(np.array(d["keep"], dtype=bool).any(0)[:, None], x, 0),
    "top_k_mask": lambda d, x: np.where(np.array(d["chosen"], dtype=bool), x, d["other"]),
    "gather_rows": lambda d, table: table[d["ids"]], "rotary": rotary,
    "attention": lambda d, q, k, v: attend(q, k, v, d["factor"], keep(d, len(q), len(k)))[0],
    "flash_attention": flash_attention, "sparse_attention": sparse_attention, "causal_sums": causal_sums,
}
for row_or_col in ("row", "col", "scalar"):  # NumPy broadcasts by itself
    for op in ("add", "sub", "mul", "div"):
        OPS[f"{op}_{row_or_col}"] = OPS[op]
SHAPED = {"gather_entries": lambda d, x, shape: x.reshape(-1)[d["places"]].reshape(shape), "scatter_entries": scatter}  # these must be told
