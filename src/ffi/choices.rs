//! The passes on LLVM IR, `nvptx-ra<…>` and `print<nvptx-ra>`: choices recorded as a function attribute.
//!
//! These passes only access attributes. They therefore use LLVM's C API and need no view.

use std::ffi::CStr;
use std::io::Write;

use llvm_sys::core::{
    LLVMAddAttributeAtIndex, LLVMAppendModuleInlineAsm, LLVMBuildCall2, LLVMCreateBuilderInContext,
    LLVMCreateStringAttribute, LLVMDisposeBuilder, LLVMDisposeMessage, LLVMFunctionType, LLVMGetEntryBasicBlock,
    LLVMGetFirstFunction, LLVMGetFirstInstruction, LLVMGetFunctionCallConv, LLVMGetInlineAsm, LLVMGetModuleContext,
    LLVMGetModuleInlineAsm, LLVMGetNamedMetadata, LLVMGetNextFunction, LLVMGetOrInsertNamedMetadata,
    LLVMGetStringAttributeAtIndex, LLVMGetStringAttributeValue, LLVMGetTarget, LLVMGetValueName2, LLVMIsDeclaration,
    LLVMPositionBuilderBefore, LLVMPrintValueToString, LLVMVoidTypeInContext,
};
use llvm_sys::prelude::{LLVMContextRef, LLVMModuleRef, LLVMValueRef};
use llvm_sys::{LLVMAttributeFunctionIndex, LLVMCallConv, LLVMInlineAsmDialect};

use super::abi::{self, nvptx_ra_str};
use super::guard::entry;
use crate::error::Error;
pub(super) use crate::profile::OFF;

/// The attribute that the machine passes read.
const ATTRIBUTE: &str = "nvptx-ra";

/// A module that LLVM lends for the duration of a call.
pub(super) struct Module {
    module: LLVMModuleRef,
    context: LLVMContextRef,
}

/// A function of a borrowed [`Module`].
#[derive(Clone, Copy)]
pub(super) struct Function(LLVMValueRef);

impl Module {
    /// # Safety
    /// `module` must stay alive, and no other code may access it, as long as the result and its functions exist.
    pub(super) unsafe fn new(module: LLVMModuleRef) -> Self {
        // SAFETY: the caller promises that the module is alive.
        Self { module, context: unsafe { LLVMGetModuleContext(module) } }
    }

    pub(super) fn is_nvptx(&self) -> bool {
        // SAFETY: the module is alive, and its triple is a terminated string that lives as long as the module.
        let triple = unsafe { CStr::from_ptr(LLVMGetTarget(self.module)) };
        triple.to_bytes().starts_with(b"nvptx")
    }

    /// Returns the functions that have a body.
    pub(super) fn definitions(&self) -> impl Iterator<Item = Function> {
        // SAFETY: the module is alive; null stands for no function.
        let first = unsafe { LLVMGetFirstFunction(self.module) };
        let wrap = |value: LLVMValueRef| (!value.is_null()).then_some(Function(value));
        std::iter::successors(wrap(first), move |function| {
            // SAFETY: the function belongs to the module, which is alive and does not change during the iteration.
            wrap(unsafe { LLVMGetNextFunction(function.0) })
        })
        // SAFETY: as above.
        .filter(|function| unsafe { LLVMIsDeclaration(function.0) } == 0)
    }

    pub(super) fn record(&self, function: Function, choices: &str) {
        self.set(function, ATTRIBUTE, choices);
    }

    /// Sets a string attribute of a function.
    pub(super) fn set(&self, function: Function, key: &str, value: &str) {
        // SAFETY: the function belongs to the module and the attribute to its context; both texts are given with their
        // lengths, and LLVM copies them.
        unsafe {
            let attribute = LLVMCreateStringAttribute(
                self.context,
                key.as_ptr().cast(),
                key.len() as u32,
                value.as_ptr().cast(),
                value.len() as u32,
            );
            LLVMAddAttributeAtIndex(function.0, LLVMAttributeFunctionIndex, attribute);
        }
    }

    /// Marks the module with named metadata.
    pub(super) fn mark(&self, name: &str) {
        // SAFETY: the module is alive, and the name is given with its length.
        unsafe { LLVMGetOrInsertNamedMetadata(self.module, name.as_ptr().cast(), name.len()) };
    }

    /// Returns the module's inline assembly.
    fn assembly(&self) -> String {
        let mut length = 0;
        // SAFETY: the module is alive.
        let text = unsafe { LLVMGetModuleInlineAsm(self.module, &mut length) };
        // SAFETY: LLVM returns the text with its length. The text stays alive until it is changed.
        String::from_utf8_lossy(unsafe { bytes(text.cast(), length) }).into_owned()
    }

