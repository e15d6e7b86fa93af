"""Numbers from PyTorch for the convolution and the recurrent layer, into a text file beside this one.

Run again only to change the inputs:   pip install numpy torch   python3 integration.py
The file in the repository was made with Python 3.11.7, PyTorch 2.15.0 and NumPy 2.4.6, in double precision.
Building and testing never need Python: the tests read integration.txt.
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
n, inside, width = 5, 3, 4
X = waves(n, inside, 1, 3, 1, 0, torch.sin)
dY = waves(n, width, 1, 2, 3, 1)

rnn = nn.RNN(inside, width, batch_first=True).double()
with torch.no_grad():
    rnn.weight_ih_l0.copy_(waves(inside, width, 0.5, 1, 2, 0).T)
    rnn.weight_hh_l0.copy_(waves(width, width, 0.5, 2, 1, 1, torch.sin).T)
    rnn.bias_ih_l0.copy_(waves(1, width, 0.25, 0, 1, 0.2).reshape(-1))
    rnn.bias_hh_l0.zero_()
leaf = X.clone().requires_grad_()
H = rnn(leaf.unsqueeze(0))[0].squeeze(0)
H.backward(dY)
numbers |= {"rnn.H": H, "rnn.dX": leaf.grad, "rnn.dW_x": rnn.weight_ih_l0.grad.T, "rnn.dW_h": rnn.weight_hh_l0.grad.T,
            "rnn.db_x": rnn.bias_ih_l0.grad.reshape(1, -1)}

# W_k is rows k*inside ... of a (taps inside) x width matrix; conv1d wants (out, in, taps).
taps = 3
W, b = waves(taps * inside, width, 0.5, 1, 2, 0), waves(1, width, 0.25, 0, 1, 0.2)
for name, left in {"centred": 1, "causal": 2}.items():
    leaf, weight, bias = X.clone().requires_grad_(), W.clone().requires_grad_(), b.clone().requires_grad_()
    kernel = weight.reshape(taps, inside, width).permute(2, 1, 0)
    Y = F.conv1d(F.pad(leaf.T.unsqueeze(0), (left, taps - 1 - left)), kernel, bias.reshape(-1)).squeeze(0).T
    Y.backward(dY)
    numbers |= {f"{name}.Y": Y, f"{name}.dX": leaf.grad, f"{name}.dW": weight.grad, f"{name}.db": bias.grad}

write("integration.txt", numbers)
