//! In-process code generation: LLVM functions that the command-line tool needs and inkwell lacks.

use std::ffi::{CStr, CString};

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use inkwell::values::FunctionValue;
use libc::{c_char, c_int};
use llvm_sys::LLVMCallConv;
use llvm_sys::core::{LLVMDisposeMessage, LLVMGetVersion};

use super::abi::{self, borrow, borrow_bytes};
use super::messages::clean_up_with;

/// The fusing of floating-point operations: llc's `-fp-contract`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum FpContract {
    /// Wherever it is possible.
    Fast = abi::NVPTX_RA_FP_CONTRACT_FAST,
    /// Where the program allows it.
    On = abi::NVPTX_RA_FP_CONTRACT_ON,
    /// Never.
    Off = abi::NVPTX_RA_FP_CONTRACT_OFF,
}

/// Parses LLVM IR, as text or bitcode. Returns LLVM's message on an error.
pub fn parse_ir<'c>(context: &'c Context, content: &[u8], name: &str) -> Result<Module<'c>, String> {
    let mut message = std::ptr::null_mut();
    // SAFETY: the context and the two texts outlive the call, and `message` may be written.
    let module =
        unsafe { abi::nvptx_ra_parse_ir(context.raw(), borrow_bytes(content), borrow(name), &raw mut message) };
    if !module.is_null() {
        // SAFETY: a fresh module of this context, which has no other owner.
        return Ok(unsafe { Module::new(module) });
    }
    // SAFETY: if there is no module, the shim has made a message.
    Err(unsafe { take_message(message) })
}

/// Returns a new module of the same context with one function and all definitions that its code can reach: the called
/// functions, the variables that these functions reference, and the contents of the variables. The function is compiled
/// to the same code as in the whole module. `None` if no function of that name has a body.
///
/// If the whole module has several kernels, the new module also has an empty kernel. Otherwise, if addresses of
/// functions are taken, ptxas would treat the single kernel differently.
///
/// O(reachable code), plus a little for each function of the whole module.
pub fn slice<'c>(module: &Module<'c>, function: &str) -> Option<Module<'c>> {
    // SAFETY: the module is alive and only read; the name is given with its length.
    let slice = unsafe { abi::nvptx_ra_slice(module.as_mut_ptr(), borrow(function)) };
    // SAFETY: a fresh module of the same context, which has no other owner.
    let slice = (!slice.is_null()).then(|| unsafe { Module::new(slice) })?;
    if module.get_functions().filter(is_kernel).take(2).count() > 1 {
        add_empty_kernel(&slice);
    }
    Some(slice)
}

const KERNEL: u32 = LLVMCallConv::LLVMPTXKernelCallConv as u32;

fn is_kernel(function: &FunctionValue<'_>) -> bool {
    function.get_call_conventions() == KERNEL && function.get_first_basic_block().is_some()
}

fn add_empty_kernel(module: &Module<'_>) {
    let context = module.get_context();
    let empty = module.add_function("nvptx_ra_empty", context.void_type().fn_type(&[], false), None);
    empty.set_call_conventions(KERNEL);
    let builder = context.create_builder();
    builder.position_at_end(context.append_basic_block(empty, ""));
    // The builder is positioned in a block.
    let _ = builder.build_return(None);
}

/// Returns a module as bitcode that preserves the order of each value's uses, so that it is compiled to the same code.
pub fn write_bitcode(module: &Module<'_>) -> Vec<u8> {
    // SAFETY: the module is alive and only read; the buffer is new and has no other owner.
    let buffer = unsafe { MemoryBuffer::new(abi::nvptx_ra_write_bitcode(module.as_mut_ptr())) };
    buffer.as_slice().to_vec()
}

/// Returns the version of the LLVM in this process, `22.1.8`.
pub fn llvm_version() -> String {
    let [mut major, mut minor, mut patch] = [0; 3];
    // SAFETY: all three may be written.
    unsafe { LLVMGetVersion(&raw mut major, &raw mut minor, &raw mut patch) };
    format!("{major}.{minor}.{patch}")
}