    /// Adds a line to the module's inline assembly, unless the assembly already contains it.
    fn add_assembly(&self, line: &str) {
        if !self.assembly().contains(line) {
            // SAFETY: the module is alive, and the line is given with its length.
            unsafe { LLVMAppendModuleInlineAsm(self.module, line.as_ptr().cast(), line.len()) };
        }
    }

    /// Whether the module is marked with this name.
    pub(super) fn is_marked(&self, name: &str) -> bool {
        // SAFETY: the module is alive, and the name is given with its length.
        !unsafe { LLVMGetNamedMetadata(self.module, name.as_ptr().cast(), name.len()) }.is_null()
    }

    /// Inserts a PTX directive without operands at the top of a function's body, before all other instructions. The
    /// directive is inline assembly with side effects, so that passes neither remove nor duplicate it.
    pub(super) fn insert_directive(&self, function: Function, directive: &str) {
        // SAFETY: the function belongs to the module and has a body, whose blocks each end in an instruction. Both
        // texts are given with their lengths, and LLVM copies them. The builder is disposed of once.
        unsafe {
            let kind = LLVMFunctionType(LLVMVoidTypeInContext(self.context), std::ptr::null_mut(), 0, 0);
            let dialect = LLVMInlineAsmDialect::LLVMInlineAsmDialectATT;
            let text = directive.as_ptr().cast();
            let line = LLVMGetInlineAsm(kind, text, directive.len(), c"".as_ptr(), 0, 1, 0, dialect, 0);
            let builder = LLVMCreateBuilderInContext(self.context);
            LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function.0)));
            LLVMBuildCall2(builder, kind, line, std::ptr::null_mut(), 0, c"".as_ptr());
            LLVMDisposeBuilder(builder);
        }
    }
}

impl Function {
    /// Returns the function as LLVM prints it.
    pub(super) fn ir(self) -> String {
        // SAFETY: the function is alive. LLVM returns a terminated text, which is freed here once.
        unsafe {
            let text = LLVMPrintValueToString(self.0);
            let ir = CStr::from_ptr(text).to_string_lossy().into_owned();
            LLVMDisposeMessage(text);
            ir
        }
    }

    /// Whether the function is a kernel.
    pub(super) fn is_kernel(self) -> bool {
        // SAFETY: the function is alive.
        unsafe { LLVMGetFunctionCallConv(self.0) == LLVMCallConv::LLVMPTXKernelCallConv as u32 }
    }

    pub(super) fn name(self) -> String {
        let mut length = 0;
        // SAFETY: the function is alive.
        let name = unsafe { LLVMGetValueName2(self.0, &mut length) };
        // SAFETY: LLVM returns the name with its length. The name lives as long as the function keeps it.
        String::from_utf8_lossy(unsafe { bytes(name.cast(), length) }).into_owned()
    }

    /// Returns the choices recorded for the function. `None` if there are none.
    pub(super) fn recorded(self) -> Option<String> {
        self.attribute(ATTRIBUTE)
    }

    /// Returns the value of a string attribute. `None` if the function lacks the attribute.
    pub(super) fn attribute(self, key: &str) -> Option<String> {
        // SAFETY: the function is alive, and the key is given with its length.
        let attribute = unsafe {
            LLVMGetStringAttributeAtIndex(self.0, LLVMAttributeFunctionIndex, key.as_ptr().cast(), key.len() as u32)
        };
        if attribute.is_null() {
            return None;
        }
        let mut length = 0;
        // SAFETY: it is a string attribute, because it was requested by a string.
        let value = unsafe { LLVMGetStringAttributeValue(attribute, &mut length) };
        // SAFETY: LLVM returns the value with its length. The value lives as long as the context.
        Some(String::from_utf8_lossy(unsafe { bytes(value.cast(), length as usize) }).into_owned())
    }
}

/// # Safety
/// If `length` is not 0, `data` must point to that many bytes that stay alive and unchanged during `'a`.
unsafe fn bytes<'a>(data: *const u8, length: usize) -> &'a [u8] {
    if length == 0 {
        return &[];
    }
    // SAFETY: as the caller promises.
    unsafe { std::slice::from_raw_parts(data, length) }
}

/// Returns the recorded choices after `new` is added to `recorded`. `None` if nothing changes. The existing choices
/// come first, because the later of two choices with the same name is used.
pub(super) fn merge(recorded: Option<&str>, new: &str) -> Option<String> {
    match recorded {
        None => Some(new.to_owned()),
        Some(OFF) => None,
        Some(recorded) if recorded == new || new.is_empty() || recorded.ends_with(&format!(";{new}")) => None,
        Some("") => Some(new.to_owned()),
        Some(recorded) => Some(format!("{recorded};{new}")),
    }
}

