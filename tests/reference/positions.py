"""Stretched tables, rotary, ALiBi, T5 and Shaw attention from PyTorch, into a text file beside this one.

Run again only to change the inputs:   pip install numpy torch   python3 positions.py
The file in the repository was made with Python 3.11.7, PyTorch 2.15.0 and NumPy 2.4.6, in double precision.
Building and testing never need Python: the tests read positions.txt.
"""
import torch
import torch.nn.functional as F

from write import write


def waves(rows, cols, size, a, b, c, function=torch.cos):  # size * cos(a i + b j + c)
    i = torch.arange(rows, dtype=torch.float64).reshape(-1, 1)
    j = torch.arange(cols, dtype=torch.float64).reshape(1, -1)
    return size * function(a * i + b * j + c)


numbers = {}

# Tables of L rows, stretched or squeezed to n.
for L, n in ((4, 6), (4, 9), (7, 3), (5, 1), (1, 3), (3, 3)):
    for name, corners in (("half_pixel", False), ("align_corners", True)):
        P = waves(L, 3, 1, 3, 1, 0, torch.sin).requires_grad_()
        y = F.interpolate(P.T[None], size=n, mode="linear", align_corners=corners)[0].T
        y.backward(waves(n, 3, 1, 2, 3, 1))
        numbers |= {f"{name}.{L}.{n}": y, f"{name}.{L}.{n}.dP": P.grad}

# Attention: 4 queries, which are the last of 6 positions, in two heads of width 4, causal.
n, m, H, d = 4, 6, 2, 4
Q, K, V = waves(n, H * d, 1, 3, 1, 0, torch.sin), waves(m, H * d, 1, 2, -1, 0), waves(m, H * d, 1, 1, 2, 0.5, torch.sin)
dY = waves(n, H * d, 1, 2, 3, 1)
query, key = torch.arange(m - n, m).reshape(-1, 1), torch.arange(m).reshape(1, -1)
seen = key <= query


def heads(x):  # rows x (H d) -> H x rows x d
    return x.reshape(x.shape[0], H, -1).transpose(0, 1)


def attend(name, leaves, turn, bias, scale):
    leaves = {key: value.clone().requires_grad_() for key, value in leaves.items()}
    q, k, v = (leaves[key] for key in "QKV")
    y = F.scaled_dot_product_attention(heads(turn(q, query)), heads(turn(k, key.T)), heads(v),
                                       attn_mask=bias(leaves).masked_fill(~seen, float("-inf")), scale=scale)
    y = y.transpose(0, 1).reshape(n, H * d)
    y.backward(dY)
    numbers.update({name + ".Y": y} | {f"{name}.d{key}": leaf.grad for key, leaf in leaves.items()})


def straight(x, position):
    return x


def rotary(half):  # by complex numbers
    def turn(x, position):
        x = heads(x)
        pairs = torch.stack((x[..., :d // 2], x[..., d // 2:]), -1) if half else x.reshape(H, -1, d // 2, 2)
        angle = position.double() * 100.0 ** (-2 * torch.arange(d // 2, dtype=torch.float64) / d)
        y = torch.view_as_real(torch.view_as_complex(pairs.contiguous()) * torch.polar(torch.ones_like(angle), angle))
        y = torch.cat((y[..., 0], y[..., 1]), -1) if half else y.reshape(H, -1, d)
        return y.transpose(0, 1).reshape(-1, H * d)
    return turn


def no_bias(leaves):
    return torch.zeros(H, n, m, dtype=torch.float64)


inputs = {"Q": Q, "K": K, "V": V}
attend("interleaved", inputs, rotary(False), no_bias, None)
attend("half", inputs, rotary(True), no_bias, None)
slopes = torch.tensor([1 / 16, 1 / 256], dtype=torch.float64).reshape(H, 1, 1)
attend("alibi", inputs, straight, lambda leaves: slopes * (key - query), None)

# T5, 8 buckets for distances up to 8, causal: each distance up to 5 has a bucket of its own.
bucket = torch.clamp(query - key, min=0)
assert bucket.max() <= 5
table = waves(8, H, 0.5, 1, 2, 0.3, torch.sin)
attend("t5", inputs | {"B": table}, straight, lambda leaves: leaves["B"][bucket].permute(2, 0, 1), 1.0)

# Shaw, distances clipped to 2, one table for both heads, everything spelled out.
aK, aV = waves(5, d, 0.3, 2, 1, 0.4, torch.sin), waves(5, d, 0.3, 1, 2, 0.9)
leaves = {key: value.clone().requires_grad_() for key, value in (inputs | {"aK": aK, "aV": aV}).items()}
r = torch.clamp(key - query, -2, 2) + 2
keys = heads(leaves["K"])[:, None] + leaves["aK"][r]      # H x n x m x d
values = heads(leaves["V"])[:, None] + leaves["aV"][r]
E = (heads(leaves["Q"])[:, :, None] * keys).sum(-1) / d ** 0.5
A = torch.softmax(E.masked_fill(~seen, float("-inf")), -1)
Y = (A[..., None] * values).sum(2).transpose(0, 1).reshape(n, H * d)
Y.backward(dY)
numbers |= {"shaw.Y": Y} | {f"shaw.d{key}": leaf.grad for key, leaf in leaves.items()}

write("positions.txt", numbers)
