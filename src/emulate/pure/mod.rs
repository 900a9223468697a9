//! Instructions that only compute registers from registers.
//!
//! A mnemonic becomes a function on all lanes of a warp. Each family is a file. A family declines an instruction with
//! an unknown modifier; the instruction is then hashed.

mod bits;
mod compare;
mod convert;
mod float;
mod integer;
mod packed;
#[cfg(test)]
mod tests;
mod video;

use super::mnemonic::Mnemonic;
use super::types::Ty;

/// The values of a register in the 32 lanes of a warp.
pub(crate) type Lanes = [u64; 32];

/// The most sources of an instruction.
pub(crate) const MOST_SOURCES: usize = 5;

/// The computation of an instruction in the lanes of a mask. It may also compute other lanes.
pub(crate) type Eval = Box<dyn Fn(&[&Lanes; MOST_SOURCES], u32, &mut [Lanes; 2]) + Send + Sync>;

/// An instruction without effects besides its results.
pub(crate) struct Pure {
    pub(crate) eval: Eval,
    /// The types of the results, one or two.
    pub(crate) results: Vec<Ty>,
    /// The types of the sources.
    pub(crate) sources: Vec<Ty>,
    /// Whether the last source is the carry.
    pub(crate) reads_carry: bool,
    /// Whether the last result is the carry.
    pub(crate) writes_carry: bool,
    /// Whether the sources are bits that the operation takes apart.
    pub(crate) takes_apart: bool,
    /// Mask of the sources in which the operation is bitwise, while all other sources are fixed. Each result bit
    /// depends on at most one bit of each of these sources, and its position does not depend on the values of these
    /// sources.
    pub(crate) bitwise: u8,
    /// Whether the result may be an address if a source is.
    pub(crate) may_be_address: bool,
    /// Whether the result is processor-specific if the second source is zero.
    pub(crate) divides: bool,
}

impl std::fmt::Debug for Pure {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{:?} from {:?}", self.results, self.sources)
    }
}

/// Creates an instruction from a function of one lane, which runs in all lanes of a mask.
pub(crate) fn lanes<const N: usize, const M: usize>(
    function: impl Fn([u64; N]) -> [u64; M] + Send + Sync + 'static,
) -> Eval {
    Box::new(move |sources, mask, results| {
        let mut lane_of = |lane: usize| {
            let mut given = [0; N];
            for (value, source) in given.iter_mut().zip(sources) {
                *value = source[lane];
            }
            let result = function(given);
            for (number, value) in result.into_iter().enumerate() {
                results[number][lane] = value;
            }
        };
        if mask.count_ones() > 20 {
            for lane in 0..32 {
                lane_of(lane);
            }
        } else {
            let mut rest = mask;
            while rest != 0 {
                lane_of(rest.trailing_zeros() as usize);
                rest &= rest - 1;
            }
        }
    })
}

impl Pure {
    /// Creates a function whose operands all have one type.
    pub(crate) fn new<const N: usize, const M: usize>(
        ty: Ty,
        function: impl Fn([u64; N]) -> [u64; M] + Send + Sync + 'static,
    ) -> Self {
        Self {
            eval: lanes(function),
            results: vec![ty; M],
            sources: vec![ty; N],
            reads_carry: false,
            writes_carry: false,
            takes_apart: false,
            bitwise: 0,
            may_be_address: false,
            divides: false,
        }
    }

    /// Creates a function of one source.
    pub(crate) fn one(ty: Ty, function: impl Fn(u64) -> u64 + Send + Sync + 'static) -> Self {
        Self::new(ty, move |[a]| [function(a)])
    }

    /// Creates a function of two sources.
    pub(crate) fn two(ty: Ty, function: impl Fn(u64, u64) -> u64 + Send + Sync + 'static) -> Self {
        Self::new(ty, move |[a, b]| [function(a, b)])
    }

    /// Creates a function of three sources.
    pub(crate) fn three(ty: Ty, function: impl Fn(u64, u64, u64) -> u64 + Send + Sync + 'static) -> Self {
        Self::new(ty, move |[a, b, c]| [function(a, b, c)])
    }

    pub(crate) fn results(mut self, types: &[Ty]) -> Self {
        self.results = types.to_vec();
        self
    }

    pub(crate) fn sources(mut self, types: &[Ty]) -> Self {
        self.sources = types.to_vec();
        self
    }

    pub(crate) fn taking_apart(mut self) -> Self {
        self.takes_apart = true;
        self
    }

    /// Declares that each bit of the result is a function of bits of these sources.
    pub(crate) fn bit_by_bit(mut self, sources: &[u32]) -> Self {
        self.bitwise = sources.iter().fold(0, |mask, source| mask | 1 << source);
        self
    }

    pub(crate) fn dividing(mut self) -> Self {
        self.divides = true;
        self
    }
}

/// Returns the function of a mnemonic. `None` if it is unknown or has other effects.
pub(super) fn find(mnemonic: &Mnemonic<'_>) -> Option<Pure> {
    let ty = mnemonic.ty()?;
    let found = family(mnemonic, ty)?;
    let is_plain = matches!(mnemonic.word, "add" | "sub" | "mad") && !found.writes_carry;
    Some(Pure { may_be_address: is_plain, ..found })
}

fn family(mnemonic: &Mnemonic<'_>, ty: Ty) -> Option<Pure> {
    match mnemonic.word {
        "add" | "sub" | "mul" | "mad" | "neg" | "abs" | "min" | "max" | "div" | "fma" if ty.is_float() => {
            float::find(mnemonic, ty)
        }
        "rcp" | "sqrt" | "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh" | "testp" | "copysign" => {
            float::find(mnemonic, ty)
        }
        "add" | "min" | "max" | "neg" if matches!(ty, Ty::U16x2 | Ty::S16x2) => packed::find(mnemonic, ty),
        "set" | "setp" | "selp" | "slct" => compare::find(mnemonic, ty),
        "cvt" => convert::find(mnemonic),
        _ => integer::find(mnemonic, ty).or_else(|| bits::find(mnemonic, ty)).or_else(|| video::find(mnemonic)),
    }
}
