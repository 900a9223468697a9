//! The lines of PTX and the attributes that edits may give to a function.
//!
//! Neither is part of what the checker compares, so each one that is allowed changes how ptxas compiles a function and
//! never what the function does. cpp-shim/EditCheck.cpp has the same list.

/// The lines of PTX that may stand at the top of a function.
const DIRECTIVES: [&str; 2] = [".pragma \"enable_smem_spilling\";", ".pragma \"nounroll\";"];

/// The attribute that limits the registers of a thread: PTX's `.maxnreg`.
const MAX_REGISTERS: &str = "nvvm.maxnreg";

/// The most registers that a thread can have.
const MOST: u32 = 255;

/// Whether a line of PTX is one of those that may be inserted.
pub(super) fn check_directive(text: &str) -> Result<(), String> {
    match DIRECTIVES.contains(&text) {
        true => Ok(()),
        false => Err(format!("the directive {text:?} is not known; use {}", DIRECTIVES.join(" or "))),
    }
}

/// Whether an attribute is one of those that may be set, with a value of its own.
pub(super) fn check_attribute(key: &str, value: &str) -> Result<(), String> {
    if key != MAX_REGISTERS {
        return Err(format!("the attribute {key:?} is not known; use {MAX_REGISTERS}"));
    }
    // LLVM reads other spellings, too, a 0 in front as the sign of octal numbers.
    let number = value.parse().ok().filter(|number: &u32| (1..=MOST).contains(number) && number.to_string() == value);
    match number {
        Some(_) => Ok(()),
        None => Err(format!("the attribute {MAX_REGISTERS} is {value:?}; use a number of registers, 1 to {MOST}")),
    }
}
