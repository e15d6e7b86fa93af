"""The cases of tests/bench/run: what is timed, against whom, and the targets. One place for all shapes and all targets.

FLOPs and bytes are the least that any engine must spend: the causal half of attention, no recomputation, each tensor read or
written once. floor = max(FLOPs / peak, bytes / bandwidth), both as measured in the same run.
"""
from dataclasses import dataclass, field


@dataclass
class Rival:
    """Whom a case is compared with. must and aim: his minimum divided by ours."""
    side: str
    variant: str = "-"
    must: float = None
    aim: float = None
    seconds: float = None  # a quoted time, not measured here


@dataclass
class Figure:
    """Another number of a case, of our own. must and aim: at most."""
    name: str
    key: str  # a key of our answer, or "floor" or "ns"
    must: float = None
    aim: float = None
    unit: str = ""


@dataclass
class Case:
    kind: str
    size: tuple
    flops: float
    bytes: float
    rivals: list = field(default_factory=list)
    figures: list = field(default_factory=list)
    variant: str = "-"
    quick: bool = False   # part of --quick
    title: str = ""
    group: str = ""       # what a summary at the end puts together
    only_last: bool = False  # with the largest number of threads only

    @property
    def name(self):
        return self.title or f"{self.kind.replace('_', ' ')} {'x'.join(map(str, self.size))}"


LLM_C = "llm.c"                    # a checkout, --llmc
QUOTED = "llm.c f1e2ace (quoted)"  # gcc 12.2 -Ofast -march=native -fopenmp, 2 vCPU Emerald Rapids, 2 threads
TORCH = ["torch 1.13", "torch"]   # Debian 12's, and a current one
LAYERS = [(2048, 384, 384), (2048, 384, 1536), (2048, 1536, 384), (1024, 768, 768), (1024, 768, 3072), (1024, 3072, 768), (1024, 64, 256)]
SQUARES = [64, 128, 256, 512, 1024, 2048]


def product(variant, M, K, N, group, quick):
    return Case("product", (M, K, N), 2.0 * M * N * K, 4.0 * (M * K + K * N + 2 * M * N), [Rival("OpenBLAS"), Rival("oneDNN")], variant=variant,
                title=f"product {variant} {M}x{K}x{N}", group=group, quick=quick)


def products():
    for R, I, O in LAYERS:  # y = x W; dx = dy W'; dW = x' dy: the same FLOPs
        quick = (R, I, O) in ((2048, 384, 384), (1024, 64, 256))
        yield product("NN", R, I, O, "layers", quick)
        yield product("NT", R, O, I, "layers", quick)
        yield product("TN", I, R, O, "layers", quick)
    for n in SQUARES:
        for variant in ("NN", "NT", "TN"):
            yield product(variant, n, n, n, "small squares" if n <= 256 else "squares", n in (64, 256))


def against(must, aim, *more):
    """Debian's PyTorch has the targets; the current one is reported."""
    return [Rival("torch 1.13", must=must, aim=aim), Rival("torch"), *more]


def rows(kind, R, C, flops, traffic, must=None, aim=None, quick=True):
    return Case(kind, (R, C), flops * R * C, traffic * R * C, against(must, aim), quick=quick)


def attention(B, H, T, D, must, aim, floor, quick):
    pairs = B * H * T * T / 2
    figures = [Figure("its time ÷ floor", "floor", aim=floor)]
    if T >= 2048:  # of the matrices that a plain attention keeps, one for each head
        figures.append(Figure("its extra memory ÷ one T x T matrix for each head", "extra", must=0.5, aim=0.1))
    return Case("attention", (B, H, T, D), 12.0 * pairs * D, 48.0 * B * H * T * D,
                [Rival("torch 1.13", "naive", must, aim), Rival("torch 1.13", "composite"), Rival("torch", "fused", aim=1.3)], figures, quick=quick,
                title=f"causal attention fwd+bwd B{B} H{H} T{T} D{D}")


def parameters(L, C, T, V):
    return L * (12 * C * C + 13 * C) + (2 * V + T) * C + 2 * C


