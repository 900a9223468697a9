"""Triton operators of fla-core and liger-kernel. Each has inputs that are drawn as in its package's tests.

A maker draws inputs and returns the call. Its name is the operator's name in tables.
"""

from functools import partial

from operator_inputs import BATCH, HEADS, LENGTH, WIDTH, Draw, fla, flat, heads, liger

MAKERS = {}


def operator(maker):
    MAKERS[maker.__name__] = maker
    return maker


def make(name):
    """Returns the call of the operator with this name. Gradients are enabled here, so that makers need not enable
    them."""
    made = MAKERS[name](Draw())
    for tensor in flat(list(made.tensors.values())):
        if tensor.is_floating_point():
            tensor.requires_grad_(made.backward)
    return made


@operator
def gla(draw):
    shape, tensors = heads(draw)
    return fla("gla", "chunk_gla", tensors | {"g": draw.decay(*shape, WIDTH)})


@operator
def gla_wide(draw):
    shape, tensors = heads(draw, heads=4, width=256)
    return fla("gla", "chunk_gla", tensors | {"g": draw.decay(*shape, 256)})


@operator
def gsa(draw):
    shape, tensors = heads(draw)
    tensors |= {"s": draw.normal(*shape, 64), "g": draw.decay(*shape, 64, divisor=4)}
    return fla("gsa", "chunk_gsa", tensors)


@operator
def gsa_without_gate(draw):
    shape, tensors = heads(draw)
    return fla("gsa", "chunk_gsa", tensors | {"s": draw.normal(*shape, 64)})


@operator
def abc(draw):
    shape, tensors = heads(draw)
    return fla("abc", "chunk_abc", tensors | {"s": draw.normal(*shape, 64)})


@operator
def kda(draw):
    shape, tensors = heads(draw, keys="unit")
    tensors |= {"g": draw.decay(*shape, WIDTH), "beta": draw.share(*shape)}
    return fla("kda", "chunk_kda", tensors)


@operator
def kda_with_gate(draw):
    shape, tensors = heads(draw)
    tensors |= {
        "g": draw.normal(*shape, WIDTH),
        "beta": draw.share(*shape),
        "A_log": draw.uniform(HEADS, type="float32", low=0, high=2),
        "dt_bias": draw.normal(HEADS * WIDTH, type="float32"),
    }
    kernel = {"use_qk_l2norm_in_kernel": True, "use_gate_in_kernel": True}
    return fla("kda", "chunk_kda", tensors, **kernel, safe_gate=True, lower_bound=-5.0)


@operator
def precond_kda(draw):
    shape, tensors = heads(draw, keys="unit")
    tensors |= {
        "g": draw.decay(*shape, WIDTH),
        "g_atk": draw.decay(*shape),
        "beta_atk": draw.share(*shape),
        "beta": draw.share(*shape),
        "log_atk_scale": draw.uniform(HEADS, type="float32", low=-0.3, high=-0.1),
    }
    return fla("precond_kda", "chunk_precond_kda", tensors, x=1.5)


@operator
def gated_delta_rule(draw):
    shape, tensors = heads(draw, keys="unit")
    tensors |= {"g": draw.decay(*shape), "beta": draw.share(*shape)}
    return fla("gated_delta_rule", "chunk_gated_delta_rule", tensors)


@operator
def gated_delta_rule_wide(draw):
    shape, tensors = heads(draw, heads=4, width=256, keys="unit")
    tensors |= {"g": draw.decay(*shape), "beta": draw.share(*shape)}
    return fla("gated_delta_rule", "chunk_gated_delta_rule", tensors)


@operator
def precond_gated_delta_rule(draw):
    shape, tensors = heads(draw)
    tensors |= {"g_atk": draw.decay(*shape), "g": draw.decay(*shape)}
    tensors |= {"beta_atk": draw.share(*shape), "beta": draw.share(*shape)}
    return fla("precond_gated_delta_rule", "chunk_precond_gated_delta_rule", tensors)


