//! Two 16-bit values in one register.

use super::Pure;
use crate::emulate::mnemonic::Mnemonic;
use crate::emulate::types::Ty;

/// Creates a function that applies to each half of its sources.
pub(super) fn halves<const N: usize>(ty: Ty, function: impl Fn([u64; N]) -> u64 + Send + Sync + 'static) -> Pure {
    Pure::new(ty, move |sources: [u64; N]| {
        let at = |shift: u32| function(sources.map(|source| source >> shift & 0xffff)) << shift;
        [at(0) | at(16)]
    })
}

/// Returns the function of a mnemonic on two integers.
pub(super) fn find(mnemonic: &Mnemonic<'_>, ty: Ty) -> Option<Pure> {
    let is_signed = ty == Ty::S16x2;
    if !mnemonic.only(&["relu"]) || (mnemonic.has("relu") && !is_signed) {
        return None;
    }
    let floor = if mnemonic.has("relu") { 0 } else { i32::MIN };
    let value = move |bits: u64| if is_signed { i32::from(bits as u16 as i16) } else { i32::from(bits as u16) };
    let half = |value: i32| u64::from(value as u16);
    Some(match mnemonic.word {
        "add" if !mnemonic.has("relu") => halves(ty, move |[a, b]| half(value(a) + value(b))),
        "neg" if !mnemonic.has("relu") => halves(ty, move |[a]| half(-value(a))),
        "min" => halves(ty, move |[a, b]| half(value(a).min(value(b)).max(floor))),
        "max" => halves(ty, move |[a, b]| half(value(a).max(value(b)).max(floor))),
        _ => return None,
    })
}
