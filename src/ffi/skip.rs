//! Which optimisations of LLVM a function goes without, and the forecast's choice between some.

use super::abi::{self, nvptx_ra_response, nvptx_ra_str};
use super::guard::guard;
use super::response::Response;
use crate::config::{Config, Layers, Skip};
use crate::error::Error;
use crate::forecast::{Case, Summary, preferred_ways};
use crate::target::machine::Architecture;

/// The optimisations that a function goes without, as a set of bits; none where its options are wrong.
///
/// # Safety
/// The texts are live and as long as they say.
// SAFETY: the shim declares this very name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_skipped(command_line: nvptx_ra_str, attribute: nvptx_ra_str) -> u32 {
    // SAFETY: the caller promises the texts.
    let (command_line, attribute) = unsafe { (abi::text(command_line), abi::text(attribute)) };
    let layers = Layers { command_line: &command_line, attribute: &attribute, ..Layers::default() };
    let skipped = guard(|| {
        let Config { enabled, skip, .. } = Config::resolve_valid(&layers);
        Ok(if enabled { skip } else { Skip::empty() })
    });
    skipped.unwrap_or_default().bits()
}

/// The bit of an optimisation by LLVM's own name; 0 of one that no function goes without.
///
/// # Safety
/// The text is live and as long as it says.
// SAFETY: the shim declares this very name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_skip_bit(pass: nvptx_ra_str) -> u32 {
    // SAFETY: the caller promises the text.
    let pass = unsafe { abi::text(pass) };
    guard(|| Ok(Skip::of_pass(&pass))).unwrap_or_default().bits()
}

/// The bit that leaves the choice to the forecast.
// SAFETY: the shim declares this very name.
#[unsafe(no_mangle)]
pub(super) extern "C" fn nvptx_ra_skip_auto() -> u32 {
    Skip::AUTO.bits()
}

/// What is gone without in a way that the forecast chooses between; `NVPTX_RA_NONE` behind the last.
// SAFETY: the shim declares this very name.
#[unsafe(no_mangle)]
pub(super) extern "C" fn nvptx_ra_skip_way(index: u32) -> u32 {
    Skip::WAYS.get(index as usize).map_or(abi::NVPTX_RA_NONE, |skip| skip.bits())
}

/// Writes for each function the way that the forecast prefers: 0, the first, also where anything is wrong.
///
/// # Safety
/// `target` is live and as long as it says; `responses` points to `count` responses for each of `ways` ways, one way
/// behind the other, not freed before this returns; `preferred` to `count` numbers.
// SAFETY: the shim declares this very name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_prefer(
    target: nvptx_ra_str,
    responses: *const *const nvptx_ra_response,
    ways: u64,
    count: u64,
    preferred: *mut u32,
) {
    // SAFETY: as the caller promises.
    let numbers = guard(|| unsafe { prefer(&abi::text(target), responses, ways, count) }).unwrap_or_default();
    for at in 0..count as usize {
        // SAFETY: the caller promises so many numbers.
        unsafe { preferred.add(at).write(numbers.get(at).copied().unwrap_or(0)) };
    }
}

/// # Safety
/// As for [`nvptx_ra_prefer`].
unsafe fn prefer(
    target: &str,
    responses: *const *const nvptx_ra_response,
    ways: u64,
    count: u64,
) -> Result<Vec<u32>, Error> {
    if count == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the caller promises the array and what it points to.
    let responses = unsafe { abi::array(responses, ways * count, "responses") }?;
    // SAFETY: as above.
    let summaries: Vec<Option<&Summary>> =
        responses.iter().map(|&response| unsafe { Response::lent(response) }?.summary()).collect();
    let ways: Vec<_> = summaries.chunks(count as usize).map(<[_]>::to_vec).collect();
    preferred_ways(&ways, &Case { architecture: Architecture::by_name(target)?, max_registers: None })
}