fn record_choices(module: &Module, choices: &str) -> bool {
    let mut changed = false;
    if module.is_nvptx() {
        for function in module.definitions() {
            if let Some(merged) = merge(function.recorded().as_deref(), choices) {
                module.record(function, &merged);
                changed = true;
            }
        }
    }
    changed
}

fn print_choices(module: &Module) -> String {
    let line = |function: Function| {
        let choices = function.recorded();
        format!("{}: {}\n", function.name(), choices.as_deref().unwrap_or("defaults"))
    };
    module.definitions().map(line).collect()
}

/// Records choices in a module: the pass `nvptx-ra<…>`. Returns 1 if a function changed.
///
/// # Safety
/// `module` must be a live module that no other code accesses during the call. The text must be live, and its length
/// must be correct.
// SAFETY: the shim declares this exact name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_record_choices(module: LLVMModuleRef, parameters: nvptx_ra_str) -> u32 {
    entry(say, || {
        // SAFETY: the caller promises both.
        let (module, choices) = unsafe { (Module::new(module), abi::text(parameters)) };
        u32::from(record_choices(&module, &choices))
    })
}

/// Prints the recorded choices to standard error: the pass `print<nvptx-ra>`.
///
/// # Safety
/// `module` must be a live module that no other code accesses during the call.
// SAFETY: the shim declares this exact name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_print_choices(module: LLVMModuleRef) {
    entry(say, || {
        // SAFETY: the caller promises it.
        let text = print_choices(&unsafe { Module::new(module) });
        // A closed standard error must not end the compiler.
        let _ = std::io::stderr().write_all(text.as_bytes());
    });
}

/// Adds the plugin's version to a module as a comment, unless the module already contains it. Machine code from an
/// interrupted code generation does.
///
/// # Safety
/// `module` must be a live module that no other code accesses during the call.
// SAFETY: the shim declares this exact name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_add_header_note(module: LLVMModuleRef) {
    entry(say, || {
        // SAFETY: the caller promises it.
        let module = unsafe { Module::new(module) };
        module.add_assembly(concat!("// nvptx-ra ", env!("CARGO_PKG_VERSION")));
    });
}

/// Prints an error on standard error, and returns the default.
fn say<T: Default>(error: Error) -> T {
    let _ = writeln!(std::io::stderr(), "{error}");
    T::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Choices accumulate, and later ones are appended. Repeated choices are recorded once.
    #[test]
    fn choices_add_up() {
        assert_eq!(merge(None, "verify"), Some("verify".into()));
        assert_eq!(merge(Some(""), "verify"), Some("verify".into()));
        assert_eq!(merge(Some("copy-limit=1"), "copy-limit=2"), Some("copy-limit=1;copy-limit=2".into()));
        assert_eq!(merge(Some("verify"), "verify"), None);
        assert_eq!(merge(Some("strict;verify"), "verify"), None);
    }

    /// A function that is excluded stays excluded, and an empty choice changes nothing.
    #[test]
    fn off_stays() {
        assert_eq!(merge(Some("off"), "verify"), None);
        assert_eq!(merge(Some("verify"), ""), None);
    }

    /// Only functions with a body in modules for NVPTX are marked. The test uses LLVM itself.
    #[test]
    fn marks_nvptx_definitions() {
        for (triple, expected) in [("nvptx64-nvidia-cuda", "k: verify\n"), ("x86_64-linux-gnu", "k: defaults\n")] {
            let context = inkwell::context::Context::create();
            let module = context.create_module("m");
            module.set_triple(&inkwell::targets::TargetTriple::create(triple));
            let void = context.void_type().fn_type(&[], false);
            module.add_function("declared", void, None);
            let kernel = module.add_function("k", void, None);
            context.append_basic_block(kernel, "entry");
            // SAFETY: the module lives to the end of the loop, and has no other user.
            let borrowed = unsafe { Module::new(module.as_mut_ptr()) };
            assert_eq!(record_choices(&borrowed, "verify"), triple.starts_with("nvptx"));
            assert_eq!(print_choices(&borrowed), expected);
            assert!(!record_choices(&borrowed, "verify"), "recorded twice");
        }
    }

    /// The version occurs in the module once.
    #[test]
    fn the_header_has_the_version_once() {
        let context = inkwell::context::Context::create();
        let module = context.create_module("m");
        for _ in 0..2 {
            // SAFETY: the module lives to the end of the test, and has no other user.
            let borrowed = unsafe {
                nvptx_ra_add_header_note(module.as_mut_ptr());
                Module::new(module.as_mut_ptr())
            };
            assert_eq!(borrowed.assembly(), concat!("// nvptx-ra ", env!("CARGO_PKG_VERSION"), "\n"));
        }
    }
}
