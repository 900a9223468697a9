"""The part of the CUDA driver that run.py needs, by ctypes."""

import ctypes

# CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: without it, a block has at most 48 KiB of static and dynamic memory.
MOST_DYNAMIC_SHARED = 8


class Unavailable(Exception):
    """The driver or a device is missing."""


class Failed(Exception):
    """A call to the driver failed."""


class Driver:
    """The first device, with a context of its own."""

    def __init__(self):
        try:
            self.cuda = ctypes.CDLL("libcuda.so.1")
        except OSError:
            raise Unavailable("no GPU: there is no libcuda.so.1") from None
        try:
            self.call("cuInit", 0)
            count = ctypes.c_int()
            self.call("cuDeviceGetCount", ctypes.byref(count))
        except Failed as error:
            raise Unavailable(f"no GPU: {error}") from None
        if not count.value:
            raise Unavailable("no GPU: the driver finds no device")
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        name = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", name, len(name), device)
        self.name = name.value.decode()
        # The primary context is used, because the function that creates other contexts has different signatures in
        # different versions.
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.events = [self.make("cuEventCreate", 0) for _ in range(2)]

    def call(self, name, *arguments):
        status = getattr(self.cuda, name)(*arguments)
        if status:
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorString(status, ctypes.byref(text))
            raise Failed(f"{name}: {(text.value or b'unknown error').decode()}")

    def make(self, name, *arguments):
        handle = ctypes.c_void_p()
        self.call(name, ctypes.byref(handle), *arguments)
        return handle

    def kernel(self, code, name, shared=0):
        """Loads a kernel from machine code or PTX, with `shared` bytes of dynamic shared memory. Its module stays
        loaded."""
        module = self.make("cuModuleLoadData", ctypes.c_char_p(code))
        kernel = self.make("cuModuleGetFunction", module, ctypes.c_char_p(name.encode()))
        if shared:
            self.call("cuFuncSetAttribute", kernel, MOST_DYNAMIC_SHARED, ctypes.c_int(shared))
        return kernel

    def allocate(self, size):
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(size, 1)))
        return address.value

    def free(self, address):
        self.call("cuMemFree_v2", ctypes.c_uint64(address))

    def write(self, address, data):
        self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), ctypes.c_char_p(data), ctypes.c_size_t(len(data)))

    def read(self, address, size):
        data = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoH_v2", data, ctypes.c_uint64(address), ctypes.c_size_t(size))
        return data.raw

    def launch(self, kernel, grid, block, packed, shared=0):
        """Runs a kernel on packed arguments and waits for its end. Returns the milliseconds between events before and
        after it."""
        storage = [ctypes.create_string_buffer(argument, len(argument)) for argument in packed]
        pointers = (ctypes.c_void_p * len(storage))(*(ctypes.addressof(argument) for argument in storage))
        start, end = self.events
        self.call("cuEventRecord", start, None)
        self.call("cuLaunchKernel", kernel, *grid, *block, shared, None, pointers, None)
        self.call("cuEventRecord", end, None)
        self.call("cuEventSynchronize", end)
        milliseconds = ctypes.c_float()
        self.call("cuEventElapsedTime", ctypes.byref(milliseconds), start, end)
        return milliseconds.value
