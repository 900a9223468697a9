//! GitHub's annotations of regressions: an error at each kernel's line in the PTX.

use nvptx_ra::lint::Place;

use super::Report;
use super::kernel::{Change, Direction};
use crate::github::annotation;
use crate::kernel_names::readable;

pub(super) fn of(report: &Report) -> String {
    let [old, new] = report.toolchains.each_ref().map(|toolchain| toolchain.name.as_str());
    let mut text = String::new();
    for file in &report.files {
        let place = |line| Place { file: file.file.clone(), line };
        if let (true, [_, Some(failure)]) = (file.is_refused(), &file.failures) {
            text += &annotation(
                "error",
                &place(0),
                "diff-ptxas",
                &format!("only with ptxas {new}, not with {old}: {failure}"),
            );
        }
        for kernel in &file.kernels {
            let name = readable(&kernel.name);
            for (side, toolchain) in kernel.sides.iter().zip([old, new]).filter(|(side, _)| side.meaning.is_different())
            {
                let reason = side.meaning.reason();
                let said = format!(
                    "kernel '{name}': the code of ptxas {toolchain} computes another result than the PTX: {reason}"
                );
                text += &annotation("error", &place(kernel.line), "diff-ptxas", &said);
            }
            let is_told = |change: &Change| {
                // The annotation above already contains the difference from the PTX.
                change.direction == Direction::Worse && !change.text.starts_with("compared with")
            };
            let worse: Vec<String> =
                kernel.changes(report.tolerance).into_iter().filter(is_told).map(|change| change.text).collect();
            if !worse.is_empty() {
                let said = format!("kernel '{name}' with ptxas {new} instead of {old}: {}", worse.join(", "));
                text += &annotation("error", &place(kernel.line), "diff-ptxas", &said);
            }
        }
    }
    text
}
