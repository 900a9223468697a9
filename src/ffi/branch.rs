//! Code generation that forks: what functions share is done once, and each process that goes on from there makes code of
//! its own.

use std::ffi::c_void;
use std::io;

use nix::unistd::ForkResult;

use super::guard::entry;
use super::purpose::{Purpose, PurposeScope};

/// Whether the process is the one that forked, or the new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The one that forked.
    Parent,
    /// The new one.
    Child,
}

/// Runs `generate`, which generates code on this thread. `reached` is called once in it: when instruction selection is
/// done with the first function and no pass of ours has run. What functions ask for by their attributes may still be
/// changed then, but for what changes their IR.
pub fn at_branching_point<R>(mut reached: impl FnMut(), generate: impl FnOnce() -> R) -> R {
    unsafe extern "C" fn call<F: FnMut()>(data: *mut c_void) {
        // Code generation goes on behind a panic.
        entry(
            |_| (),
            || {
                // SAFETY: the data is the closure below, which nobody else uses while code is generated.
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
    // SAFETY: the closure outlives the scope, which ends first, and code is generated on this thread alone.
    let _scope = unsafe { PurposeScope::new(purpose) };
    generate()
}

/// Forks the process. An error where the system cannot, or where the process has other threads: the child would have
/// their locks, and not them.
pub fn fork() -> io::Result<Side> {
    let threads = std::fs::read_dir("/proc/self/task").map_or(1, Iterator::count);
    if threads > 1 {
        return Err(io::Error::other(format!("a process with {threads} threads cannot fork")));
    }
    // SAFETY: there is no other thread, so that the child may do whatever its parent may.
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

    /// A panic of what is called is no matter to the code generator.
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

    /// Where code generation panics, nobody is called later: the closure is gone.
    #[test]
    fn a_panic_takes_the_point_back() {
        let generate = || at_branching_point(|| unreachable!("no code is generated"), || panic!("on the way"));
        std::panic::catch_unwind(generate).expect_err("it panics");
        assert!(current().reached.is_none());
        at_branching_point(|| unreachable!("no code is generated"), || assert!(current().reached.is_some()));
        assert!(current().reached.is_none());
    }

    /// A process with threads, as a test is, does not fork.
    #[test]
    fn threads_are_refused() {
        let problem = std::thread::spawn(fork).join().expect("it ends").expect_err("there are threads");
        assert!(problem.to_string().contains("threads"), "{problem}");
    }
}
