//! Tests of linking.

mod names;
mod properties;
mod refusals;
mod sources;

use super::Linker;
use crate::ptx::Module;

/// Links kernels of the other file into our file, or returns the reason why this is impossible.
fn linked(own: &str, other: &str, kernels: &[&str]) -> Result<String, String> {
    let [own, other] = [("own.ptx", own), ("other.ptx", other)]
        .map(|(name, text)| Module::read(name, text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}")));
    let linker = Linker::new(&own, &other).map_err(|error| error.to_string())?;
    let (text, refused) = linker.link(kernels);
    match refused.into_iter().next() {
        Some((_, reason)) => Err(reason),
        None => Ok(String::from_utf8(text).expect("it was text")),
    }
}
