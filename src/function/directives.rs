//! The lines of PTX and the attributes that edits may give to a function.
//!
//! Neither is part of what the checker compares, so each one that is allowed changes how ptxas compiles a function, or
//! which launches it takes, and never what the function does.

/// The lines of PTX that may stand at the top of a function.
const DIRECTIVES: [&str; 2] = [".pragma \"enable_smem_spilling\";", ".pragma \"nounroll\";"];

/// The attribute that limits the registers of a thread: PTX's `.maxnreg`.
const MAX_REGISTERS: &str = "nvvm.maxnreg";

/// The attribute that limits the threads of a block: PTX's `.maxntid`. A larger launch fails, so it may only be set where
/// larger blocks would write to each other's slots.
const MAX_THREADS: &str = "nvvm.maxntid";

/// The most registers that a thread can have.
const MOST: u32 = 255;

/// Whether a line of PTX is one of those that may be inserted.
pub(super) fn check_directive(text: &str) -> Result<(), String> {
    match DIRECTIVES.contains(&text) {
        true => Ok(()),
        false => Err(format!("the directive {text:?} is not known; use {}", DIRECTIVES.join(" or "))),
    }
}

/// Whether an attribute is one of those that may be set, with a value of its own. `threads` is the size of blocks that an
/// array in shared memory counts on, in a kernel that does not say how large its blocks are.
pub(super) fn check_attribute(key: &str, value: &str, threads: Option<u32>) -> Result<(), String> {
    // LLVM reads other spellings, too, a 0 in front as the sign of octal numbers.
    let number = value.parse().ok().filter(|number: &u32| number.to_string() == value);
    match key {
        MAX_REGISTERS if number.is_some_and(|number| (1..=MOST).contains(&number)) => Ok(()),
        MAX_REGISTERS => Err(format!("the attribute {key} is {value:?}; use a number of registers, 1 to {MOST}")),
        MAX_THREADS if threads.is_some() && number == threads => Ok(()),
        MAX_THREADS => Err(format!(
            "the attribute {key} is {value:?}; use the threads of the array in shared memory, in a kernel whose blocks may \
             have any size"
        )),
        _ => Err(format!("the attribute {key:?} is not known; use {MAX_REGISTERS} or {MAX_THREADS}")),
    }
}
