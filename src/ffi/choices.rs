//! The passes on LLVM IR, `nvptx-ra<…>` and `print<nvptx-ra>`: choices recorded as a function attribute.
//!
//! They only look at attributes, so that they speak LLVM's C API and need no view.

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

/// A module that LLVM lends for the time of a call.
pub(super) struct Module {
    module: LLVMModuleRef,
    context: LLVMContextRef,
}

/// A function of a borrowed [`Module`].
#[derive(Clone, Copy)]
pub(super) struct Function(LLVMValueRef);

impl Module {
    /// # Safety
    /// `module` is a module that stays alive, and that nobody else touches, as long as the result and its functions.
    pub(super) unsafe fn new(module: LLVMModuleRef) -> Self {
        // SAFETY: the caller promises that the module is alive.
        Self { module, context: unsafe { LLVMGetModuleContext(module) } }
    }

    pub(super) fn is_nvptx(&self) -> bool {
        // SAFETY: the module is alive, and its triple is a terminated string that lives as long.
        let triple = unsafe { CStr::from_ptr(LLVMGetTarget(self.module)) };
        triple.to_bytes().starts_with(b"nvptx")
    }

    /// The functions that have a body.
    pub(super) fn definitions(&self) -> impl Iterator<Item = Function> {
        // SAFETY: the module is alive; null stands for none.
        let first = unsafe { LLVMGetFirstFunction(self.module) };
        let wrap = |value: LLVMValueRef| (!value.is_null()).then_some(Function(value));
        std::iter::successors(wrap(first), move |function| {
            // SAFETY: the function belongs to the module, which is alive and not changed meanwhile.
            wrap(unsafe { LLVMGetNextFunction(function.0) })
        })
        // SAFETY: as above.
        .filter(|function| unsafe { LLVMIsDeclaration(function.0) } == 0)
    }

    pub(super) fn record(&self, function: Function, choices: &str) {
        self.set(function, ATTRIBUTE, choices);
    }

    /// Gives a function a string attribute.
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

    /// Marks the module by a name.
    pub(super) fn mark(&self, name: &str) {
        // SAFETY: the module is alive, and the name is given with its length.
        unsafe { LLVMGetOrInsertNamedMetadata(self.module, name.as_ptr().cast(), name.len()) };
    }

    /// Its inline assembly.
    fn assembly(&self) -> String {
        let mut length = 0;
        // SAFETY: the module is alive.
        let text = unsafe { LLVMGetModuleInlineAsm(self.module, &mut length) };
        // SAFETY: LLVM returns the text with its length; it lives as long as nobody changes it.
        String::from_utf8_lossy(unsafe { bytes(text.cast(), length) }).into_owned()
    }

    /// Adds a line to its inline assembly, where that has none with that text.
    fn add_assembly(&self, line: &str) {
        if !self.assembly().contains(line) {
            // SAFETY: the module is alive, and the line is given with its length.
            unsafe { LLVMAppendModuleInlineAsm(self.module, line.as_ptr().cast(), line.len()) };
        }
    }

    /// Whether the module is marked by a name.
    pub(super) fn is_marked(&self, name: &str) -> bool {
        // SAFETY: the module is alive, and the name is given with its length.
        !unsafe { LLVMGetNamedMetadata(self.module, name.as_ptr().cast(), name.len()) }.is_null()
    }

