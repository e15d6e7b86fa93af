"""Numbers from PyTorch's nn.MultiheadAttention, with biases, a causal mask and padding, on a batch of two sequences.

Run again only to change the inputs:   pip install numpy torch   python3 multi_head.py
The file in the repository was made with Python 3.11.7, PyTorch 2.15.0 and NumPy 2.4.6, in double precision.
Building and testing never need Python: the tests read multi_head.txt.
"""
import torch
import torch.nn as nn

from write import write


def waves(rows, cols, size, a, b, c, function=torch.cos):  # size * cos(a i + b j + c)
    i = torch.arange(rows, dtype=torch.float64).reshape(-1, 1)
    j = torch.arange(cols, dtype=torch.float64).reshape(1, -1)
    return size * function(a * i + b * j + c)


def run(prefix, n, m, C, C_z, heads, hidden_pairs, hidden_keys):
    """Two sequences, below each other in the file. In this module True means hide."""
    cross = C_z is not None
    layer = nn.MultiheadAttention(C, heads, batch_first=True, bias=True, kdim=C_z, vdim=C_z).double()
    weights = {  # in x out, as in Y = X W
        "q": waves(C, C, 0.6, 1, 2, 0.1), "k": waves(C_z or C, C, 0.6, 2, 1, 1, torch.sin),
        "v": waves(C_z or C, C, 0.6, 3, -1, 0.5), "o": waves(C, C, 0.5, 1, -1, 0.25, torch.sin),
    }
    biases = {"q": waves(1, C, 0.3, 0, 1, 0.2), "k": waves(1, C, 0.3, 0, 2, 0.7, torch.sin),
              "v": waves(1, C, 0.3, 0, 3, 0.1), "o": waves(1, C, 0.3, 0, 1, 0.9, torch.sin)}
    with torch.no_grad():
        if cross:  # three matrices, for their widths differ
            for name in "qkv":
                getattr(layer, name + "_proj_weight").copy_(weights[name].T)
        else:      # one matrix of three blocks
            layer.in_proj_weight.copy_(torch.cat([weights[name].T for name in "qkv"]))
        layer.in_proj_bias.copy_(torch.cat([biases[name].reshape(-1) for name in "qkv"]))
        layer.out_proj.weight.copy_(weights["o"].T)
        layer.out_proj.bias.copy_(biases["o"].reshape(-1))

    X = waves(2 * n, C, 1, 3, 1, 0, torch.sin).requires_grad_()
    Z = waves(2 * m, C_z, 1, 1, 2, 0.25).requires_grad_() if cross else X
    dY = waves(2 * n, C, 1, 2, 3, 1)
    x, z = X.reshape(2, n, C), Z.reshape(2, m, C_z or C)
    Y, A = layer(x, z, z, attn_mask=hidden_pairs, key_padding_mask=hidden_keys, need_weights=True, average_attn_weights=False)
    Y.reshape(2 * n, C).backward(dY)

    numbers = {"X": X, "dY": dY}
    if cross:
        numbers["Z"] = Z
    for name in "qkvo":
        numbers["W_" + name], numbers["b_" + name] = weights[name], biases[name]
    numbers |= {"Y": Y.reshape(2 * n, C), "A": A.reshape(2 * heads * n, m), "dX": X.grad}  # A: sequence by sequence, head by head
    if cross:
        numbers["dZ"] = Z.grad
        dW = [getattr(layer, name + "_proj_weight").grad for name in "qkv"]
    else:
        dW = layer.in_proj_weight.grad.split(C)
    for name, dw, db in zip("qkv", dW, layer.in_proj_bias.grad.split(C)):
        numbers["dW_" + name], numbers["db_" + name] = dw.T, db.reshape(1, -1)
    numbers["dW_o"], numbers["db_o"] = layer.out_proj.weight.grad.T, layer.out_proj.bias.grad.reshape(1, -1)
    return {prefix + name: matrix for name, matrix in numbers.items()}


# The second sequence is shorter: its last key is padding. Every query still sees a key, else this module gives NaN.
causal = torch.triu(torch.ones(4, 4, dtype=torch.bool), diagonal=1)
short = torch.tensor([[False, False, False, False], [False, False, False, True]])
numbers = run("self.", 4, 4, 6, None, 3, causal, short)
# Three queries of width 6, five keys of width 4; the first sequence has four of them.
short = torch.tensor([[False, False, False, False, True], [False, False, False, False, False]])
numbers |= run("cross.", 3, 5, 6, 4, 2, None, short)
write("multi_head.txt", numbers)
