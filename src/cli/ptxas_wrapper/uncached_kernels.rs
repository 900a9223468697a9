//! Searches those kernels of a PTX module that have no result in the cache.

use std::cell::Cell;

use nvptx_ra::error::Error;

use super::task::Task;
use crate::interrupt::is_interrupted;
use crate::tune::kernel_results::{KernelInput, KernelResult, Lookup};
use crate::tune::request::{self, Answer, Found, Request};

/// The machine code of a search's result, and ptxas's messages for it. The inner error is a reproducible rejection of
/// the code: the next search would have the same error.
pub(super) type Finished = Result<Result<(Vec<u8>, String), Error>, Error>;

/// Searches the kernels without cached results, and caches their results. If the module's code does not confirm the
/// cached results, all kernels are searched.
pub(super) fn search_uncached<'a>(
    task: &Task<'_>,
    request: &dyn Fn() -> Request<'a>,
    finish: &dyn Fn(&Found) -> Finished,
) -> Result<(Answer, Option<Finished>), Error> {
    let first = request();
    let how = format!("{:?} {:?}", first.scope, first.allowance);
    let answers = task.place.as_ref().map(|place| place.kernels(&how));
    let is_better_by_answer = Cell::new(false);
    let lookup = |input: &KernelInput| {
        let answer = answers.as_ref()?.get(input);
        is_better_by_answer.set(is_better_by_answer.get() || answer.as_ref().is_some_and(KernelResult::is_better));
        answer
    };
    let search = |request: Request<'_>, lookup: &Lookup<'_>| -> Result<(Answer, Option<Finished>), Error> {
        let lookup = answers.is_some().then_some(lookup);
        let answer = request::search(Request { lookup, ..request })?;
        let finished = answer.found.as_ref().map(finish);
        Ok((answer, finished))
    };
    let is_good = |done: &Result<(Answer, Option<Finished>), Error>| matches!(done, Ok((_, None | Some(Ok(Ok(_))))));
    let mut done = search(first, &lookup);
    if is_better_by_answer.get() && !is_good(&done) && !is_interrupted() {
        task.settings.note("earlier results of kernels do not hold in this file: all kernels are searched");
        done = search(request(), &|_| None);
    }
    if let (true, Ok((answer, _)), Some(answers)) = (is_good(&done), &done, &answers) {
        let learned = answer.learned.iter().filter(|_| answer.lasts);
        let kept = learned.map(|(input, answer)| answers.put(input, answer));
        kept.filter_map(Result::err).take(1).for_each(|error| task.settings.note(&error.to_string()));
    }
    done
}
