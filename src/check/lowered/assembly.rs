//! The check of the inline assembly that computes addresses: which register receives which address, and the sizes of
//! the arrays.

use super::{Purpose, Walk};
use crate::function::{RegClass, VReg};

impl Walk<'_> {
    pub(super) fn assembly(&mut self, text: &str, results: &[VReg]) -> Result<(), String> {
        for (number, &reg) in results.iter().enumerate() {
            let line = line_of(text, number)?;
            let words: Vec<&str> = line.split([' ', ',', ';']).filter(|word| !word.is_empty()).collect();
            let purpose = match words[..] {
                ["mad.lo.u32", _, "%nvptx_ra0", row, "%nvptx_ra3"] => {
                    let row = row.parse().map_err(|_| format!("an unknown address computation: {line}"))?;
                    let array = declared(text, "shared", "nvptx_ra_spills")?;
                    if Some(array.0) != self.array.map(u64::from) || !array.1.is_multiple_of(16) {
                        return Err(format!("an array with size and alignment {array:?}"));
                    }
                    Purpose::RowAddress(row)
                }
                ["add.u32", _, "%nvptx_ra1", "%nvptx_ra0"] => {
                    self.local_array = Some(declared(text, "local", "nvptx_ra_local")?);
                    Purpose::LocalAddress
                }
                _ => return Err(format!("an unknown address computation: {line}")),
            };
            self.give_purpose(reg, RegClass::B32, purpose)?;
        }
        if text.matches('$').count() == results.len() { Ok(()) } else { Err("assembly with other results".into()) }
    }
}

/// Returns the only line of the text that sets a result.
fn line_of(text: &str, number: usize) -> Result<&str, String> {
    let result = format!("${number},");
    let mut lines = text.split("\n\t").filter(|line| line.split(' ').nth(1) == Some(&result));
    match (lines.next(), lines.next()) {
        (Some(line), None) => Ok(line),
        _ => Err(format!("assembly that does not set its result {number} in exactly one line")),
    }
}

/// Returns the size in bytes and the alignment of an array that the text declares.
fn declared(text: &str, space: &str, name: &str) -> Result<(u64, u64), String> {
    let parse = |number: Option<&str>| number.and_then(|number| number.parse::<u64>().ok());
    let array = text.split("\n\t").find_map(|line| {
        let rest = line.strip_prefix(&format!(".{space} .align "))?;
        let (alignment, rest) = rest.split_once(" .b8 ")?;
        let bytes = rest.strip_prefix(name)?.strip_prefix('[')?.strip_suffix("];")?;
        Some((parse(Some(bytes))?, parse(Some(alignment))?))
    });
    array.ok_or_else(|| format!("assembly that does not declare {name}"))
}
