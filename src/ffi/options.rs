//! Tables that the shim reads at registration: the options and the version.

use super::abi::{self, nvptx_ra_option_info, nvptx_ra_response, nvptx_ra_str};
use super::guard::entry;
use super::response::Response;
use crate::config::{Config, Origin, option_at, option_count};
use crate::error::{Error, ErrorKind};

/// Returns the number of options.
// SAFETY: the header declares this exact name.
#[unsafe(no_mangle)]
pub(super) extern "C" fn nvptx_ra_option_count() -> u64 {
    entry(|_| 0, || option_count() as u64)
}

/// Returns the option at an index; all fields are empty after the last.
// SAFETY: the header declares this exact name.
#[unsafe(no_mangle)]
pub(super) extern "C" fn nvptx_ra_option_at(index: u64) -> nvptx_ra_option_info {
    entry(
        |_| nvptx_ra_option_info::default(),
        || {
            let option = usize::try_from(index).ok().and_then(option_at);
            option.map_or_else(nvptx_ra_option_info::default, |option| nvptx_ra_option_info {
                name: abi::borrow(option.name),
                help: abi::borrow(&option.help),
                meta: abi::borrow(&option.meta),
                is_switch: option.is_switch.into(),
                hidden: option.hidden.into(),
            })
        },
    )
}

/// Checks options. Returns null if they are valid.
///
/// # Safety
/// Both strings must be live.
// SAFETY: the header declares this exact name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_check_options(
    parameters: nvptx_ra_str,
    origin: nvptx_ra_str,
) -> *const nvptx_ra_response {
    entry(wrong, || {
        // SAFETY: the caller promises both.
        let (parameters, origin) = unsafe { (abi::text(parameters), abi::text(origin)) };
        let unknown = || Error::new(ErrorKind::Option, format!("options of unknown origin '{origin}'"), "report this");
        let result =
            Origin::from_name(&origin).ok_or_else(unknown).and_then(|origin| Config::check(&parameters, origin));
        result.map_or_else(wrong, |()| std::ptr::null())
    })
}

fn wrong(error: Error) -> *const nvptx_ra_response {
    Response::of_error(&error, false).hand_over()
}