/// Whether a function of the module has a stack variable that LLVM would promote to a register, which shows that the
/// module is not optimised. Functions marked optnone do not count.
pub fn is_unoptimised(module: &Module<'_>) -> bool {
    // SAFETY: the module is alive and only read.
    unsafe { abi::nvptx_ra_is_unoptimised(module.as_mut_ptr()) != 0 }
}

/// Runs LLVM's optimisations on a module as clang does at `level`, 0 to 3. First applies the choices of the module's
/// functions that precede these optimisations.
pub fn optimise(module: &Module<'_>, machine: &TargetMachine, level: u8) {
    // SAFETY: module and machine are alive, and no other code uses them.
    unsafe { abi::nvptx_ra_optimise(module.as_mut_ptr(), machine.as_mut_ptr(), level.into()) }
}

/// Runs the target's passes that precede all optimisations. The functions are then in the state in which a plugin of
/// clang first sees them.
pub fn start_optimising(module: &Module<'_>, machine: &TargetMachine, level: u8) {
    // SAFETY: module and machine are alive, and no other code uses them.
    unsafe { abi::nvptx_ra_start_optimising(module.as_mut_ptr(), machine.as_mut_ptr(), level.into()) }
}

/// Demangles the name of a C++ or Rust function: scope and template arguments, without result and parameters. `None` if
/// the name is not mangled.
pub fn demangle(name: &str) -> Option<String> {
    // SAFETY: the name is given with its length.
    let text = unsafe { abi::nvptx_ra_demangle(borrow(name)) };
    // SAFETY: a text that is not null was made by the shim and has no other owner.
    (!text.is_null()).then(|| unsafe { take_message(text) })
}

/// Runs the code generator on a module, which changes the module, and prints nothing. `-stop-after` determines the last
/// pass. Returns LLVM's message on an error.
pub fn generate(module: &Module<'_>, machine: &TargetMachine) -> Result<(), String> {
    let mut message = std::ptr::null_mut();
    // SAFETY: module and machine are alive and no other code uses them; `message` may be written.
    if unsafe { abi::nvptx_ra_generate(module.as_mut_ptr(), machine.as_mut_ptr(), &raw mut message) } != 0 {
        return Ok(());
    }
    // SAFETY: if code generation fails, the shim has made a message.
    Err(unsafe { take_message(message) })
}

/// Installs a handler of fatal LLVM errors, after which LLVM cannot continue. The handler prints one line with LLVM's
/// reason and `remedy`, calls `clean_up`, and ends the process with status 1. Only the `clean_up` of the first call is
/// used. LLVM's own handler would print a stack and abort.
pub fn end_after_fatal_errors(remedy: &str, clean_up: fn()) {
    clean_up_with(clean_up);
    // SAFETY: the text is given with its length, and LLVM copies it.
    unsafe { abi::nvptx_ra_end_after_fatal_errors(borrow(remedy)) };
}

/// Ends the process, even while LLVM runs in other threads.
pub fn end_at_once(status: u8) -> ! {
    // SAFETY: no handler runs, and the call does not return.
    unsafe { libc::_exit(status.into()) }
}

/// Returns the result of `compile`, which works on modules of `context`. The context's diagnostics are discarded. If
/// one of them is an error, returns its message; LLVM's own handler would end the process. A fatal error still ends the
/// process.
pub fn quietly<T>(context: &Context, compile: impl FnOnce() -> T) -> Result<T, String> {
    // SAFETY: the context is alive.
    unsafe { abi::nvptx_ra_quieten(context.raw()) };
    let result = compile();
    // SAFETY: the context is alive, and its diagnostics are discarded.
    let message = unsafe { abi::nvptx_ra_first_error(context.raw()) };
    if message.is_null() {
        return Ok(result);
    }
    // SAFETY: the shim has made the message.
    Err(unsafe { take_message(message) })
}

