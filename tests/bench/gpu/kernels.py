"""The kernels of examples/ with inputs of realistic size. Only outputs that do not depend on the order of atomic
operations are compared."""

from manifest import Buffer, Kernel, Scalar, Struct


def s32(value):
    return Scalar("s32", value)


def u32(value):
    return Scalar("u32", value)


def f32(value):
    return Scalar("f32", value)


def given(count, low=-1, high=1, element="f32", fill="uniform"):
    return Buffer(element, count, fill, low, high)


def made(count, element="f32"):
    return Buffer(element, count, written=True)


def changed(count, low=-1, high=1, element="f32"):
    return Buffer(element, count, "uniform", low, high, written=True)


def attention(name):
    heads, length, head = 32, 2048, 64
    vectors = heads * length * head
    arguments = (given(vectors), given(vectors), given(vectors), made(vectors), s32(length), f32(head**-0.5))
    return Kernel(name, "attention", (length // 64, heads, 1), (256, 1, 1), arguments)


def options(name, result):
    count = 1 << 20
    arguments = (given(3 * count, 0.5, 2), made(result * count), s32(count), f32(0.03), f32(0.3))
    return Kernel(name, "black_scholes", (count // 256, 1, 1), (256, 1, 1), arguments)


def fft(name):
    batch = 1 << 14
    return Kernel(name, "fft", (batch, 1, 1), (64, 1, 1), (changed(2 * 512 * batch),))


def softmax(name, masked):
    rows, columns = 1 << 13, 2048
    mask = (given(rows * columns, 0, 1, "u8"),) if masked else ()
    arguments = (given(rows * columns, -8, 8), *mask, made(rows * columns), s32(columns), f32(0.7))
    return Kernel(name, "softmax", (rows, 1, 1), (256, 1, 1), arguments)


def spmv(name, threads_for_a_row=1, share=None):
    rows, in_a_row = 1 << 18, 32
    entries = rows * in_a_row
    # Integers, because the merge adds parts of a row in any order.
    numbers = given(rows, -9, 9, "f64", "integers")
    matrix = Struct(
        (
            Buffer("s32", rows + 1, "ramp", high=in_a_row),
            given(entries, 0, rows - 1, "s32"),
            given(entries, -9, 9, "f64", "integers"),
            s32(rows),
        )
    )
    threads = rows * threads_for_a_row if share is None else (rows + entries) // share + 1
    last = () if share is None else (s32(share),)
    return Kernel(name, "spmv", (-(-threads // 256), 1, 1), (256, 1, 1), (matrix, numbers, made(rows, "f64"), *last))


def gemm():
    n = 2048
    arguments = (s32(n), s32(n), s32(n), f32(1.5), given(n * n), given(n * n), f32(0.5), changed(n * n))
    return Kernel("gemm", "gemm", (n // 128, n // 128, 1), (256, 1, 1), arguments)


def mandelbrot():
    width, height = 2048, 1536
    view = Struct((Scalar("f64", -2.2), Scalar("f64", 1.2), Scalar("f64", 0.0015), s32(width), s32(height), s32(500)))
    block = (16, 16, 1)
    return Kernel(
        "mandelbrot", "mandelbrot", (width // 16, height // 16, 1), block, (view, made(width * height, "u32"))
    )


def nbody():
    bodies = 1 << 14
    arguments = (given(4 * bodies, 0.1), made(4 * bodies), changed(4 * bodies), s32(bodies), f32(0.01), f32(0.001))
    return Kernel("nbody_step", "nbody", (bodies // 256, 1, 1), (256, 1, 1), arguments)


def reductions():
    count, blocks = 1 << 20, 264
    whole = given(count, 0, 9, fill="integers")
    yield Kernel("sum", "reduce", (blocks, 1, 1), (256, 1, 1), (whole, s32(count // 4), made(1)))
    smallest = (given(count), s32(count), made(2 * blocks, "u32"))
    yield Kernel("smallest", "reduce", (blocks, 1, 1), (256, 1, 1), smallest)


def prefix_sum():
    tiles, tile = 1 << 11, 2048
    count = tiles * tile
    scratch = Buffer("u64", tiles, written=True, compared=False)
    arguments = (given(count, -100, 100, "s32"), made(count, "s32"), s32(count), scratch, made(1, "s32"))
    return Kernel("prefix_sum", "scan", (tiles, 1, 1), (256, 1, 1), arguments)


def hashes():
    count, blocks = 1 << 18, 4
    messages = given(16 * count * blocks, 0, 2**32 - 1, "u32")
    arguments = (messages, s32(count), s32(blocks), made(8 * count, "u32"))
    yield Kernel("sha256", "sha256", (count // 256, 1, 1), (256, 1, 1), arguments)
    words = [u32(0x9E3779B9 * (i + 1) % 2**32) for i in range(11)]
    # The target is so hard that at most one thread writes.
    search = (Struct(tuple(words[:8])), Struct(tuple(words[8:])), u32(0), u32(0), made(1, "u32"))
    yield Kernel("search_nonce", "sha256", (1 << 14, 1, 1), (256, 1, 1), search)


def smith_waterman():
    pairs, query, subject = 1 << 14, 120, 400
    arguments = (
        given(pairs * query, 65, 68, "u8"),
        Buffer("s32", pairs + 1, "ramp", high=query),
        given(pairs * subject, 65, 68, "u8"),
        Buffer("s32", pairs + 1, "ramp", high=subject),
        s32(pairs),
        Struct((s32(2), s32(-1), s32(3), s32(1))),
        made(pairs, "s32"),
    )
    return Kernel("smith_waterman", "smith_waterman", (pairs * 32 // 256, 1, 1), (256, 1, 1), arguments)


def stencil():
    nx, ny, nz = 512, 512, 64
    points = (nx + 8) * (ny + 8) * (nz + 8)
    arguments = (given(points), given(points, 0, 0.1), changed(points), s32(nx), s32(ny), s32(nz))
    return Kernel("wave_step", "stencil", (nx // 32, ny // 16, 1), (32, 16, 1), arguments)


def bitonic_sort():
    blocks = 1 << 10
    keys, values = (changed(2048 * blocks, 0, 2**32 - 1, "u32") for _ in range(2))
    return Kernel("bitonic_sort", "bitonic_sort", (blocks, 1, 1), (1024, 1, 1), (keys, values, Scalar("u8", 1)))


def cholesky():
    matrices, order = 1 << 15, 22
    # The ridge makes every matrix positive definite.
    arguments = (changed(order * (order + 1) // 2 * matrices), s32(matrices), f32(2 * order))
    return Kernel("cholesky", "cholesky", (matrices // 128, 1, 1), (128, 1, 1), arguments)


KERNELS = [
    attention("attention"),
    attention("causal_attention"),
    bitonic_sort(),
    options("black_scholes", 6),
    options("american_put", 1),
    cholesky(),
    fft("fft"),
    fft("inverse_fft"),
    gemm(),
    mandelbrot(),
    nbody(),
    *reductions(),
    prefix_sum(),
    *hashes(),
    smith_waterman(),
    softmax("softmax", masked=False),
    softmax("masked_softmax", masked=True),
    spmv("spmv_thread"),
    spmv("spmv_warp", threads_for_a_row=32),
    spmv("spmv_merge", share=16),
    stencil(),
]