@operator
def gated_delta_product(draw):
    shape, tensors = heads(draw, batch=2, keys="unit")
    (batch, length, count), steps = shape, 2
    tensors |= {
        "k": draw.unit(batch, length * steps, count, WIDTH),
        "v": draw.normal(batch, length * steps, count, WIDTH),
        "g": draw.decay(*shape),
        "beta": draw.share(batch, length * steps, count),
    }
    return fla("gated_delta_product", "chunk_gated_delta_product", tensors, num_householder=steps)


@operator
def momentum_delta_rule(draw):
    shape, tensors = heads(draw, batch=2)
    tensors |= {"log_alpha": draw.decay(*shape, divisor=4), "log_mu": draw.decay(*shape)}
    tensors |= {"beta": draw.share(*shape), "eta": draw.share(*shape)}
    return fla("momentum_delta_rule", "chunk_momentum_delta_rule", tensors)


@operator
def gdn2(draw):
    shape, tensors = heads(draw, keys="unit")
    tensors |= {"g": draw.decay(*shape, WIDTH), "b": draw.uniform(*shape, WIDTH), "w": draw.uniform(*shape, WIDTH)}
    return fla("gdn2", "chunk_gdn2", tensors)


@operator
def delta_rule(draw):
    shape, tensors = heads(draw, keys="unit")
    return fla("delta_rule", "chunk_delta_rule", tensors | {"beta": draw.share(*shape)})


@operator
def gated_oja_rule(draw):
    shape, tensors = heads(draw)
    tensors |= {"v": draw.unit(*shape, WIDTH), "gv": draw.decay(*shape, WIDTH), "beta": draw.share(*shape)}
    return fla("gated_oja_rule", "chunk_gated_oja_rule", tensors)


@operator
def comba(draw):
    shape, tensors = heads(draw, keys="unit")
    tensors |= {"p": tensors["k"] * draw.share(HEADS)[:, None], "g": draw.decay(*shape), "beta": draw.share(*shape)}
    return fla("comba", "chunk_comba", tensors)


def rwkv6_tensors(draw, length):
    shape, tensors = heads(draw, length=length)
    tensors |= {"r": tensors.pop("q"), "w": draw.decay(*shape, WIDTH), "u": draw.normal(HEADS, WIDTH, type="float32")}
    return tensors


@operator
def rwkv6(draw):
    return fla("rwkv6", "chunk_rwkv6", rwkv6_tensors(draw, LENGTH))


@operator
def rwkv6_recurrent(draw):
    return fla("rwkv6", "fused_recurrent_rwkv6", rwkv6_tensors(draw, 512))


def low_rank(draw, shape, width):
    """Returns the vectors a and b of a generalised delta rule."""
    direction = draw.unit(*shape, width)
    return {"a": -direction, "b": direction * draw.share(*shape, width)}


@operator
def rwkv7(draw):
    shape, tensors = heads(draw, heads=16, width=64)
    tensors |= {"r": tensors.pop("q"), "w": -0.6 * draw.share(*shape, 64, type="float32")} | low_rank(draw, shape, 64)
    return fla("rwkv7", "chunk_rwkv7", tensors, safe_gate=True, chunk_size=64, lower_bound=-0.6065306597126334)


@operator
def dplr(draw):
    shape, tensors = heads(draw, batch=2)
    tensors |= {"gk": draw.decay(*shape, WIDTH)} | low_rank(draw, shape, WIDTH)
    return fla("generalized_delta_rule", "chunk_dplr_delta_rule", tensors)


@operator
def iplr(draw):
    shape, tensors = heads(draw)
    direction = draw.unit(*shape, WIDTH)
    tensors |= {"a": direction, "b": -direction}
    return fla("generalized_delta_rule", "chunk_iplr_delta_rule", tensors, backward=False)


