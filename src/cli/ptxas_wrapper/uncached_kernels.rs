//! A search of those kernels of a text that have no answer in the cache.

use std::cell::Cell;

use nvptx_ra::error::Error;

use super::task::Task;
use crate::interrupt::is_interrupted;
use crate::tune::known::{KernelAnswer, Recall, Subject};
use crate::tune::request::{self, Answer, Found, Request};

/// The machine code of what was found, and what ptxas prints of it; an error in it where the code is none that counts, and would
/// be none the next time.
pub(super) type Finished = Result<Result<(Vec<u8>, String), Error>, Error>;

/// Searches the kernels whose answers are not known, and keeps what it learns of them. Where ptxas makes something else of what is
/// known, everything is searched.
pub(super) fn searched<'a>(
    task: &Task<'_>,
    request: &dyn Fn() -> Request<'a>,
    finish: &dyn Fn(&Found) -> Finished,
) -> Result<(Answer, Option<Finished>), Error> {
    let first = request();
    let how = format!("{:?} {:?}", first.scope, first.allowance);
    let answers = task.place.as_ref().map(|place| place.kernels(&how));
    let is_better_by_answer = Cell::new(false);
    let recall = |subject: &Subject| {
        let answer = answers.as_ref()?.get(subject);
        is_better_by_answer.set(is_better_by_answer.get() || answer.as_ref().is_some_and(KernelAnswer::is_better));
        answer
    };
    let search = |request: Request<'_>, recall: &Recall<'_>| -> Result<(Answer, Option<Finished>), Error> {
        let recall = answers.is_some().then_some(recall);
        let answer = request::search(Request { recall, ..request })?;
        let finished = answer.found.as_ref().map(finish);
        Ok((answer, finished))
    };
    let is_good = |done: &Result<(Answer, Option<Finished>), Error>| matches!(done, Ok((_, None | Some(Ok(Ok(_))))));
    let mut done = search(first, &recall);
    if is_better_by_answer.get() && !is_good(&done) && !is_interrupted() {
        task.settings
            .note("what is known of kernels by their texts does not hold in this one: all of them are searched");
        done = search(request(), &|_| None);
    }
    if let (true, Ok((answer, _)), Some(answers)) = (is_good(&done), &done, &answers) {
        let learned = answer.learned.iter().filter(|_| answer.lasts);
        let kept = learned.map(|(subject, answer)| answers.put(subject, answer));
        kept.filter_map(Result::err).take(1).for_each(|error| task.settings.note(&error.to_string()));
    }
    done
}