def adamw(L, C, T, V, must, aim, quick):
    n = parameters(L, C, T, V)
    return Case("adamw", (L, C, T, V), 12.0 * n, 28.0 * n, against(must, aim, Rival("torch", "fused")), quick=quick, title=f"AdamW {n / 1e6:.2f} M parameters")


def gpt_flops(L, C, T, B, V):
    return (6.0 * (12 * L * C * C + C * V) + 6.0 * L * T * C) * B * T


def gpt(title, L, C, h, T, B, V, must, aim, floor, llm_c, quick):
    figures = [Figure("its time ÷ floor", "floor", aim=floor), Figure("heap calls in a steady step", "heap", must=0, aim=0),
               Figure("page faults in a steady step", "faults", aim=0)]
    rivals = against(must, aim, Rival("torch", "compile", aim=1.1 if L == 6 else None), Rival(LLM_C), Rival(QUOTED, must=10, aim=14, seconds=llm_c))
    return Case("gpt", (L, C, h, T, B, V), gpt_flops(L, C, T, B, V), 28.0 * parameters(L, C, T, V), rivals, figures, quick=quick, title=title)


def growth():
    """Four sizes each; the summary fits an exponent through them."""
    for T in (512, 1024, 2048, 4096):
        yield Case("attention", (1, 1, T, 64), 6.0 * T * T * 64, 48.0 * T * 64, title=f"attention, one head, T {T}", group="T", only_last=True, quick=T < 2048)
    for L in (1, 2, 4, 8):
        yield Case("gpt", (L, 128, 4, 64, 8, 65), gpt_flops(L, 128, 64, 8, 65), 28.0 * parameters(L, 128, 64, 65), title=f"GPT step, width 128, {L} layers",
                   group="layers of a GPT", only_last=True)
    for B in (4, 8, 16, 32):
        yield Case("gpt", (2, 128, 4, 64, B, 65), gpt_flops(2, 128, 64, B, 65), 28.0 * parameters(2, 128, 64, 65), title=f"GPT step, width 128, batch {B}",
                   group="batch of a GPT", only_last=True)


def all_cases():
    C, ff, B, T = 384, 1536, 8, 256
    encoder = Case("encoder", (C, 6, ff, B, T), B * T * (72.0 * C * C + 12.0 * T * C), 4.0 * (4 * B * T * C + 24 * C * C), against(1.15, 1.35),
                   title=f"encoder layer fwd+bwd d{C} h6 ff{ff} B{B} T{T}")
    op = Case("op", (10000,), 0, 0, against(50, None), [Figure("its time", "ns", must=150, aim=60, unit="ns")], quick=True, title="one op on 1x1 values, fwd+bwd")
    return [
        *products(),
        rows("softmax_forward", 6144, 256, 16, 8, 1.5, 1.9), rows("softmax_forward", 8192, 1024, 16, 8, 1.5, 1.9, False),
        rows("softmax_backward", 6144, 256, 4, 12, 0.95, 1.0), rows("softmax_backward", 8192, 1024, 4, 12, 0.95, 1.0, False),
        rows("layer_norm_forward", 2048, 384, 8, 8), rows("layer_norm", 2048, 384, 20, 20, 1.4, 2.0), rows("layer_norm", 2048, 768, 20, 20, 1.4, 2.0, False),
        rows("gelu", 2048, 1536, 60, 20, 3.5, 5.0),
        attention(4, 6, 256, 64, 2.0, 3.0, 2.2, True), attention(1, 8, 2048, 64, 2.5, 4.0, 1.7, False),
        encoder,
        adamw(6, 384, 256, 65, 3.5, 5.0, True), adamw(4, 64, 64, 65, 10.0, 25.0, True),
        gpt("GPT step L6 d384 h6 T256 B8 V65", 6, 384, 6, 256, 8, 65, 1.25, 1.5, 1.35, 7.84, False),
        gpt("tiny GPT step L4 d64 h4 T64 B16 V65", 4, 64, 4, 64, 16, 65, 2.0, 3.0, None, 0.105, True),
        op,
        *growth(),
    ]
