"""Random inputs of an operator of PyTorch, and a call that runs the operator forward and backward.

PyTorch and the packages with operators are imported only when an input is drawn.
"""

import importlib
from dataclasses import dataclass

BATCH, LENGTH, HEADS, WIDTH = 4, 2048, 8, 128
DEVICE = "cuda"


@dataclass(frozen=True)
class Call:
    """An operator with its inputs. If there is a backward pass, floating-point tensors get a gradient."""

    function: object
    tensors: dict
    others: dict
    backward: bool = True

    def __call__(self):
        """Runs forward and backward, and returns the outputs followed by the gradients."""
        import torch

        outputs = flat(self.function(**self.tensors, **self.others))
        if not self.backward:
            return outputs
        inputs = [tensor for tensor in flat(list(self.tensors.values())) if tensor.requires_grad]
        reached = [output for output in outputs if output.requires_grad]
        gradients = torch.autograd.grad(reached, inputs, [slope(output) for output in reached], allow_unused=True)
        return [output.detach() for output in outputs] + [each for each in gradients if each is not None]


def flat(values):
    """Yields the tensors of nested tuples and lists, in order."""
    if values is None:
        return []
    if isinstance(values, list | tuple):
        return [tensor for value in values for tensor in flat(value)]
    return [values]


def slope(output):
    """Returns the incoming gradient of an output. Its elements differ, and it is the same in each run."""
    import torch

    count = torch.arange(output.numel(), device=output.device, dtype=torch.float32)
    return torch.cos(count * 0.7).reshape(output.shape).to(output.dtype)


class Draw:
    """Random tensors from a fixed seed."""

    def __init__(self, seed=42):
        import torch

        self.torch, self.device = torch, DEVICE
        self.source = torch.Generator(DEVICE)
        self.source.manual_seed(seed)

    def _typed(self, tensor, type):
        return tensor.to(getattr(self.torch, type))

    def normal(self, *shape, type="bfloat16", scale=1.0):
        drawn = self.torch.randn(shape, generator=self.source, device=self.device)
        return self._typed(drawn * scale, type)

    def uniform(self, *shape, type="bfloat16", low=0.0, high=1.0):
        drawn = self.torch.rand(shape, generator=self.source, device=self.device)
        return self._typed(drawn * (high - low) + low, type)

    def unit(self, *shape, type="bfloat16"):
        """Returns vectors of length 1."""
        drawn = self.normal(*shape, type="float32")
        return self._typed(self.torch.nn.functional.normalize(drawn, p=2, dim=-1), type)

    def share(self, *shape, type="bfloat16"):
        """Returns numbers between 0 and 1: the sigmoid of normal numbers."""
        return self._typed(self.normal(*shape, type="float32").sigmoid(), type)

    def decay(self, *shape, type="float32", divisor=1.0):
        """Returns logarithms of forget gates."""
        drawn = self.torch.nn.functional.logsigmoid(self.normal(*shape, type="float32"))
        return self._typed(drawn / divisor, type)

    def whole(self, *shape, below):
        return self.torch.randint(below, shape, generator=self.source, device=self.device)


def fla(module, name, /, tensors, backward=True, **others):
    """Returns an operator of fla-core.

    The package rejects operators whose backward pass is translated incorrectly for Hopper by Triton before 3.7.1.
    They run here nevertheless, because the comparison is between machine code for the same PTX.
    """
    importlib.import_module("fla.ops.common.chunk_o").TRITON_ABOVE_3_7_1 = True
    return Call(getattr(importlib.import_module(f"fla.ops.{module}"), name), tensors, others, backward)


def liger(module, name, /, tensors, *others):
    """Returns a Function of liger-kernel. Its arguments are positional: the tensors come before the others."""
    apply = getattr(importlib.import_module(f"liger_kernel.ops.{module}"), name).apply
    return Call(lambda **named: apply(*named.values(), *others), tensors, {})


def heads(draw, batch=BATCH, length=LENGTH, heads=HEADS, width=WIDTH, keys="normal", type="bfloat16"):
    """Returns (shape of the first three dimensions, q, k and v)."""
    shape = (batch, length, heads)
    tensors = {
        "q": draw.normal(*shape, width, type=type),
        "k": getattr(draw, keys)(*shape, width, type=type),
        "v": draw.normal(*shape, width, type=type),
    }
    return shape, tensors
