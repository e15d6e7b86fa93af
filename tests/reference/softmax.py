"""Softmax and its gradient from PyTorch, into a text file beside this one.

Run again only to change the inputs:   pip install numpy torch   python3 softmax.py
The file in the repository was made with Python 3.11.7, PyTorch 2.15.0 and NumPy 2.4.6, in double precision.
Building and testing never need Python: the tests read softmax.txt.
"""
import torch

from write import write

blocks = {
    "rows": [
        [0.5, -1.25, 2, 0.125],       # ordinary
        [1000, 999, -1000, 998.5],    # exp(1000) overflows
        [-1000, -1001, -1003, -999],  # exp(-1000) underflows in every entry
        [1e-30, -1e-30, 0, 2e-30],    # tiny: nearly equal weights
        [7, 7, 7, 7],                 # equal
        [-50, 50, 0, 49],             # one entry that hardly counts
    ],
    "column": [[3], [-1000], [1e30]],
    "one": [[-2.5]],
}

numbers = {}
for name, rows in blocks.items():
    E = torch.tensor(rows, dtype=torch.float64, requires_grad=True)
    k = torch.arange(E.numel(), dtype=torch.float64).reshape(E.shape)
    dA = torch.cos(2 * k + 1)
    A = torch.softmax(E, dim=-1)
    A.backward(dA)
    numbers |= {name + ".E": E, name + ".dA": dA, name + ".A": A, name + ".dE": E.grad}
write("softmax.txt", numbers)
