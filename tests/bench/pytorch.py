#!/usr/bin/env python3
"""PyTorch's side of tests/bench/run: waits for a line, times it, answers; the lines are described in turns.h.

By hand:  echo '2 0.02 softmax_forward - 6144 256' | python3 tests/bench/pytorch.py

The environment matters more than anything in here: see "traps" in docs/performance.md. tests/bench/run sets it.
"""
import json
import math
import sys
import time

try:
    import torch
    import torch.nn as nn
    import torch.nn.functional as F
except ImportError as e:
    print(json.dumps({"none": str(e)}))
    sys.exit(0)

torch.manual_seed(0)


def forward_backward(f, x, *parameters):
    x.requires_grad_(True)
    g = torch.randn_like(f(x))

    def run():
        x.grad = None
        for p in parameters:
            p.grad = None
        f(x).backward(g)
    return run


def no_grad(f):
    def run():
        with torch.no_grad():
            f()
    return run


def hidden(T):
    return torch.triu(torch.ones(T, T, dtype=torch.bool), 1)


def naive_attention(q, k, v, mask):
    a = (q @ k.transpose(-2, -1)) * (1 / math.sqrt(q.shape[-1]))
    return F.softmax(a.masked_fill(mask, float("-inf")), -1) @ v


def attention(variant, B, H, T, D):
    q, k, v = (torch.randn(B, H, T, D, requires_grad=True) for _ in range(3))
    g, mask = torch.randn(B, H, T, D), hidden(T)
    if variant == "naive":
        f = lambda: naive_attention(q, k, v, mask)
    elif variant == "composite":  # 1.13's private forerunner: one call, but its backward is not fused
        if not hasattr(F, "_scaled_dot_product_attention"):
            return None
        f = lambda: F._scaled_dot_product_attention(q, k, v, None, 0.0, False, True)
    else:
        if not hasattr(F, "scaled_dot_product_attention"):
            return None
        f = lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True)

    def run():
        q.grad = k.grad = v.grad = None
        y = f()
        (y[0] if isinstance(y, tuple) else y).backward(g)
    return run


class Block(nn.Module):
    def __init__(self, C, heads):
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = nn.LayerNorm(C), nn.LayerNorm(C)
        self.qkv, self.out, self.up, self.down = nn.Linear(C, 3 * C), nn.Linear(C, C), nn.Linear(C, 4 * C), nn.Linear(4 * C, C)

    def forward(self, x, mask):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, self.heads, C // self.heads).transpose(1, 2) for t in self.qkv(self.norm_1(x)).split(C, 2))
        if hasattr(F, "scaled_dot_product_attention"):
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            y = naive_attention(q, k, v, mask)
        x = x + self.out(y.transpose(1, 2).reshape(B, T, C))
        return x + self.down(F.gelu(self.up(self.norm_2(x)), approximate="tanh"))


class GPT(nn.Module):
    def __init__(self, L, C, heads, T, V):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(V, C), nn.Embedding(T, C)
        self.blocks = nn.ModuleList(Block(C, heads) for _ in range(L))
        self.norm, self.out = nn.LayerNorm(C), nn.Linear(C, V, bias=False)
        self.register_buffer("mask", hidden(T))

    def forward(self, ids, targets):
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x, self.mask)
        logits = self.out(self.norm(x))
        return F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.view(-1))


def gpt(variant, L, C, heads, T, B, V):
    model = GPT(L, C, heads, T, V)
    ids, targets = torch.randint(0, V, (B, T)), torch.randint(0, V, (B, T))
    optimiser = adam(model.parameters(), 1e-3, "fused")
    if variant == "compile":
        if not hasattr(torch, "compile"):
            return None
        model = torch.compile(model)

    def run():
        optimiser.zero_grad(set_to_none=True)
        model(ids, targets).backward()
        optimiser.step()
    return run


def adam(parameters, rate, variant):
    if variant == "fused" and int(torch.__version__.split(".")[0]) >= 2:
        return torch.optim.AdamW(parameters, lr=rate, fused=True)
    return torch.optim.AdamW(parameters, lr=rate)


def adamw(variant, L, C, T, V):
    if variant == "fused" and int(torch.__version__.split(".")[0]) < 2:
        return None
    model = GPT(L, C, 1, T, V)
    for p in model.parameters():
        p.grad = torch.randn_like(p) * 0.01
    return adam(model.parameters(), 1e-4, variant).step


def chain(n):
    a = torch.full((1, 1), 1.0001, requires_grad=True)
    b = torch.full((1, 1), 1e-6, requires_grad=True)

    def run():
        a.grad = b.grad = None
        x = a
        for _ in range(n // 2):
            x = x * a + b
        x.backward()
    run.per = n
    return run


def make(kind, variant, s):
    """A function that does one piece of work, or None."""
    if kind == "softmax_forward":
        x = torch.randn(*s)
        return no_grad(lambda: F.softmax(x, -1))
    if kind == "softmax_backward":
        y, g = F.softmax(torch.randn(*s), -1), torch.randn(*s)
        return lambda: torch._softmax_backward_data(g, y, -1, torch.float32)
    if kind in ("layer_norm", "layer_norm_forward"):
        norm, x = nn.LayerNorm(s[1]), torch.randn(*s)
        return no_grad(lambda: norm(x)) if kind.endswith("forward") else forward_backward(norm, x, *norm.parameters())
    if kind == "gelu":
        return forward_backward(lambda t: F.gelu(t, approximate="tanh"), torch.randn(*s))
    if kind == "attention":
        return attention(variant, *s)
    if kind == "encoder":
        C, heads, ff, B, T = s
        layer = nn.TransformerEncoderLayer(C, heads, ff, dropout=0.0, activation="gelu", batch_first=True, norm_first=True)
        return forward_backward(layer, torch.randn(B, T, C), *layer.parameters())
    if kind == "adamw":
        return adamw(variant, *s)
    if kind == "gpt":
        return gpt(variant, *s)
    if kind == "op":
        return chain(*s)
    return None


def answer(work, seconds):
    start = time.perf_counter()
    work()  # wakes the threads and fills the caches
    first = time.perf_counter() - start
    calls, per = max(1, math.ceil(20e-6 / first)), getattr(work, "per", 1)
    samples, end = [], time.perf_counter() + seconds
    while not samples or time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(calls):
            work()
        samples.append((time.perf_counter() - start) / calls / per)
    samples.sort()
    return {"n": len(samples), "min": samples[0], "median": samples[len(samples) // 2]}


def main():
    print(json.dumps({"name": "PyTorch", "version": torch.__version__, "fused": hasattr(F, "scaled_dot_product_attention")}), flush=True)
    made, work = None, None
    for line in sys.stdin:
        threads, seconds, kind, variant, *size = line.split()
        torch.set_num_threads(int(threads))
        try:
            # torch.compile fixes the number of threads in its code
            name = (kind, variant, *size) + ((threads,) if variant == "compile" else ())
            if name != made:
                made, work = None, None  # before the next one takes memory
                work = make(kind, variant, [int(n) for n in size])
                made = name
                if work:
                    work()
            print(json.dumps(answer(work, float(seconds)) if work else {"none": "not part of this version"}), flush=True)
        except Exception as e:  # the answer says so; the next line may work
            print(json.dumps({"none": f"{type(e).__name__}: {e}"[:200]}), flush=True)


if __name__ == "__main__":
    main()
