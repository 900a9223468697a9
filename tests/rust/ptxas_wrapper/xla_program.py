"""Compiles a JAX program with XLA for an H100, ahead of time and without a GPU: xla_program.py FILE [enable], where
FILE receives the serialized executable. CUDA_ROOT is the toolkit whose ptxas runs. With `enable`, the package
`nvptx_ra` installs itself."""

import os
import sys
from pathlib import Path

# The description of a GPU, which XLA needs if no GPU is present. The figures are those of an H100.
H100 = """
platform_name: "CUDA"
device_description_str: "NVIDIA H100 80GB HBM3"
dnn_version_info { major: 9 minor: 7 }
runtime_version { major: 12 minor: 9 }
gpu_device_info {
  cuda_compute_capability { major: 9 }
  core_count: 132
  fpus_per_core: 128
  threads_per_warp: 32
  threads_per_block_limit: 1024
  threads_per_core_limit: 2048
  registers_per_block_limit: 65536
  registers_per_core_limit: 65536
  shared_memory_per_block: 49152
  shared_memory_per_block_optin: 232448
  shared_memory_per_core: 233472
  block_dim_limit_x: 2147483647
  block_dim_limit_y: 65535
  block_dim_limit_z: 65535
  clock_rate_ghz: 1.98
  l2_cache_size: 52428800
  memory_bandwidth: 3352320000000
  device_memory_size: 84929347584
}
"""

os.environ["JAX_SKIP_CUDA_CONSTRAINTS_CHECK"] = "1"
os.environ["XLA_FLAGS"] = "--xla_gpu_autotune_level=0"  # Tuning needs a GPU.
if sys.argv[2:] == ["enable"]:
    import nvptx_ra.jax

    nvptx_ra.jax.enable()
    nvptx_ra.jax.enable()  # The second time nothing changes.
else:
    # These flags are documented in docs/ptxas.md.
    os.environ["XLA_FLAGS"] += " --xla_gpu_enable_libnvptxcompiler=false --xla_gpu_enable_libnvjitlink=false"

import jax  # noqa: E402
from jax._src import xla_bridge  # noqa: E402
from jax.experimental import topologies  # noqa: E402

# Without a GPU, JAX does not know which platform "gpu" is (jax-ml/jax#23971).
canonical = xla_bridge.canonicalize_platform
xla_bridge.canonicalize_platform = lambda name: "cuda" if name in ("gpu", "cuda") else canonical(name)


def program(x, scale):
    """One or two kernels: a normalisation of rows, and its derivatives."""
    normal = (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)
    return (jax.nn.silu(normal * scale) ** 2).sum()


topology = topologies.get_topology_desc(platform="cuda", target_config=H100, topology="1x1x1")
mesh = topologies.make_mesh(topology, (1,), ("devices",))
everywhere = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
shapes = [jax.ShapeDtypeStruct(shape, jax.numpy.float32, sharding=everywhere) for shape in ((4096, 1024), (1024,))]
derivatives = jax.jit(jax.grad(program, (0, 1)))
compiled = derivatives.trace(*shapes).lower(lowering_platforms=("cuda",)).compile()
Path(sys.argv[1]).write_bytes(compiled.runtime_executable().serialize())
