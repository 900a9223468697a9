//! The PTX directives and the attributes that edits may add to a function.
//!
//! The checker does not compare them. A permitted directive or attribute does not change the function's result. It
//! changes only how ptxas compiles the function, or which launches the function accepts.

/// The PTX directives that may be inserted at the top of a function.
const DIRECTIVES: [&str; 2] = [".pragma \"enable_smem_spilling\";", ".pragma \"nounroll\";"];

/// The attribute that limits the registers of a thread: PTX's `.maxnreg`.
const MAX_REGISTERS: &str = "nvvm.maxnreg";

/// The attribute that limits the threads of a block: PTX's `.maxntid`. A larger launch fails. The attribute may be set
/// only if the threads of larger blocks would write to each other's slots.
const MAX_THREADS: &str = "nvvm.maxntid";

/// The most registers of a thread.
const MOST: u32 = 255;

/// Checks that a PTX directive may be inserted.
pub(super) fn check_directive(text: &str) -> Result<(), String> {
    match DIRECTIVES.contains(&text) {
        true => Ok(()),
        false => Err(format!("the directive {text:?} is not known; use {}", DIRECTIVES.join(" or "))),
    }
}

/// Checks that an attribute may be set to a value. `threads` is the block size that the shared array supports; `None`
/// if there is no array or the kernel already bounds its block size.
pub(super) fn check_attribute(key: &str, value: &str, threads: Option<u32>) -> Result<(), String> {
    // LLVM also accepts other spellings. For example, a leading 0 denotes an octal number.
    let number = value.parse().ok().filter(|number: &u32| number.to_string() == value);
    match key {
        MAX_REGISTERS if number.is_some_and(|number| (1..=MOST).contains(&number)) => Ok(()),
        MAX_REGISTERS => Err(format!("the attribute {key} is {value:?}; use a number of registers, 1 to {MOST}")),
        MAX_THREADS if threads.is_some() && number == threads => Ok(()),
        MAX_THREADS => Err(format!(
            "the attribute {key} is {value:?}; use the thread count of the shared array, in a kernel without a bound \
             on its block size"
        )),
        _ => Err(format!("the attribute {key:?} is not known; use {MAX_REGISTERS} or {MAX_THREADS}")),
    }
}
