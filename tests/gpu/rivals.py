"""PyTorch on the cases of tests/gpu/bench.cpp, in the same form: KIND,NAME,SHAPE,MILLISECONDS,RATE,UNIT."""
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel


def median_ms(run, times=20):
    for _ in range(3):
        run()
    spans = []
    for _ in range(times):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        run()
        end.record()
        end.synchronize()
        spans.append(begin.elapsed_time(end))
    return sorted(spans)[times // 2]


def line(kind, name, shape, ms, work, unit):  # work: operations or bytes
    print("%s,%s,%s,%.4f,%.1f,%s" % (kind, name, shape, ms, work / ms / (1e9 if unit == "TFLOP/s" else 1e6), unit), flush=True)


def attention():
    for d in (64, 128):
        heads, length = 16 * (2048 // d) // 4, 4096
        for causal in (False, True):
            shape = "%d heads x %d x %d%s" % (heads, length, d, " causal" if causal else "")
            work = 4.0 * heads * length * length * d / (2 if causal else 1)
            q, k, v = (torch.randn(1, heads, length, d, device="cuda", dtype=torch.bfloat16, requires_grad=True) for _ in range(3))
            for backend in (SDPBackend.FLASH_ATTENTION, SDPBackend.CUDNN_ATTENTION):
                name = "torch " + backend.name.lower().replace("_attention", "")
                try:
                    with sdpa_kernel(backend):
                        y = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
                        dy = torch.randn_like(y)
                        with torch.no_grad():
                            line("attention bf16", name, shape, median_ms(lambda: F.scaled_dot_product_attention(q, k, v, is_causal=causal)), work, "TFLOP/s")
                        back = median_ms(lambda: torch.autograd.grad(y, (q, k, v), dy, retain_graph=True))
                        line("attention backward bf16", name, shape, back, 2.5 * work, "TFLOP/s")
                except RuntimeError as why:
                    print("# %s, %s: %s" % (name, shape, str(why).splitlines()[0]))


def rows():
    n, c = 16384, 4096
    x, dy = torch.randn(n, c, device="cuda", requires_grad=True), torch.randn(n, c, device="cuda")
    gain, bias = torch.randn(c, device="cuda", requires_grad=True), torch.randn(c, device="cuda", requires_grad=True)
    shape, one = "%d x %d" % (n, c), 4.0 * n * c
    with torch.no_grad():
        line("softmax", "torch", shape, median_ms(lambda: F.softmax(x, 1)), 2 * one, "GB/s")
        line("layer norm", "torch", shape, median_ms(lambda: F.layer_norm(x, (c,), gain, bias)), 2 * one, "GB/s")
    y = F.layer_norm(x, (c,), gain, bias)
    back = median_ms(lambda: torch.autograd.grad(y, (x, gain, bias), dy, retain_graph=True))
    line("layer norm backward", "torch", shape, back, 3 * one, "GB/s")


if __name__ == "__main__":
    attention()
    rows()
