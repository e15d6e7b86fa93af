"""Numbers from PyTorch for a small GPT in three forms: logits, loss, every gradient, and what three steps of AdamW make of it.

Run again only to change the inputs:   pip install numpy torch   python3 gpt.py
The file in the repository was made with Python 3.11.7, PyTorch 2.15.0 and NumPy 2.4.6, in double precision.
Building and testing never need Python: the tests read gpt.txt.
"""
import torch
import torch.nn.functional as F

from write import write

V, HEADS, T, B = 7, 2, 5, 2
IDS = torch.tensor([[3, 1, 4, 1, 5], [0, 6, 2, 5, 3]])
NEXT = torch.tensor([[1, 4, 1, 5, 2], [6, 2, 5, 3, 5]])


def wave(rows, cols, size, shift):
    i = torch.arange(rows, dtype=torch.float64).reshape(-1, 1)
    j = torch.arange(cols, dtype=torch.float64).reshape(1, -1)
    return size * torch.sin(3 * i + 2 * j + shift)


def parameters(C, layers, bias, tied, rotary):
    """Weights are in x out, as in Y = X W."""
    shapes = {"tokens": (V, C)}
    if not rotary:
        shapes["places"] = (T, C)
    for l in range(layers):
        for norm in ("_1", "_2"):
            shapes |= {f"gain{norm}.{l}": (1, C), f"bias{norm}.{l}": (1, C)}
        for name, (rows, cols) in {"qkv": (C, 3 * C), "o": (C, C), "1": (C, 4 * C), "2": (4 * C, C)}.items():
            shapes |= {f"W_{name}.{l}": (rows, cols), f"b_{name}.{l}": (1, cols)}
    shapes |= {"gain": (1, C), "bias": (1, C)}
    if not tied:
        shapes["W_head"] = (C, V)
    out = {}
    for k, (name, (rows, cols)) in enumerate(shapes.items()):
        if not bias and name[0] == "b":
            continue
        out[name] = (wave(rows, cols, 0.3, 0.7 * k) + (name[:4] == "gain")).requires_grad_()
    return out


def turn(x):  # x: B, heads, T, d. Pairs (i, i + d/2)
    d = x.shape[-1]
    angle = torch.arange(T, dtype=torch.float64).reshape(-1, 1) * 10000.0 ** (-2 * torch.arange(d // 2, dtype=torch.float64) / d)
    a, b = x[..., : d // 2], x[..., d // 2:]
    return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)


def model(p, layers, rotary, approximate):
    C = p["gain"].shape[1]

    def linear(x, name):
        return F.linear(x, p["W_" + name].T, p["b_" + name].reshape(-1) if "b_" + name in p else None)

    def norm(x, name):
        bias = p.get("bias" + name)
        return F.layer_norm(x, (C,), p["gain" + name].reshape(-1), None if bias is None else bias.reshape(-1))

    x = F.embedding(IDS, p["tokens"])
    if not rotary:
        x = x + p["places"]
    for l in range(layers):
        q, k, v = linear(norm(x, f"_1.{l}"), f"qkv.{l}").split(C, 2)
        q, k, v = (t.view(B, T, HEADS, C // HEADS).transpose(1, 2) for t in (q, k, v))
        if rotary:
            q, k = turn(q), turn(k)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, C)
        x = x + linear(y, f"o.{l}")
        x = x + linear(F.gelu(linear(norm(x, f"_2.{l}"), f"1.{l}"), approximate=approximate), f"2.{l}")
    x = norm(x, "")
    logits = (x @ p["tokens"].T if "W_head" not in p else x @ p["W_head"]).reshape(B * T, V)
    return logits, F.cross_entropy(logits, NEXT.reshape(-1))


def fingerprint(x):  # one number that changes when entries change, or places
    return (x.reshape(-1) * torch.cos(0.7 * torch.arange(x.numel(), dtype=torch.float64) + 0.3)).sum().reshape(1, 1)


def run(prefix, C, layers, bias, tied, rotary, approximate):
    p = parameters(C, layers, bias, tied, rotary)
    numbers = {name: t.detach().clone() for name, t in p.items()}
    decayed = [t for t in p.values() if t.shape[0] > 1]  # as in nanoGPT: matrices and tables, no biases, no gains
    other = [t for t in p.values() if t.shape[0] == 1]
    adamw = torch.optim.AdamW([{"params": decayed, "weight_decay": 0.1}, {"params": other, "weight_decay": 0.0}], lr=0.01, betas=(0.9, 0.99))
    for step in range(3):
        logits, loss = model(p, layers, rotary, approximate)
        adamw.zero_grad()
        loss.backward()
        if step == 0:
            numbers |= {"logits": logits, "loss": loss.reshape(1, 1)}
            numbers |= {"d" + name: t.grad.clone() for name, t in p.items()}
        adamw.step()
    numbers |= {"after." + name: fingerprint(t.detach()) for name, t in p.items()}
    return {prefix + name: matrix for name, matrix in numbers.items()}


numbers = run("gpt2.", 4, 2, bias=True, tied=True, rotary=False, approximate="tanh")
numbers |= run("bare.", 4, 2, bias=False, tied=False, rotary=False, approximate="none")
numbers |= run("rotary.", 8, 1, bias=True, tied=True, rotary=True, approximate="tanh")
write("gpt.txt", numbers)
