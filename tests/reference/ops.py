"""Values and gradients of single ops from PyTorch, into a text file beside this one.

Run again only to change the inputs:   pip install numpy torch   python3 ops.py
The file in the repository was made with Python 3.11.7, PyTorch 2.15.0 and NumPy 2.4.6, in double precision.
Building and testing never need Python: the tests read ops.txt.

For each op: its inputs x0, x1, ..., a random-looking dy, the value y, and the gradients dx0, dx1, ...
An input that gets no gradient (a target) has no dx.
"""
import torch
import torch.nn.functional as F

from write import write


def waves(rows, cols, size, a, b, c=0):  # size * sin(a i + b j + c), rounded: exact in single precision too
    i = torch.arange(rows, dtype=torch.float64).reshape(-1, 1)
    j = torch.arange(cols, dtype=torch.float64).reshape(1, -1)
    return torch.round(64 * size * torch.sin(a * i + b * j + c)) / 64


def matrix(rows):
    return torch.tensor(rows, dtype=torch.float64)


numbers = {}


def record(name, op, *inputs, targets=()):
    x = [t.clone().requires_grad_(k not in targets) for k, t in enumerate(inputs)]
    y = op(*x)
    y = y.reshape(1, 1) if y.dim() == 0 else y
    dy = waves(*y.shape, 2, 1.3, 2.1, 0.7)
    y.backward(dy)
    for k, t in enumerate(x):
        numbers[f"{name}.x{k}"] = t
        if t.requires_grad:
            numbers[f"{name}.dx{k}"] = t.grad
    numbers.update({name + ".dy": dy, name + ".y": y})


# Ordinary numbers, 0, the bend of every curve, and both far ends.
line = matrix([[-3, -1.5, -0.75, -0.25, 0, 0.125], [0.5, 0.75, 1, 2, 2.5, 4], [-60, -20, -7, 7, 20, 60]])
record("gelu", F.gelu, line)
record("gelu_tanh", lambda x: F.gelu(x, approximate="tanh"), line)
record("silu", F.silu, line)
record("softplus", lambda x: F.softplus(x, threshold=1000), line)  # by default it is x itself from 20 on
record("sigmoid", torch.sigmoid, line)
record("tanh", torch.tanh, line)

scores = matrix([[0.5, -1.25, 2, 0.125], [1000, 999, -1000, 998.5], [-1000, -1001, -1003, -999], [7, 7, 7, 7], [-50, 50, 0, 49]])
record("log_softmax", lambda x: F.log_softmax(x, dim=1), scores)
record("log_sum_exp", lambda x: torch.logsumexp(x, dim=1, keepdim=True), scores)

rows = torch.cat([waves(3, 5, 2, 3, 1), 1000 + waves(1, 5, 2, 0, 1.7)])  # the last has a large mean
gain, bias = waves(1, 5, 1.5, 0, 0.9, 1), waves(1, 5, 1, 0, 1.1, 2)
record("layer_norm", lambda x, g, b: F.layer_norm(x, (5,), g[0], b[0], eps=1e-5), rows, gain, bias)
record("rms_norm", lambda x, g: F.rms_norm(x, (5,), g[0], eps=1e-5), rows, gain)

logits = waves(4, 5, 3, 3, 1)
classes = matrix([[2], [0], [-100], [4]])
for name, smoothing in ("cross_entropy", 0), ("cross_entropy_smooth", 0.1):
    record(name, lambda x, t: F.cross_entropy(x, t[:, 0].long(), ignore_index=-100, label_smoothing=smoothing),
           logits, classes, targets=[1])
chances = torch.round(64 * (waves(3, 6, 0.5, 1, 2, 3) + 0.5)) / 64
chances[0, 0], chances[2, 5] = 0, 1
record("bce_logits", lambda x, t: F.binary_cross_entropy_with_logits(x, t, reduction="none"), line, chances, targets=[1])
record("mse", F.mse_loss, waves(3, 4, 2, 3, 1), waves(3, 4, 2, 1, 2))
p = matrix([[0.5, 0.25, 0.125, 0.125], [0, 1, 0, 0], [0.25, 0, 0.5, 0.25]])
record("kl", lambda p, log_q: F.kl_div(log_q, p, reduction="none").sum(1, keepdim=True), p, waves(3, 4, 1, 2, 1) - 2, targets=[0])


def conv1d(X, W, left):  # W holds one C_in x C_out block for each tap, PyTorch wants C_out x C_in x taps
    taps = W.shape[0] // X.shape[1]
    weight = W.reshape(taps, X.shape[1], W.shape[1]).permute(2, 1, 0)
    return F.conv1d(F.pad(X.T[None], (left, taps - 1 - left)), weight)[0].T


signal, kernel = waves(5, 2, 1, 2, 1), waves(6, 3, 1, 1, 2, 0.5)
record("conv1d_causal", lambda X, W: conv1d(X, W, 2), signal, kernel)
record("conv1d_centred", lambda X, W: conv1d(X, W, 1), signal, kernel)

write("ops.txt", numbers)