@operator
def mesa_net(draw):
    shape, tensors = heads(draw, batch=2, keys="unit")
    tensors |= {
        "q": draw.uniform(*shape, WIDTH, high=0.1),
        "v": draw.uniform(*shape, WIDTH, high=0.1),
        "g": draw.uniform(*shape, type="float32", low=0.8, high=0.99).log(),
        "beta": draw.share(*shape, type="float32"),
        "lamb": draw.share(HEADS, WIDTH, type="float32") * 0.75 + 0.25,
    }
    return fla("mesa_net", "chunk_mesa_net", tensors)


@operator
def path_attn(draw):
    shape, tensors = heads(draw, batch=2, heads=2)
    queries = (*shape[:2], 8)
    tensors |= {
        "q": draw.normal(*queries, WIDTH),
        "w": draw.unit(*shape, WIDTH, type="float32"),
        "beta": draw.uniform(*shape, type="float32", low=1.5, high=2),
        "g": draw.uniform(*queries, type="float32", low=0.95, high=1).log(),
    }
    return fla("path_attn", "parallel_path_attn", tensors)


def ttt_tensors(draw):
    shape, tensors = heads(draw, width=64, keys="unit")
    tensors |= {"w": draw.normal(HEADS, 64), "b": draw.normal(HEADS, 64), "eta": draw.uniform(*shape, 1, high=5e-3)}
    return tensors


@operator
def ttt(draw):
    return fla("ttt", "chunk_ttt_linear", ttt_tensors(draw), scale=0.1)


@operator
def ttt_fused(draw):
    return fla("ttt", "fused_chunk_ttt_linear", ttt_tensors(draw), scale=0.1)


@operator
def log_linear_attn(draw):
    shape = (2, 1024, HEADS)
    step = draw.torch.nn.functional.softplus(draw.normal(*shape, type="float32") - 4)
    rate = -draw.torch.exp(draw.uniform(HEADS, type="float32"))
    tensors = {
        "q": draw.normal(*shape[:2], 1, WIDTH, type="float32"),
        "k": draw.normal(*shape[:2], 1, WIDTH, type="float32"),
        "v": draw.normal(*shape, WIDTH, type="float32") * step.unsqueeze(-1),
        "g": rate * step,
        "level_scales": draw.normal(*shape, 11, type="float32"),
    }
    return fla("log_linear_attn", "chunk_log_linear_attn", tensors, scale=None)


@operator
def parallax(draw):
    shape, tensors = heads(draw, batch=2)
    return fla("parallax", "parallel_parallax", tensors | {"r": draw.normal(*shape, WIDTH, scale=0.1)})


@operator
def wall_attn(draw):
    shape, tensors = heads(draw, batch=2, width=64)
    tensors["g"] = -0.05 * draw.normal(*shape, 64, type="float32").abs()
    return fla("wall_attn", "parallel_wall_attn", tensors)


@operator
def nsa(draw):
    shape, tensors = heads(draw, batch=2, heads=2)
    queries = (*shape[:2], 32)
    tensors |= {"q": draw.normal(*queries, WIDTH), "g_cmp": draw.share(*queries), "g_slc": draw.share(*queries)}
    return fla("nsa", "parallel_nsa", tensors, block_counts=16, block_size=64)


@operator
def attnres(draw):
    width = 2048
    tensors = {
        "query": draw.normal(width, scale=0.05),
        "residuals": [draw.normal(BATCH, LENGTH, width) for _ in range(8)],
        "rms_weight": draw.uniform(width, low=0.5, high=1.5),
        "output_rms_weight": draw.uniform(width, low=0.5, high=1.5),
    }
    return fla("attnres", "fused_attnres", tensors)


def cyfa_tensors(draw, length):
    shape, tensors = heads(draw, batch=2, length=length, heads=4)
    slots = 127
    noise = 0.05 * draw.normal(4, slots, slots, type="float32")
    return tensors | {
        "g": draw.uniform(*shape, type="float32", low=-0.1, high=0),
        "delta": draw.share(*shape, type="float32"),
        "beta": draw.share(*shape, type="float32"),
        "readout": draw.torch.eye(slots, device=draw.device) + noise,
        "q_norm_weight": 1 + draw.normal(WIDTH, type="float32", scale=0.1),
        "k_norm_weight": 1 + draw.normal(WIDTH, type="float32", scale=0.1),
    }


