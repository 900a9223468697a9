//! The launch bounds of a kernel.

#[cfg(test)]
mod tests;

/// Bounds that hold for every launch of a kernel, from its attributes. Each is at least 1; `None` if there is no such
/// bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LaunchBounds {
    /// The most threads of a block: PTX's `.maxntid`, the product of its dimensions.
    pub max_threads: Option<u32>,
    /// The threads of every block: PTX's `.reqntid`, the product of its dimensions.
    pub required_threads: Option<u32>,
    /// The blocks that should be resident on a multiprocessor at once: PTX's `.minnctapersm`.
    pub min_blocks: Option<u32>,
    /// The most 32-bit registers of a thread: PTX's `.maxnreg`.
    pub max_registers: Option<u32>,
}

impl LaunchBounds {
    /// Returns the threads of a block: the required number if there is one, otherwise the maximum. `None` if the kernel
    /// has neither.
    pub fn threads(&self) -> Option<u32> {
        self.required_threads.or(self.max_threads)
    }

    /// Sets the bound of LLVM's function attribute `name`. Attributes that are not launch bounds are ignored.
    ///
    /// Values are parsed as in NVPTX: dimensions `x`, `x,y` or `x,y,z`, numbers as in C. Values that NVPTX rejects, 0,
    /// and values that exceed 32 bits remove the bound.
    pub fn set_attribute(&mut self, name: &str, value: &str) {
        let (bound, value) = match name {
            "nvvm.maxntid" => (&mut self.max_threads, threads(value)),
            "nvvm.reqntid" => (&mut self.required_threads, threads(value)),
            "nvvm.minctasm" => (&mut self.min_blocks, number(value)),
            "nvvm.maxnreg" => (&mut self.max_registers, number(value)),
            _ => return,
        };
        *bound = value.filter(|&value| value > 0);
    }
}

/// Returns the product of up to three dimensions. NVPTX accepts blanks around them and a trailing comma, and ignores a
/// fourth.
fn threads(value: &str) -> Option<u32> {
    let dimensions = value.strip_suffix(',').unwrap_or(value).split(',').take(3);
    dimensions.map(|dimension| number(dimension.trim())).try_fold(1u32, |product, size| product.checked_mul(size?))
}

/// Parses a number with a base prefix, as LLVM does.
fn number(text: &str) -> Option<u32> {
    let lower = text.to_ascii_lowercase();
    let (digits, base) = match lower.as_bytes() {
        [b'0', b'x', ..] => (&lower[2..], 16),
        [b'0', b'b', ..] => (&lower[2..], 2),
        [b'0', b'o', ..] => (&lower[2..], 8),
        [b'0', b'0'..=b'9', ..] => (&lower[1..], 8),
        _ => (&lower[..], 10),
    };
    // The standard library's parser would accept a sign.
    u32::from_str_radix(digits, base).ok().filter(|_| !digits.starts_with('+'))
}
