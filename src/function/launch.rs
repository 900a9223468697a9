//! How a kernel says that it is launched.

#[cfg(test)]
mod tests;

/// What every launch of a kernel keeps to, as its attributes say: each is 1 or more, and `None` where nothing is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LaunchBounds {
    /// The most threads of a block: PTX's `.maxntid`, the product of its dimensions.
    pub max_threads: Option<u32>,
    /// The threads of every block: PTX's `.reqntid`, the product of its dimensions.
    pub required_threads: Option<u32>,
    /// How many blocks are to be resident on a multiprocessor at once: PTX's `.minnctapersm`.
    pub min_blocks: Option<u32>,
    /// The most 32-bit registers of a thread: PTX's `.maxnreg`.
    pub max_registers: Option<u32>,
}

impl LaunchBounds {
    /// The threads of a block, those of every block before the most of any; `None` where neither is said.
    pub fn threads(&self) -> Option<u32> {
        self.required_threads.or(self.max_threads)
    }

    /// Takes what LLVM's attribute `name` of the function says; one that is no bound changes nothing.
    ///
    /// A value is read as NVPTX reads it: dimensions `x`, `x,y` or `x,y,z`, numbers as in C. One that NVPTX refuses, a
    /// 0 and what has no 32 bits say nothing.
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

/// The product of up to three dimensions. NVPTX takes blanks around them and a comma behind, and reads no fourth.
fn threads(value: &str) -> Option<u32> {
    let dimensions = value.strip_suffix(',').unwrap_or(value).split(',').take(3);
    dimensions.map(|dimension| number(dimension.trim())).try_fold(1u32, |product, size| product.checked_mul(size?))
}

/// A number whose beginning says its base, as LLVM reads one.
fn number(text: &str) -> Option<u32> {
    let lower = text.to_ascii_lowercase();
    let (digits, base) = match lower.as_bytes() {
        [b'0', b'x', ..] => (&lower[2..], 16),
        [b'0', b'b', ..] => (&lower[2..], 2),
        [b'0', b'o', ..] => (&lower[2..], 8),
        [b'0', b'0'..=b'9', ..] => (&lower[1..], 8),
        _ => (&lower[..], 10),
    };
    // The library's parser would take a sign.
    u32::from_str_radix(digits, base).ok().filter(|_| !digits.starts_with('+'))
}
