"""Numbers from PyTorch for causal self-attention: every value and every gradient, into a text file beside this one.

Run again only to change the inputs:   pip install numpy torch   python3 listing_mask.py
The file in the repository was made with Python 3.11.7, PyTorch 2.15.0 and NumPy 2.4.6, in double precision.
Building and testing never need Python: the tests read listing_mask.txt.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

from write import write


# A published tutorial's listing, with its two lines about the mask put where they belong, and n read off the input (in the
# listing it is defined nowhere). There is no dropout in it.
class CausalSelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k)
        self.W_K = nn.Linear(d_model, d_k)
        self.W_V = nn.Linear(d_model, d_v)
        self.d_k = d_k

    def forward(self, X):
        Q = self.W_Q(X)  # (n, d_k)
        K = self.W_K(X)  # (n, d_k)
        V = self.W_V(X)  # (n, d_v)

        scores = torch.matmul(Q, K.transpose(-2, -1)) / (self.d_k ** 0.5)
        n = X.shape[-2]
        mask = torch.tril(torch.ones(n, n))  # Lower triangular
        scores = scores.masked_fill(mask == 0, float('-inf'))
        A = F.softmax(scores, dim=-1)
        Z = torch.matmul(A, V)
        return Z


def waves(rows, cols, size, a, b, c, function=torch.cos):  # size * cos(a i + b j + c)
    i = torch.arange(rows, dtype=torch.float64).reshape(-1, 1)
    j = torch.arange(cols, dtype=torch.float64).reshape(1, -1)
    return size * function(a * i + b * j + c)


n, d_model, d_k, d_v = 5, 4, 3, 2
layer = CausalSelfAttention(d_model, d_k, d_v).double()
weights = {  # in x out, as in Y = X W; nn.Linear keeps the transpose
    "q": waves(d_model, d_k, 0.9, 1, 2, 0),
    "k": waves(d_model, d_k, 0.9, 2, 1, 1, torch.sin),
    "v": waves(d_model, d_v, 0.7, 3, -1, 0.3),
}
biases = {
    "q": waves(1, d_k, 0.25, 0, 1, 0.2),
    "k": waves(1, d_k, 0.25, 0, 2, 0.7, torch.sin),
    "v": waves(1, d_v, 0.25, 0, 3, 0.1),
}
linear = {"q": layer.W_Q, "k": layer.W_K, "v": layer.W_V}
with torch.no_grad():
    for name in linear:
        linear[name].weight.copy_(weights[name].T)
        linear[name].bias.copy_(biases[name].reshape(-1))

X = waves(n, d_model, 1, 3, 1, 0, torch.sin).requires_grad_()
dZ = waves(n, d_v, 1, 2, 3, 1)

Z = layer(X)
Z.backward(dZ)
dX = X.grad.clone()
parameter_gradients = {name: (linear[name].weight.grad.T.clone(), linear[name].bias.grad.reshape(1, -1).clone())
                       for name in linear}

# Once more line by line, keeping the gradients of the values in between; it must end at the same numbers.
X.grad = None
layer.zero_grad()
Q, K, V = layer.W_Q(X), layer.W_K(X), layer.W_V(X)
scores = torch.matmul(Q, K.transpose(-2, -1)) / (layer.d_k ** 0.5)
mask = torch.tril(torch.ones(n, n))
A = F.softmax(scores.masked_fill(mask == 0, float('-inf')), dim=-1)
for value in (Q, K, V, scores, A):
    value.retain_grad()
again = torch.matmul(A, V)
again.backward(dZ)
assert torch.equal(again, Z) and torch.equal(X.grad, dX)

numbers = {"X": X, "dZ": dZ, "mask": mask.double()}
for name in linear:
    numbers["W_" + name], numbers["b_" + name] = weights[name], biases[name]
numbers |= {"Q": Q, "K": K, "V": V, "scores": scores, "A": A, "Z": Z,
            "dQ": Q.grad, "dK": K.grad, "dV": V.grad, "dscores": scores.grad, "dA": A.grad, "dX": dX}
for name in linear:
    numbers["dW_" + name], numbers["db_" + name] = parameter_gradients[name]
write("listing_mask.txt", numbers)
