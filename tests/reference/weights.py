"""Attention with other scores and other weights, from PyTorch and the entmax package, into a text file beside this one.

Run again only to change the inputs:   pip install numpy torch entmax   python3 weights.py
The file in the repository was made with Python 3.11.7, PyTorch 2.15.0, NumPy 2.4.6 and entmax 1.3, in double precision.
Building and testing never need Python: the tests read weights.txt.
"""
import math

import torch
import torch.nn.functional as F
from entmax import entmax15, entmax_bisect, sparsemax

from write import write


def waves(rows, cols, size, a, b, c, function=torch.cos):  # size * cos(a i + b j + c)
    i = torch.arange(rows, dtype=torch.float64).reshape(-1, 1)
    j = torch.arange(cols, dtype=torch.float64).reshape(1, -1)
    return size * function(a * i + b * j + c)


Q, K = waves(5, 4, 1, 3, 1, 0, torch.sin), waves(5, 4, 1, 2, -1, 0)
V, dY = waves(5, 3, 1, 1, 2, 0.5, torch.sin), waves(5, 3, 1, 2, 3, 1)
causal = torch.tril(torch.ones(5, 5, dtype=torch.bool))
gain_q, bias_q = waves(1, 4, 0.5, 0, 1, 0.5) + 1, waves(1, 4, 0.25, 0, 2, 0.25)
gain_k, bias_k = waves(1, 4, 0.5, 0, 2, 1.5) + 1, waves(1, 4, 0.25, 0, 3, 0.75)
numbers = {"gain_q": gain_q, "bias_q": bias_q, "gain_k": gain_k, "bias_k": bias_k}
minus_inf = -torch.inf


def record(name, attend, **learned):  # attend(Q, K, V, learned...) under the loss sum(dY * Y)
    leaves = [x.clone().requires_grad_() for x in (Q, K, V, *learned.values())]
    Y = attend(*leaves)
    Y.backward(dY)
    numbers[name + ".Y"] = Y
    for leaf, key in zip(leaves, ("Q", "K", "V", *learned)):
        numbers[name + ".d" + key] = leaf.grad


def layer_qk(q, k, v, gq, bq, gk, bk):
    q = F.layer_norm(q, (4,), gq.reshape(-1), bq.reshape(-1), eps=1e-6)
    k = F.layer_norm(k, (4,), gk.reshape(-1), bk.reshape(-1), eps=1e-6)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=causal)


def l2(q, k, v, g):
    return F.scaled_dot_product_attention(g * F.normalize(q, dim=-1), F.normalize(k, dim=-1), v, attn_mask=causal, scale=1.0)


def cosine(q, k, v, t):  # as in Swin V2: the temperature of head 1 of two
    tau = torch.clamp(t[0, 1], max=math.log(100)).exp()
    scores = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).T * tau
    return torch.softmax(scores.masked_fill(~causal, minus_inf), -1) @ v


def temperature(q, k, v, t):
    return F.scaled_dot_product_attention(t.exp() * q, k, v, attn_mask=causal, scale=1.0)


def number(x):
    return torch.tensor([[x]], dtype=torch.float64)


record("layer", layer_qk, gain_q=gain_q, bias_q=bias_q, gain_k=gain_k, bias_k=bias_k)
record("l2", l2, g=number(1.75))
record("cosine", cosine, t=torch.tensor([[0.5, 1.25]], dtype=torch.float64))
record("clamped", cosine, t=torch.tensor([[0.5, 5.0]], dtype=torch.float64))
record("temperature", temperature, t=number(0.375))


def scores(q, k):
    return (q @ k.T / 2).masked_fill(~causal, minus_inf)


def with_sink(q, k, v, s):
    column = s.expand(5, 1)
    return torch.softmax(torch.cat([scores(q, k), column], -1), -1)[:, :5] @ v


def soft_cap(q, k, v):
    return torch.softmax((2 * torch.tanh(q @ k.T / 2 / 2)).masked_fill(~causal, minus_inf), -1) @ v


record("sigmoid", lambda q, k, v, b: torch.sigmoid(scores(q, k) + b) @ v, b=number(-math.log(5)))
record("sink", with_sink, s=number(0.3))
record("off by one", lambda q, k, v: with_sink(q, k, v, number(0.0)))
record("soft cap", soft_cap)
# the projections know no -inf, so the mask is far below instead: the weights are 0 all the same
record("sparsemax", lambda q, k, v: sparsemax((q @ k.T * 2).masked_fill(~causal, -1e9), -1) @ v)
record("entmax15", lambda q, k, v: entmax15((q @ k.T * 2).masked_fill(~causal, -1e9), -1) @ v)

z, dp = waves(6, 7, 2, 3, 1, 0.5), waves(6, 7, 1, 2, 3, 1)
z[2] = 1.5     # all alike
z[3] *= 1000   # one far ahead
z[4, 5] = z[4, 2]
numbers |= {"z": z, "dp": dp}
for name, function in {"rows.sparsemax": sparsemax, "rows.entmax15": entmax15, "rows.entmax125": lambda x, _: entmax_bisect(x, 1.25, n_iter=200)}.items():
    leaf = z.clone().requires_grad_()
    p = function(leaf, -1)
    p.backward(dp)
    numbers |= {name + ".p": p, name + ".dz": leaf.grad}

write("weights.txt", {name.replace(" ", "_"): matrix for name, matrix in numbers.items()})
