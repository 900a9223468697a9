//! Code generation that forks: what functions share is done once, and each process that goes on from there makes code of
//! its own.

use std::ffi::c_void;
use std::io;

use nix::unistd::ForkResult;

use super::guard::guard;

// Mirrors cpp-shim/include/nvptx_ra_codegen.h.
unsafe extern "C" {
    fn nvptx_ra_set_branching_point(reached: Option<unsafe extern "C" fn(*mut c_void)>, data: *mut c_void);
}

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
        // SAFETY: the data is the closure below, which nobody else uses while code is generated.
        let reached = unsafe { &mut *data.cast::<F>() };
        // The guard has the message of a panic, and code generation goes on.
        let _ = guard(|| {
            reached();
            Ok(())
        });
    }
    fn caller<F: FnMut()>(_: &F) -> unsafe extern "C" fn(*mut c_void) {
        call::<F>
    }
    let call = caller(&reached);
    // SAFETY: the closure lives until the point is taken back below, on this thread, which alone has it.
    unsafe { nvptx_ra_set_branching_point(Some(call), (&raw mut reached).cast()) };
    let result = generate();
    // SAFETY: nothing is handed over.
    unsafe { nvptx_ra_set_branching_point(None, std::ptr::null_mut()) };
    result
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
    use super::fork;

    /// A process with threads, as a test is, does not fork.
    #[test]
    fn threads_are_refused() {
        let problem = std::thread::spawn(fork).join().expect("it ends").expect_err("there are threads");
        assert!(problem.to_string().contains("threads"), "{problem}");
    }
}
