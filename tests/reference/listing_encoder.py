"""Numbers from PyTorch for transformer blocks: every value and every gradient, into a text file beside this one.

Run again only to change the inputs:   pip install numpy torch   python3 listing_encoder.py
The file in the repository was made with Python 3.11.7, PyTorch 2.15.0 and NumPy 2.4.6, in double precision, dropout 0.
Building and testing never need Python: the tests read listing_encoder.txt.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import MultiheadAttention

from write import write


# A published tutorial's listing, word for word: pre-norm, ReLU, a hidden width of 2048, no norm at the end. Its
# MultiheadAttention takes (sequence, batch, channels).
class TransformerEncoderLayer(nn.Module):
    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1):
        super().__init__()
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout)
        self.linear1 = nn.Linear(d_model, dim_feedforward)
        self.dropout = nn.Dropout(dropout)
        self.linear2 = nn.Linear(dim_feedforward, d_model)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout1 = nn.Dropout(dropout)
        self.dropout2 = nn.Dropout(dropout)

    def forward(self, src, src_mask=None):
        src2 = self.norm1(src)
        src2 = self.self_attn(src2, src2, src2, attn_mask=src_mask)[0]
        src = src + self.dropout1(src2)
        src2 = self.norm2(src)
        src2 = self.linear2(self.dropout(F.relu(self.linear1(src2))))
        src = src + self.dropout2(src2)
        return src


def waves(rows, cols, size, a, b, c, function=torch.cos):  # size * cos(a i + b j + c)
    i = torch.arange(rows, dtype=torch.float64).reshape(-1, 1)
    j = torch.arange(cols, dtype=torch.float64).reshape(1, -1)
    return size * function(a * i + b * j + c)


def attention_parameters(C, shift):  # in x out, as in Y = X W
    return {
        "W_q": waves(C, C, 0.5, 1, 2, shift), "b_q": waves(1, C, 0.25, 0, 1, 0.2 + shift),
        "W_k": waves(C, C, 0.5, 2, 1, 1 + shift, torch.sin), "b_k": waves(1, C, 0.25, 0, 2, 0.7 + shift, torch.sin),
        "W_v": waves(C, C, 0.5, 3, -1, 0.5 + shift), "b_v": waves(1, C, 0.25, 0, 3, 0.1 + shift),
        "W_o": waves(C, C, 0.5, 1, -1, 0.25 + shift, torch.sin), "b_o": waves(1, C, 0.25, 0, 1.5, 0.4 + shift),
    }


def rest(C, hidden, norms):
    all = {
        "W_1": waves(C, hidden, 0.5, 1, 3, 0.2), "b_1": waves(1, hidden, 0.1, 0, 1, 0.9),
        "W_2": waves(hidden, C, 0.5, 2, 1, 0.4, torch.sin), "b_2": waves(1, C, 0.1, 0, 2, 0.6, torch.sin),
    }
    for k in range(1, norms + 1):
        all[f"gain_{k}"] = 1 + waves(1, C, 0.2, 0, 1, k)
        all[f"bias_{k}"] = waves(1, C, 0.1, 0, 2, k, torch.sin)
    return all


def put_attention(module, p):
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.cat([p["W_q"].T, p["W_k"].T, p["W_v"].T]))
        module.in_proj_bias.copy_(torch.cat([p["b_q"], p["b_k"], p["b_v"]], 1).reshape(-1))
        module.out_proj.weight.copy_(p["W_o"].T)
        module.out_proj.bias.copy_(p["b_o"].reshape(-1))


def attention_gradients(module, suffix=""):
    dW, db = module.in_proj_weight.grad.chunk(3), module.in_proj_bias.grad.chunk(3)
    all = {}
    for k, name in enumerate("qkv"):
        all[f"dW_{name}{suffix}"], all[f"db_{name}{suffix}"] = dW[k].T, db[k].reshape(1, -1)
    all[f"dW_o{suffix}"], all[f"db_o{suffix}"] = module.out_proj.weight.grad.T, module.out_proj.bias.grad.reshape(1, -1)
    return all


def put_rest(module, p, norms):
    with torch.no_grad():
        for k in (1, 2):
            linear = getattr(module, f"linear{k}")
            linear.weight.copy_(p[f"W_{k}"].T)
            linear.bias.copy_(p[f"b_{k}"].reshape(-1))
        for k in range(1, norms + 1):
            norm = getattr(module, f"norm{k}")
            norm.weight.copy_(p[f"gain_{k}"].reshape(-1))
            norm.bias.copy_(p[f"bias_{k}"].reshape(-1))


def rest_gradients(module, norms):
    all = {}
    for k in (1, 2):
        linear = getattr(module, f"linear{k}")
        all[f"dW_{k}"], all[f"db_{k}"] = linear.weight.grad.T, linear.bias.grad.reshape(1, -1)
    for k in range(1, norms + 1):
        norm = getattr(module, f"norm{k}")
        all[f"dgain_{k}"], all[f"dbias_{k}"] = norm.weight.grad.reshape(1, -1), norm.bias.grad.reshape(1, -1)
    return all


numbers = {}
n, C, heads = 5, 4, 2

# 1. The listing as printed, hidden width 2048, causal through a float mask. Of the gradients with 2048 columns or rows
# the file holds their products with cos(0.7 k + 0.3), k = 0 ... 2047.
layer = TransformerEncoderLayer(C, heads, dropout=0).double()
p = attention_parameters(C, 0) | rest(C, 2048, 2)
put_attention(layer.self_attn, p)
put_rest(layer, p, 2)
X = waves(n, C, 1, 3, 1, 0, torch.sin).requires_grad_()
dY = waves(n, C, 1, 2, 3, 1)
mask = torch.full((n, n), float("-inf"), dtype=torch.float64).triu(1)
Y = layer(X.unsqueeze(1), src_mask=mask).squeeze(1)
Y.backward(dY)
ramp = torch.cos(0.7 * torch.arange(2048, dtype=torch.float64) + 0.3).reshape(-1, 1)
gradients = attention_gradients(layer.self_attn) | rest_gradients(layer, 2)
gradients["dW_1"], gradients["db_1"] = gradients["dW_1"] @ ramp, gradients["db_1"] @ ramp
gradients["dW_2"] = ramp.T @ gradients["dW_2"]
numbers |= {"listing.Y": Y, "listing.dX": X.grad} | {"listing." + k: v for k, v in gradients.items()}

# 2. PyTorch's own layers, hidden width 6: a batch of two sequences, causal, the last key of the second is padding.
for place, first in {"pre": True, "post": False}.items():
    layer = nn.TransformerEncoderLayer(C, heads, 6, dropout=0, activation="gelu", norm_first=first, batch_first=True).double()
    p = attention_parameters(C, 0) | rest(C, 6, 2)
    put_attention(layer.self_attn, p)
    put_rest(layer, p, 2)
    X = waves(2 * n, C, 1, 3, 1, 0, torch.sin).requires_grad_()
    dY = waves(2 * n, C, 1, 2, 3, 1)
    hide = torch.ones(n, n, dtype=torch.bool).triu(1)
    padding = torch.zeros(2, n, dtype=torch.bool)
    padding[1, n - 1] = True
    Y = layer(X.reshape(2, n, C), src_mask=hide, src_key_padding_mask=padding).reshape(2 * n, C)
    Y.backward(dY)
    gradients = attention_gradients(layer.self_attn) | rest_gradients(layer, 2)
    numbers |= {f"{place}.Y": Y, f"{place}.dX": X.grad} | {f"{place}." + k: v for k, v in gradients.items()}

    m = 3
    decoder = nn.TransformerDecoderLayer(C, heads, 6, dropout=0, norm_first=first, batch_first=True).double()  # relu
    p = rest(C, 6, 3)
    put_attention(decoder.self_attn, attention_parameters(C, 0.3))
    put_attention(decoder.multihead_attn, attention_parameters(C, 0.6))
    put_rest(decoder, p, 3)
    X = waves(2 * n, C, 1, 3, 1, 0, torch.sin).requires_grad_()
    Z = waves(2 * m, C, 1, 1, 2, 0.25).requires_grad_()
    padding = torch.zeros(2, m, dtype=torch.bool)
    padding[0, m - 1] = True
    Y = decoder(X.reshape(2, n, C), Z.reshape(2, m, C), tgt_mask=hide, memory_key_padding_mask=padding).reshape(2 * n, C)
    Y.backward(dY)
    gradients = attention_gradients(decoder.self_attn, "_self") | attention_gradients(decoder.multihead_attn, "_cross") | rest_gradients(decoder, 3)
    numbers |= {f"{place}_decoder.Y": Y, f"{place}_decoder.dX": X.grad, f"{place}_decoder.dZ": Z.grad}
    numbers |= {f"{place}_decoder." + k: v for k, v in gradients.items()}

write("listing_encoder.txt", numbers)
