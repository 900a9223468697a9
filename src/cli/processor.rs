//! The processors for which code can be compiled. For an unknown name, LLVM only prints a warning several times, and
//! then compiles for another processor.

use nvptx_ra::error::Error;
use nvptx_ra::target::machine::Architecture;

/// Older processors that LLVM supports. This project has no other data for them.
const OLDER: [&str; 12] =
    ["sm_20", "sm_21", "sm_30", "sm_32", "sm_35", "sm_37", "sm_50", "sm_52", "sm_53", "sm_60", "sm_61", "sm_62"];

/// Refuses a processor that LLVM does not support. An empty name is LLVM's default.
pub(crate) fn check(name: &str) -> Result<(), Error> {
    if name.is_empty() || OLDER.contains(&name) {
        return Ok(());
    }
    Architecture::by_name(name).map(drop).map_err(|mut error| {
        error.remedy += &format!("; LLVM also compiles for {}", OLDER.join(", "));
        error
    })
}

#[cfg(test)]
mod tests {
    use inkwell::OptimizationLevel;
    use inkwell::targets::{CodeModel, InitializationConfig, RelocMode, Target, TargetMachine, TargetTriple};

    use super::*;

    /// LLVM creates a target machine for each accepted processor, and keeps its name.
    #[test]
    fn known_to_llvm() {
        Target::initialize_nvptx(&InitializationConfig::default());
        let triple = TargetTriple::create("nvptx64-nvidia-cuda");
        let target = Target::from_triple(&triple).expect("the target is there");
        let known = Architecture::all().iter().map(|known| known.name).chain(OLDER);
        for name in known {
            check(name).expect("it is known");
            let (reloc, code) = (RelocMode::Default, CodeModel::Default);
            let machine: Option<TargetMachine> =
                target.create_target_machine(&triple, name, "", OptimizationLevel::Default, reloc, code);
            assert_eq!(machine.expect("a machine").get_cpu().to_string(), name);
        }
    }

    /// Another name is refused, and the error lists the known names, older processors included.
    #[test]
    fn others_are_refused() {
        check("").expect("that is LLVM's default");
        for name in ["sm_99", "gfx90a", "sm_9", "sm_60a", "SM_90"] {
            let error = check(name).expect_err("it is not known").to_string();
            assert!(error.contains(&format!("processor '{name}' is not known; use one of sm_70")), "{error}");
            assert!(error.contains("sm_121") && error.contains("sm_62"), "{error}");
        }
    }
}