    /// Puts a line of PTX, without operands, at the top of a function's body: inline assembly with effects, which no
    /// pass takes out or duplicates there, and which nothing stands ahead of.
    pub(super) fn insert_directive(&self, function: Function, directive: &str) {
        // SAFETY: the function belongs to the module and has a body, whose blocks end in an instruction each; both
        // texts are given with their lengths, and LLVM copies them; the builder is disposed of once.
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
    /// Its body, as LLVM prints it.
    pub(super) fn ir(self) -> String {
        // SAFETY: the function is alive; LLVM makes a terminated text, which is freed here once.
        unsafe {
            let text = LLVMPrintValueToString(self.0);
            let ir = CStr::from_ptr(text).to_string_lossy().into_owned();
            LLVMDisposeMessage(text);
            ir
        }
    }

    /// Whether it is launched, not called.
    pub(super) fn is_kernel(self) -> bool {
        // SAFETY: the function is alive.
        unsafe { LLVMGetFunctionCallConv(self.0) == LLVMCallConv::LLVMPTXKernelCallConv as u32 }
    }

    pub(super) fn name(self) -> String {
        let mut length = 0;
        // SAFETY: the function is alive.
        let name = unsafe { LLVMGetValueName2(self.0, &mut length) };
        // SAFETY: LLVM returns the name with its length; it lives as long as the function keeps it.
        String::from_utf8_lossy(unsafe { bytes(name.cast(), length) }).into_owned()
    }

    /// The choices recorded for it, if there are any.
    pub(super) fn recorded(self) -> Option<String> {
        self.attribute(ATTRIBUTE)
    }

    /// The value of a string attribute, if it has that.
    pub(super) fn attribute(self, key: &str) -> Option<String> {
        // SAFETY: the function is alive, and the key is given with its length.
        let attribute = unsafe {
            LLVMGetStringAttributeAtIndex(self.0, LLVMAttributeFunctionIndex, key.as_ptr().cast(), key.len() as u32)
        };
        if attribute.is_null() {
            return None;
        }
        let mut length = 0;
        // SAFETY: it is a string attribute, because it was asked for by a string.
        let value = unsafe { LLVMGetStringAttributeValue(attribute, &mut length) };
        // SAFETY: LLVM returns the value with its length; it lives as long as the context.
        Some(String::from_utf8_lossy(unsafe { bytes(value.cast(), length as usize) }).into_owned())
    }
}

/// # Safety
/// Where `length` is not 0, `data` points to that many bytes that live and do not change during `'a`.
unsafe fn bytes<'a>(data: *const u8, length: usize) -> &'a [u8] {
    if length == 0 {
        return &[];
    }
    // SAFETY: as the caller promises.
    unsafe { std::slice::from_raw_parts(data, length) }
}

/// What is recorded after `new` was chosen where `recorded` stood; `None` where that is the same. Of two choices under
/// one name the later counts, so that those already there simply go first.
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

/// Records choices in a module: the pass `nvptx-ra<…>`. Returns 1 where a function changed.
///
/// # Safety
/// `module` is a live module that nobody else touches during the call; the text is live and as long as it says.
// SAFETY: the shim declares this very name.
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
/// `module` is a live module that nobody else touches during the call.
// SAFETY: the shim declares this very name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_print_choices(module: LLVMModuleRef) {
    entry(say, || {
        // SAFETY: the caller promises it.
        let text = print_choices(&unsafe { Module::new(module) });
        // A closed standard error is no reason to end the compiler.
        let _ = std::io::stderr().write_all(text.as_bytes());
    });
}

/// Adds the version of the plugin as a comment to a module. Machine code that was printed half-way carries it already.
///
/// # Safety
/// `module` is a live module that nobody else touches during the call.
// SAFETY: the shim declares this very name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_add_header_note(module: LLVMModuleRef) {
    entry(say, || {
        // SAFETY: the caller promises it.
        let module = unsafe { Module::new(module) };
        module.add_assembly(concat!("// nvptx-ra ", env!("CARGO_PKG_VERSION")));
    });
}

/// Says on standard error why nothing was done.
fn say<T: Default>(error: Error) -> T {
    let _ = writeln!(std::io::stderr(), "{error}");
    T::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Choices add up, the later ones behind; the same ones are recorded once.
    #[test]
    fn choices_add_up() {
        assert_eq!(merge(None, "verify"), Some("verify".into()));
        assert_eq!(merge(Some(""), "verify"), Some("verify".into()));
        assert_eq!(merge(Some("copy-limit=1"), "copy-limit=2"), Some("copy-limit=1;copy-limit=2".into()));
        assert_eq!(merge(Some("verify"), "verify"), None);
        assert_eq!(merge(Some("strict;verify"), "verify"), None);
    }

    /// A function that is to be left alone stays so, and no choice changes nothing.
    #[test]
    fn off_stays() {
        assert_eq!(merge(Some("off"), "verify"), None);
        assert_eq!(merge(Some("verify"), ""), None);
    }

    /// Only functions with a body in modules for NVPTX are marked, through LLVM itself.
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
            // SAFETY: the module lives to the end of the loop, and this is its only user.
            let borrowed = unsafe { Module::new(module.as_mut_ptr()) };
            assert_eq!(record_choices(&borrowed, "verify"), triple.starts_with("nvptx"));
            assert_eq!(print_choices(&borrowed), expected);
            assert!(!record_choices(&borrowed, "verify"), "recorded twice");
        }
    }

    /// The version stands in the module once.
    #[test]
    fn the_header_has_the_version_once() {
        let context = inkwell::context::Context::create();
        let module = context.create_module("m");
        for _ in 0..2 {
            // SAFETY: the module lives to the end of the test, and this is its only user.
            let borrowed = unsafe {
                nvptx_ra_add_header_note(module.as_mut_ptr());
                Module::new(module.as_mut_ptr())
            };
            assert_eq!(borrowed.assembly(), concat!("// nvptx-ra ", env!("CARGO_PKG_VERSION"), "\n"));
        }
    }
}
