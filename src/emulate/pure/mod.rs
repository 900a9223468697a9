//! Instructions that compute registers from registers and do nothing else.
//!
//! A mnemonic becomes a function on all lanes of a warp. Each family is a file; a modifier that a family does not know
//! makes it decline, and the instruction is hashed.

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

/// The most sources that an instruction has.
pub(crate) const MOST_SOURCES: usize = 5;

/// What an instruction computes in the lanes of a mask. Other lanes may be computed as well.
pub(crate) type Eval = Box<dyn Fn(&[&Lanes; MOST_SOURCES], u32, &mut [Lanes; 2]) + Send + Sync>;

/// An instruction that only computes.
pub(crate) struct Pure {
    pub(crate) eval: Eval,
    /// The types of the results, one or two.
    pub(crate) results: Vec<Ty>,
    /// The types of the sources.
    pub(crate) sources: Vec<Ty>,
    /// The last source is the carry.
    pub(crate) reads_carry: bool,
    /// The last result is the carry.
    pub(crate) writes_carry: bool,
    /// The sources are bits that are taken apart.
    pub(crate) takes_apart: bool,
    /// The sources of whose bits each bit of the result is a function, with the other sources given, as bits: each bit
    /// comes from one bit of each of these at most, and from the same ones whatever they hold.
    pub(crate) bitwise: u8,
    /// The result may be an address if a source is.
    pub(crate) may_be_address: bool,
    /// The result is one of processors' own where the second source is zero.
    pub(crate) divides: bool,
}

impl std::fmt::Debug for Pure {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{:?} from {:?}", self.results, self.sources)
    }
}

/// A function of one lane, run in all lanes of a mask.
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
    /// A function whose operands all have one type.
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

    /// A function of one source.
    pub(crate) fn one(ty: Ty, function: impl Fn(u64) -> u64 + Send + Sync + 'static) -> Self {
        Self::new(ty, move |[a]| [function(a)])
    }

    /// A function of two sources.
    pub(crate) fn two(ty: Ty, function: impl Fn(u64, u64) -> u64 + Send + Sync + 'static) -> Self {
        Self::new(ty, move |[a, b]| [function(a, b)])
    }

    /// A function of three sources.
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

    /// Each bit of the result is a function of bits of these sources.
    pub(crate) fn bit_by_bit(mut self, sources: &[u32]) -> Self {
        self.bitwise = sources.iter().fold(0, |mask, source| mask | 1 << source);
        self
    }

    pub(crate) fn dividing(mut self) -> Self {
        self.divides = true;
        self
    }
}

/// The function of a mnemonic; `None` where it is not known or does more than compute.
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