/// Sets the fusing of floating-point operations.
pub fn set_fp_contract(machine: &TargetMachine, mode: FpContract) {
    // SAFETY: the machine is alive, and nothing runs on it.
    unsafe { abi::nvptx_ra_set_fp_contract(machine.as_mut_ptr(), mode as u32) }
}

/// Sets LLVM options in the form that LLVM's tools accept. Returns LLVM's message on an error.
pub fn parse_llvm_options(arguments: &[String]) -> Result<(), String> {
    let texts: Result<Vec<CString>, _> = std::iter::once("nvptx-ra")
        .chain(arguments.iter().map(String::as_str))
        .map(|argument| CString::new(argument).map_err(|_| format!("{argument:?} holds a zero byte")))
        .collect();
    let texts = texts?;
    let pointers: Vec<*const c_char> = texts.iter().map(|text| text.as_ptr()).collect();
    let mut message = std::ptr::null_mut();
    // SAFETY: the count matches the terminated texts, of which LLVM copies what it keeps; `message` may be written.
    if unsafe { abi::nvptx_ra_parse_options(pointers.len() as c_int, pointers.as_ptr(), &raw mut message) } != 0 {
        return Ok(());
    }
    // SAFETY: if the options are wrong, the shim has made a message.
    Err(unsafe { take_message(message) })
}

/// # Safety
/// `message` must be a terminated text that the shim made, and must not be used again.
unsafe fn take_message(message: *mut c_char) -> String {
    // SAFETY: as the caller promises.
    unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().trim().to_owned();
        LLVMDisposeMessage(message);
        text
    }
}

#[cfg(test)]
mod tests {
    use inkwell::values::{AnyValue, BasicValue};

    use super::*;

    /// Returns the uses of the first parameter of `@k`, in order.
    fn uses(module: &Module<'_>) -> Vec<String> {
        let parameter = module.get_function("k").and_then(|kernel| kernel.get_nth_param(0)).expect("a parameter");
        let uses = std::iter::successors(parameter.get_first_use(), |of| of.get_next_use());
        uses.map(|of| of.get_user().print_to_string().to_string().trim().to_owned()).collect()
    }

    /// A slice that is written and read again keeps any order of uses.
    #[test]
    fn slices_keep_the_order_of_uses() {
        for order in ["{ 2, 1, 0 }", "{ 1, 2, 0 }", "{ 0, 2, 1 }"] {
            let text = format!(
                "define void @other() {{\n  ret void\n}}\ndefine void @k(i32 %a, ptr %p) {{\n  %x = add i32 %a, 1\n  \
                 %y = mul i32 %a, 3\n  %z = xor i32 %a, 5\n  %xy = sub i32 %x, %y\n  %xyz = sub i32 %xy, %z\n  \
                 store i32 %xyz, ptr %p\n  ret void\n  uselistorder i32 %a, {order}\n}}\n"
            );
            let context = Context::create();
            let whole = parse_ir(&context, text.as_bytes(), "whole").expect("IR");
            let bitcode = write_bitcode(&slice(&whole, "k").expect("a function"));
            let read = parse_ir(&context, &bitcode, "slice").expect("bitcode");
            assert_eq!(uses(&read), uses(&whole), "{order}");
            assert!(read.get_function("other").is_none());
        }
    }

    /// A slice of a module with several kernels has an additional empty kernel. A slice of a module with one kernel has
    /// none.
    #[test]
    fn slices_keep_several_kernels() {
        let kernel = |name: &str| format!("define ptx_kernel void @{name}() {{\n  ret void\n}}\n");
        for (text, count) in [(kernel("k"), 1), (kernel("k") + &kernel("l"), 2)] {
            let context = Context::create();
            let whole = parse_ir(&context, text.as_bytes(), "whole").expect("IR");
            let slice = slice(&whole, "k").expect("a function");
            assert_eq!(slice.get_functions().filter(is_kernel).count(), count);
            assert!(slice.get_function("l").is_none());
            assert_eq!(slice.verify(), Ok(()));
        }
    }
}
