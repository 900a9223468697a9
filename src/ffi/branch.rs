//! Code generation that forks. The work that all functions share is done once, and each forked process then generates
//! its own code.

use std::ffi::c_void;
use std::io;

use nix::unistd::ForkResult;

use super::guard::entry;
use super::purpose::{Purpose, PurposeScope};

/// Whether the process is the parent or the child of a fork.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The process that forked.
    Parent,
    /// The new process.
    Child,
}

/// Runs `generate`, which generates code on this thread. Calls `reached` once, when instruction selection of the first
/// function is done and none of the plugin's passes has run. `reached` may change function attributes, unless they
/// affect the function's IR.
pub fn at_branching_point<R>(mut reached: impl FnMut(), generate: impl FnOnce() -> R) -> R {
    unsafe extern "C" fn call<F: FnMut()>(data: *mut c_void) {
        // Code generation continues after a panic.
        entry(
            |_| (),
            || {
                // SAFETY: the data is the closure below, which no other code uses while code is generated.
                let reached = unsafe { &mut *data.cast::<F>() };
                reached();
            },
        );
    }
    fn caller<F: FnMut()>(_: &F) -> unsafe extern "C" fn(*mut c_void) {
        call::<F>
    }
    let call = caller(&reached);
    let purpose = Purpose { reached: Some(call), reached_data: (&raw mut reached).cast(), ..Purpose::default() };
    // SAFETY: the scope ends before the closure, and code is generated on this thread only.
    let _scope = unsafe { PurposeScope::new(purpose) };
    generate()
}

/// Forks the process. Returns an error if the system cannot fork or if the process has other threads. The child would
/// inherit the locks of these threads, but not the threads.
pub fn fork() -> io::Result<Side> {
    let threads = std::fs::read_dir("/proc/self/task").map_or(1, Iterator::count);
    if threads > 1 {
        return Err(io::Error::other(format!("a process with {threads} threads cannot fork")));
    }
    // SAFETY: there is no other thread, so the child may do everything that its parent may.
    Ok(match unsafe { nix::unistd::fork() }? {
        ForkResult::Child => Side::Child,
        ForkResult::Parent { .. } => Side::Parent,
    })
}

#[cfg(test)]
mod tests {
    use inkwell::OptimizationLevel;
    use inkwell::context::Context;
    use inkwell::targets::{CodeModel, InitializationConfig, RelocMode, Target, TargetTriple};

    use super::{at_branching_point, fork};
    use crate::ffi::codegen::{generate, parse_ir};
    use crate::ffi::purpose::current;

    /// A panic in the called closure does not affect the code generator.
    #[test]
    fn generation_goes_on_behind_a_panic() {
        Target::initialize_nvptx(&InitializationConfig::default());
        let context = Context::create();
        let text = b"target triple = \"nvptx64-nvidia-cuda\"\ndefine ptx_kernel void @k() {\n  ret void\n}\n";
        let module = parse_ir(&context, text, "m").expect("IR");
        let triple = TargetTriple::create("nvptx64-nvidia-cuda");
        let machine = Target::from_triple(&triple).expect("LLVM has NVPTX").create_target_machine(
            &triple,
            "sm_90",
            "",
            OptimizationLevel::Default,
            RelocMode::Default,
            CodeModel::Default,
        );
        let machine = machine.expect("LLVM has sm_90");
        let mut calls = 0;
        let reached = || {
            calls += 1;
            panic!("where variants part");
        };
        assert_eq!(at_branching_point(reached, || generate(&module, &machine)), Ok(()));
        assert_eq!(calls, 1);
    }

    /// If code generation panics, the closure is not called later: it no longer exists.
    #[test]
    fn a_panic_takes_the_point_back() {
        let generate = || at_branching_point(|| unreachable!("no code is generated"), || panic!("on the way"));
        std::panic::catch_unwind(generate).expect_err("it panics");
        assert!(current().reached.is_none());
        at_branching_point(|| unreachable!("no code is generated"), || assert!(current().reached.is_some()));
        assert!(current().reached.is_none());
    }

    /// A process with several threads, such as a test, does not fork.
    #[test]
    fn threads_are_refused() {
        let problem = std::thread::spawn(fork).join().expect("it ends").expect_err("there are threads");
        assert!(problem.to_string().contains("threads"), "{problem}");
    }
}
