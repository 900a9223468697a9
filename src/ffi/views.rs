//! Collects the functions of a module as the coalescer receives them. The tool reads these functions, and they are not
//! coalesced.

use std::sync::Arc;

use super::purpose::{Purpose, PurposeScope};
use crate::function::Function;
use crate::target::Classification;

/// Functions, each with the classification of its opcodes.
pub(super) type Collected = Vec<(Function, Arc<Classification>)>;

/// Collects the functions that reach the coalescer while `generate` runs, in order, each with the classification of its
/// opcodes. The coalescer leaves them unchanged. Functions that the coalescer would exclude are not collected.
pub fn collect<E>(generate: impl FnOnce() -> Result<(), E>) -> Result<Collected, E> {
    let mut collected = Collected::new();
    {
        let purpose = Purpose { collected: (&raw mut collected).cast(), ..Purpose::default() };
        // SAFETY: the collection outlives the scope. In the scope, only the sessions of its compilations use it.
        let _scope = unsafe { PurposeScope::new(purpose) };
        generate()?;
    }
    Ok(collected)
}

#[cfg(test)]
mod tests {
    use super::super::abi;
    use super::super::purpose::current;
    use super::super::run::nvptx_ra_run;
    use super::super::session::{nvptx_ra_session_free, nvptx_ra_session_new};
    use super::super::tests::sample::{Answer, Sample, request};
    use super::collect;
    use crate::config::{COPY_COALESCER, FORECAST};

    /// While functions are collected, the coalescer changes no function. It adds each function to the collection,
    /// except functions that it would exclude. Other passes are not affected.
    #[test]
    fn functions_that_reach_the_coalescer() {
        let sample = Sample::new();
        let view = sample.view();
        let collected = collect::<()>(|| {
            // SAFETY: the collection lives to the end of the closure, and the session is freed in it.
            let session = unsafe { nvptx_ra_session_new(current().collected) };
            let run = |pass: &str, flags| {
                let request = abi::nvptx_ra_request { flags, session: session.cast(), ..request(&view, pass, "") };
                // SAFETY: the request, the view, the session and their memory are alive.
                let answer = Answer(unsafe { nvptx_ra_run(&request) });
                assert_eq!(answer.raw().status, abi::NVPTX_RA_STATUS_UNCHANGED, "{}", answer.message());
            };
            run(COPY_COALESCER, 0);
            run(COPY_COALESCER, abi::NVPTX_RA_REQUEST_OPTNONE);
            run(FORECAST, 0);
            // SAFETY: the session is not used again.
            unsafe { nvptx_ra_session_free(session) };
            Ok(())
        });
        let names: Vec<String> = collected.iter().flatten().map(|(function, _)| function.name().to_owned()).collect();
        assert_eq!(names, ["k"]);
    }

    /// Functions are collected only while code is generated, even if this fails or panics.
    #[test]
    fn nothing_is_collected_outside() {
        let is_collecting = || !current().collected.is_null();
        let within = || {
            assert!(is_collecting());
            Ok::<(), ()>(())
        };
        assert!(collect(within).is_ok_and(|collected| collected.is_empty()));
        assert!(!is_collecting());
        assert_eq!(collect(|| Err("not so well")).err(), Some("not so well"));
        assert!(!is_collecting());
        std::panic::catch_unwind(|| collect::<()>(|| panic!("on the way"))).expect_err("it panics");
        assert!(!is_collecting());
    }
}
