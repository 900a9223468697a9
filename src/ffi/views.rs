//! The functions of a module as the coalescer gets them: what the tool reads instead of having them coalesced.

use std::cell::RefCell;
use std::sync::Arc;

use crate::function::Function;
use crate::target::Classification;

/// A function, and what its opcodes mean.
type View = (Function, Arc<Classification>);

thread_local! {
    /// Where functions go while somebody collects them.
    static COLLECTED: RefCell<Option<Vec<View>>> = const { RefCell::new(None) };
}

/// Collects the functions that reach the coalescer while `generate` runs, in order, each with what its opcodes mean. The
/// coalescer leaves them as they are, and those that it would leave out are left out.
pub fn collect<E>(generate: impl FnOnce() -> Result<(), E>) -> Result<Vec<View>, E> {
    let collection = Collection { before: COLLECTED.replace(Some(Vec::new())) };
    generate()?;
    Ok(collection.finish())
}

/// The functions of a thread are being collected: where this goes, also in a panic, it is as it was before.
struct Collection {
    before: Option<Vec<View>>,
}

impl Collection {
    fn finish(self) -> Vec<View> {
        COLLECTED.take().unwrap_or_default()
    }
}

impl Drop for Collection {
    fn drop(&mut self) {
        COLLECTED.set(self.before.take());
    }
}

/// Whether functions are being collected.
pub(super) fn are_collected() -> bool {
    COLLECTED.with_borrow(Option::is_some)
}

/// Adds a function to those that are being collected.
pub(super) fn add(function: Function, classification: Arc<Classification>) {
    COLLECTED.with_borrow_mut(|collected| {
        if let Some(collected) = collected {
            collected.push((function, classification));
        }
    });
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::abi;
    use super::super::run::nvptx_ra_run;
    use super::super::tests::sample::{Answer, Sample, request};
    use super::{add, are_collected, collect};
    use crate::config::{COPY_COALESCER, FORECAST};
    use crate::function::FunctionBuilder;
    use crate::target::Classification;

    /// While functions are collected the coalescer changes none and hands over those that it would not leave out; other
    /// passes do what they do.
    #[test]
    fn functions_that_reach_the_coalescer() {
        let sample = Sample::new();
        let view = sample.view();
        let run = |pass: &str, flags| {
            let request = abi::nvptx_ra_request { flags, ..request(&view, pass, "") };
            // SAFETY: the request, the view and its memory are alive.
            let answer = Answer(unsafe { nvptx_ra_run(&request) });
            assert_eq!(answer.raw().status, abi::NVPTX_RA_STATUS_UNCHANGED, "{}", answer.message());
        };
        let collected = collect::<()>(|| {
            run(COPY_COALESCER, 0);
            run(COPY_COALESCER, abi::NVPTX_RA_REQUEST_OPTNONE);
            run(FORECAST, 0);
            Ok(())
        });
        let names: Vec<String> = collected.iter().flatten().map(|(function, _)| function.name().to_owned()).collect();
        assert_eq!(names, ["k"]);
    }

    /// What is added is handed back where all went well, and nothing is collected before and after.
    #[test]
    fn collecting() {
        assert!(!are_collected());
        let add_one = || add(FunctionBuilder::new("k", Arc::default()).finish(), Arc::new(Classification::new([])));
        add_one();
        let collected = collect::<()>(|| {
            assert!(are_collected());
            add_one();
            Ok(())
        });
        assert_eq!(collected.expect("all went well").len(), 1);
        assert_eq!(collect(|| Err("not so well")).err(), Some("not so well"));
        assert!(!are_collected());
    }

    /// Where code generation panics nothing is collected any more: the coalescer is on again.
    #[test]
    fn a_panic_ends_collecting() {
        let generate = || collect::<()>(|| panic!("on the way"));
        std::panic::catch_unwind(generate).expect_err("it panics");
        assert!(!are_collected());
    }
}
