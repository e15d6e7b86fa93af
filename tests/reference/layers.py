"""Layer norm, RMS norm, feed-forward, cross-entropy, SGD and AdamW from PyTorch, into a text file beside this one.

Run again only to change the inputs:   pip install numpy torch   python3 layers.py
The file in the repository was made with Python 3.11.7, PyTorch 2.15.0 and NumPy 2.4.6, in double precision.
Building and testing never need Python: the tests read layers.txt.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

from write import write


def waves(rows, cols, size, a, b, c, function=torch.cos):  # size * cos(a i + b j + c)
    i = torch.arange(rows, dtype=torch.float64).reshape(-1, 1)
    j = torch.arange(cols, dtype=torch.float64).reshape(1, -1)
    return size * function(a * i + b * j + c)


numbers = {}

# Both norms, on ordinary and on awkward rows. Every entry is exact in float.
x = torch.tensor([
    [0.5, -1.25, 2, 0.125, 3],              # ordinary
    [4096, 4097, 4098.5, 4095, 4096.25],    # a large mean
    [7, 7, 7, 7, 7],                        # constant: only eps keeps 1 / sigma finite
    [0.0078125, -0.0078125, 0, 0, 0],       # a variance of about eps
    [-1000, 2000, 512, 0, -3],              # a large deviation
], dtype=torch.float64)
dy = waves(5, 5, 1, 2, 3, 1)
gain, bias = waves(1, 5, 1, 0, 1, 0.5), waves(1, 5, 1, 0, 2, 0.25, torch.sin)
numbers |= {"norm.x": x, "norm.dy": dy, "norm.gain": gain, "norm.bias": bias}
layer_norm, rms_norm = nn.LayerNorm(5, eps=1e-5).double(), nn.RMSNorm(5, eps=1e-5).double()
with torch.no_grad():
    layer_norm.weight.copy_(gain.reshape(-1))
    layer_norm.bias.copy_(bias.reshape(-1))
    rms_norm.weight.copy_(gain.reshape(-1))
for name, layer in {"layer_norm": layer_norm, "rms_norm": rms_norm}.items():
    leaf = x.clone().requires_grad_()
    y = layer(leaf)
    y.backward(dy)
    numbers |= {name + ".y": y, name + ".dx": leaf.grad, name + ".dgain": layer.weight.grad.reshape(1, -1)}
numbers["layer_norm.dbias"] = layer_norm.bias.grad.reshape(1, -1)

# Feed-forward: 4 rows, width 3, hidden 5; in x out, as in Y = X W (nn.Linear keeps the transpose).
X, dY = waves(4, 3, 1, 3, 1, 0, torch.sin), waves(4, 3, 1, 2, 3, 1)
W_1, b_1 = waves(3, 5, 0.5, 1, 2, 0), waves(1, 5, 0.25, 0, 1, 0.2)
W_2, b_2 = waves(5, 3, 0.5, 3, -1, 0.5), waves(1, 3, 0.25, 0, 2, 0.7)
numbers |= {"ffn.X": X, "ffn.dY": dY, "ffn.W_1": W_1, "ffn.b_1": b_1, "ffn.W_2": W_2, "ffn.b_2": b_2}
for name, activation in {"relu": nn.ReLU(), "gelu": nn.GELU(), "gelu_tanh": nn.GELU(approximate="tanh")}.items():
    net = nn.Sequential(nn.Linear(3, 5), activation, nn.Linear(5, 3)).double()
    with torch.no_grad():
        for linear, W, b in ((net[0], W_1, b_1), (net[2], W_2, b_2)):
            linear.weight.copy_(W.T)
            linear.bias.copy_(b.reshape(-1))
    leaf = X.clone().requires_grad_()
    Y = net(leaf)
    Y.backward(dY)
    numbers |= {name + ".Y": Y, name + ".dX": leaf.grad,
                name + ".dW_1": net[0].weight.grad.T, name + ".db_1": net[0].bias.grad.reshape(1, -1),
                name + ".dW_2": net[2].weight.grad.T, name + ".db_2": net[2].bias.grad.reshape(1, -1)}

# Cross-entropy, with logits whose softmax vanishes in float and in double. Targets: 2 0 4 1.
logits = torch.tensor([
    [0.5, -1.25, 2, 0.125, 3],
    [1000, -1000, 0, 999, 5],
    [-50, -51, -52, -49.5, -50.25],
    [0, 0, 0, 0, 0],
], dtype=torch.float64, requires_grad=True)
loss = F.cross_entropy(logits, torch.tensor([2, 0, 4, 1]))
loss.backward()
numbers |= {"cross_entropy.logits": logits, "cross_entropy.loss": loss.reshape(1, 1),
            "cross_entropy.dlogits": logits.grad}

# Optimisers: three steps with given gradients, of very different scale. Only W decays.
start = {"W": waves(2, 3, 1, 1, 2, 0.3), "b": waves(1, 3, 1, 0, 3, 1)}
gradients = [{"W": waves(2, 3, 10.0 ** (1 - t), 2, 1, t), "b": waves(1, 3, 0.1, 0, 2, t)} for t in range(3)]
numbers |= {"start." + name: value for name, value in start.items()}
for t in range(3):
    numbers |= {f"gradient{t + 1}.{name}": value for name, value in gradients[t].items()}
optimisers = {
    "adamw": lambda W, b: torch.optim.AdamW([{"params": [W], "weight_decay": 0.1}, {"params": [b], "weight_decay": 0}],
                                            lr=0.05),
    "sgd": lambda W, b: torch.optim.SGD([W, b], lr=0.05),
    "momentum": lambda W, b: torch.optim.SGD([W, b], lr=0.05, momentum=0.9),
    "nesterov": lambda W, b: torch.optim.SGD([W, b], lr=0.05, momentum=0.9, nesterov=True),
}
for name, make in optimisers.items():
    W, b = start["W"].clone().requires_grad_(), start["b"].clone().requires_grad_()
    optimiser = make(W, b)
    for t in range(3):
        W.grad, b.grad = gradients[t]["W"].clone(), gradients[t]["b"].clone()
        optimiser.step()
        numbers |= {f"{name}{t + 1}.W": W.detach().clone(), f"{name}{t + 1}.b": b.detach().clone()}
write("layers.txt", numbers)
