//! Whether two function heads fit: parameters at the same bytes, and launches that both allow.

use super::variable::Shape;
use crate::ptx::file::File;
use crate::ptx::parts::{Declaration, FunctionHead};

/// Directives that bound the clusters of a kernel. They must be equal in both heads.
const CLUSTERS: [&str; 4] = [".reqnctapercluster", ".explicitcluster", ".maxclusterrank", ".blocksareclusters"];

/// Directives that guide ptxas but do not restrict launches. The head of the replaced kernel decides.
const TUNING: [&str; 2] = [".minnctapersm", ".maxnreg"];

/// A file and the head of one of its functions.
#[derive(Clone, Copy)]
pub(super) struct Head<'h, 'a>(pub(super) &'h File<'a>, pub(super) &'h FunctionHead);

impl Head<'_, '_> {
    /// Returns the values of a directive after the parameters, without trailing dimensions of 1. `None` if it is
    /// absent.
    fn values(&self, word: &str) -> Option<Vec<u64>> {
        let Self(file, head) = self;
        let directive = head.directives.iter().find(|directive| file.text().str(directive.word) == word)?;
        let values = directive.values.iter().map(|&(_, value)| file.text().str(value).parse().unwrap_or(u64::MAX));
        let mut values: Vec<u64> = values.collect();
        while values.len() > 1 && values.last() == Some(&1) {
            values.pop();
        }
        Some(values)
    }

    fn words(&self) -> Vec<&str> {
        self.1.directives.iter().map(|directive| self.0.text().str(directive.word)).collect()
    }

    /// Returns the parameters or results, each with its space and shape.
    fn shapes(&self, list: &Option<Vec<Declaration>>, what: &str) -> Result<Vec<(bool, Shape)>, String> {
        let text = self.0.text();
        let parameters = list.iter().flatten().enumerate();
        let shape = |(number, parameter): (usize, &Declaration)| {
            let shape = Shape::new(text, parameter, 0).map_err(|problem| format!("{what} {number} {problem}"))?;
            Ok((text.of(parameter.space) == b".reg", shape))
        };
        parameters.map(shape).collect()
    }
}

/// Checks that the parameters and results of two functions occupy the same bytes.
///
/// # Errors
/// The difference.
pub(super) fn same_parameters(own: Head<'_, '_>, other: Head<'_, '_>) -> Result<(), String> {
    for (what, ours, theirs) in
        [("parameter", &own.1.parameters, &other.1.parameters), ("result", &own.1.returns, &other.1.returns)]
    {
        let (ours, theirs) = (own.shapes(ours, what)?, other.shapes(theirs, what)?);
        if ours.len() != theirs.len() {
            return Err(format!("there are {} {what}s instead of {}", theirs.len(), ours.len()));
        }
        for (number, (one, two)) in ours.iter().zip(&theirs).enumerate() {
            let [(is_register, one), (other_is_register, two)] = [one, two];
            // If all previous parameters have equal sizes and alignments, the parameter begins at the same byte.
            if is_register != other_is_register || one.bytes != two.bytes || one.alignment != two.alignment {
                let bytes = |shape: &Shape| shape.bytes.unwrap_or_default();
                return Err(format!(
                    "{what} {number} has {} bytes aligned to {} instead of {} aligned to {}",
                    bytes(two),
                    two.alignment,
                    bytes(one),
                    one.alignment
                ));
            }
        }
    }
    Ok(())
}

/// Checks that another kernel allows every launch that our own kernel allows.
///
/// # Errors
/// The launches that it does not allow.
pub(super) fn same_launches(own: Head<'_, '_>, other: Head<'_, '_>) -> Result<(), String> {
    let list = |values: &[u64]| values.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let ours = own.values(".reqntid");
    if let Some(theirs) = other.values(".reqntid") {
        if ours.as_ref() != Some(&theirs) {
            return Err(format!("the kernel allows only blocks of {} threads", list(&theirs)));
        }
    } else if let Some(theirs) = other.values(".maxntid") {
        let ours = ours.or_else(|| own.values(".maxntid"));
        let product = |values: &[u64]| values.iter().fold(1u64, |product, &value| product.saturating_mul(value));
        let is_inside = ours.is_some_and(|ours| {
            let dimension = |values: &[u64], at: usize| values.get(at).copied().unwrap_or(1);
            let each = (0..3).all(|at| dimension(&ours, at) <= dimension(&theirs, at));
            each || (theirs.len() == 1 && product(&ours) <= product(&theirs))
        });
        if !is_inside {
            return Err(format!("the kernel allows only blocks of at most {} threads", list(&theirs)));
        }
    }
    for word in CLUSTERS {
        if own.values(word) != other.values(word) {
            return Err(format!("the kernel has another {word}"));
        }
    }
    let known =
        |word: &str| CLUSTERS.contains(&word) || TUNING.contains(&word) || [".maxntid", ".reqntid"].contains(&word);
    match other.words().into_iter().find(|word| !known(word) && !own.words().contains(word)) {
        Some(word) => Err(format!("the kernel has the directive '{word}'")),
        None => Ok(()),
    }
}