@operator
def cyfa(draw):
    return fla("cyfa", "chunk_cyfa", cyfa_tensors(draw, 1024), q_norm_eps=1e-6, k_norm_eps=1e-6)


@operator
def cyfa_recurrent(draw):
    tensors = cyfa_tensors(draw, 64)
    return fla("cyfa", "fused_recurrent_cyfa", tensors, backward=False, q_norm_eps=1e-6, k_norm_eps=1e-6)


@operator
def linear_cross_entropy(draw):
    tokens, width, words = 4096, 2048, 32000
    tensors = {"x": draw.normal(tokens, width), "w": draw.normal(words, width, scale=0.02)}
    tensors["target"] = draw.whole(tokens, below=words)
    return liger("fused_linear_cross_entropy", "LigerFusedLinearCrossEntropyFunction", tensors)


@operator
def tvd(draw):
    one, other = (draw.normal(2048, 32000, type="float32").softmax(-1) for _ in range(2))
    return liger("tvd", "LigerTVDLossFunction", {"p": one, "q": other})


@operator
def group_norm(draw):
    tensors = {"x": draw.normal(16, 128, 4096), "w": draw.normal(128), "b": draw.normal(128)}
    return liger("group_norm", "LigerGroupNormFunction", tensors, 128, 32, 1e-6)


@operator
def fused_moe(draw):
    tokens, width, inner, experts, chosen = 4096, 2048, 768, 32, 4
    scores = draw.normal(tokens, experts, type="float32").softmax(-1)
    weights, index = scores.topk(chosen, dim=-1)
    tensors = {
        "x": draw.normal(tokens, width),
        "up": draw.normal(experts, 2 * inner, width, scale=0.02),
        "down": draw.normal(experts, width, inner, scale=0.02),
        "index": index.int(),
        "weights": weights,
    }
    return liger("fused_moe", "LigerFusedMoEFunction", tensors)


def plain(draw, module, name, **others):
    """Returns an operator that takes only queries, keys and values."""
    return fla(module, name, heads(draw)[1], **others)


def gated(draw, module, name):
    """Returns an operator with a forget gate for each head."""
    shape, tensors = heads(draw)
    return fla(module, name, tensors | {"g": draw.decay(*shape)})


def taylor(draw, module, name):
    """Returns an operator whose queries and keys have few features: a second-order Taylor expansion replaces the
    softmax."""
    shape, tensors = heads(draw)
    return fla(module, name, tensors | {"q": draw.normal(*shape, 16), "k": draw.normal(*shape, 16)})


MAKERS |= {
    "simple_gla": partial(gated, module="simple_gla", name="chunk_simple_gla"),
    "simple_gla_fused": partial(gated, module="simple_gla", name="fused_chunk_simple_gla"),
    "simple_gla_parallel": partial(gated, module="simple_gla", name="parallel_simple_gla"),
    "forgetting_attn": partial(gated, module="forgetting_attn", name="parallel_forgetting_attn"),
    "based": partial(taylor, module="based", name="parallel_based"),
    "based_fused": partial(taylor, module="based", name="fused_chunk_based"),
    "rebased": partial(taylor, module="rebased", name="parallel_rebased"),
    "attn": partial(plain, module="attn", name="parallel_attn"),
    "stickbreaking_attn": partial(plain, module="stickbreaking_attn", name="parallel_stickbreaking_attn"),
    "linear_attn_fused": partial(plain, module="linear_attn", name="fused_chunk_linear_attn", normalize=False),
    "retention": partial(plain, module="retention", name="chunk_retention"),
    "retention_parallel": partial(plain, module="retention", name="parallel_retention"),
    "lightning_attn": partial(plain, module="lightning_attn", name="chunk_lightning_attn", layer_idx=4, num_layers=24),
}
