//! Many workers for many parties, each of which does one step behind the other.
//!
//! A party never waits for another one: who has had the least time of the workers is served first.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// One whose work comes in steps: a step's tasks may be done at once, and the next step needs all their results.
pub(super) trait Party {
    /// What is to be done.
    type Task;
    /// What came of it.
    type Outcome;

    /// The next step; no tasks where there is nothing more to do.
    fn next(&mut self) -> Vec<Self::Task>;

    /// The outcomes of the step, in the order of its tasks.
    fn take(&mut self, outcomes: Vec<Self::Outcome>);
}

/// A party's place in the queue.
struct Seat<P: Party> {
    party: P,
    /// Tasks that nobody has begun, with their places in the step.
    waiting: VecDeque<(usize, P::Task)>,
    outcomes: Vec<Option<P::Outcome>>,
    /// Time that workers spent on its tasks.
    spent: Duration,
    /// Tasks in work.
    running: u32,
}

struct State<P: Party> {
    seats: Vec<Seat<P>>,
    /// A worker is no more: nobody waits for what it held.
    is_broken: bool,
}

/// Does the work of all parties with so many workers, until each has nothing more to do. `work` gets the number of the
/// party. What a party is given depends on its own outcomes alone, not on the number of workers nor on the others.
///
/// Choosing a task is O(parties).
pub(super) fn take_turns<P>(
    workers: usize,
    parties: Vec<P>,
    work: impl Fn(usize, P::Task) -> P::Outcome + Sync,
) -> Vec<P>
where
    P: Party + Send,
    P::Task: Send,
    P::Outcome: Send,
{
    let seats: Vec<Seat<P>> = parties.into_iter().map(Seat::new).collect();
    let state = Mutex::new(State { seats, is_broken: false });
    let changed = Condvar::new();
    std::thread::scope(|scope| {
        for _ in 0..workers.max(1) {
            scope.spawn(|| serve(&state, &changed, &work));
        }
    });
    let state = state.into_inner().unwrap_or_else(PoisonError::into_inner);
    state.seats.into_iter().map(|seat| seat.party).collect()
}

/// What `work` makes of each item, in their order, on so many threads.
pub(super) fn in_parallel<T: Sync, R: Send>(workers: usize, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let list = List { places: 0..items.len(), results: Vec::new() };
    let lists = take_turns(workers.min(items.len()), vec![list], |_, place: usize| work(&items[place]));
    lists.into_iter().flat_map(|list| list.results).collect()
}

/// A party whose one step is a whole list.
struct List<R> {
    places: Range<usize>,
    results: Vec<R>,
}

impl<R> Party for List<R> {
    type Task = usize;
    type Outcome = R;

    fn next(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.places).collect()
    }

    fn take(&mut self, results: Vec<R>) {
        self.results = results;
    }
}

fn serve<P: Party>(state: &Mutex<State<P>>, changed: &Condvar, work: &impl Fn(usize, P::Task) -> P::Outcome) {
    // Ahead of the lock, so that it is dropped behind it.
    let _alarm = Alarm { state, changed };
    let mut held = lock(state);
    loop {
        if held.is_broken || held.seats.iter().all(Seat::is_done) {
            changed.notify_all();
            return;
        }
        let Some((number, place, task)) = held.choose() else {
            held = changed.wait(held).unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        drop(held);
        let start = Instant::now();
        let outcome = work(number, task);
        held = lock(state);
        held.seats[number].finish(place, outcome, start.elapsed());
        changed.notify_all();
    }
}

/// Wakes the other workers where a task or a party panics, so that the panic reaches the caller.
struct Alarm<'a, P: Party> {
    state: &'a Mutex<State<P>>,
    changed: &'a Condvar,
}

impl<P: Party> Drop for Alarm<'_, P> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            lock(self.state).is_broken = true;
            self.changed.notify_all();
        }
    }
}

/// What a party left behind that panicked under the lock is not looked at: its worker says that all is broken.
fn lock<P: Party>(state: &Mutex<State<P>>) -> MutexGuard<'_, State<P>> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<P: Party> State<P> {
    /// A task of the party that had the least time, the one with the fewest tasks in work of equals, then the first.
    fn choose(&mut self) -> Option<(usize, usize, P::Task)> {
        let waiting = self.seats.iter_mut().enumerate().filter(|(_, seat)| !seat.waiting.is_empty());
        let (number, seat) = waiting.min_by_key(|(_, seat)| (seat.spent, seat.running))?;
        let (place, task) = seat.waiting.pop_front()?;
        seat.running += 1;
        Some((number, place, task))
    }
}

impl<P: Party> Seat<P> {
    fn new(party: P) -> Self {
        let mut seat =
            Self { party, waiting: VecDeque::new(), outcomes: Vec::new(), spent: Duration::ZERO, running: 0 };
        seat.advance();
        seat
    }

    fn advance(&mut self) {
        self.waiting = self.party.next().into_iter().enumerate().collect();
        self.outcomes = self.waiting.iter().map(|_| None).collect();
    }

    fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.running == 0
    }

    fn finish(&mut self, place: usize, outcome: P::Outcome, took: Duration) {
        self.outcomes[place] = Some(outcome);
        self.spent += took;
        self.running -= 1;
        if self.is_done() {
            self.party.take(std::mem::take(&mut self.outcomes).into_iter().flatten().collect());
            self.advance();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wants tasks in steps of three: each is a number that follows from the outcomes so far.
    struct Counter {
        steps: u32,
        seen: Vec<u32>,
        /// How long a task takes.
        pause: Duration,
        finished: Option<Instant>,
    }

    impl Counter {
        fn new(steps: u32, pause: u64) -> Self {
            Self { steps, seen: Vec::new(), pause: Duration::from_millis(pause), finished: None }
        }
    }

    impl Party for Counter {
        type Task = (u32, Duration);
        type Outcome = u32;

        fn next(&mut self) -> Vec<Self::Task> {
            if self.steps == 0 {
                self.finished = Some(Instant::now());
                return Vec::new();
            }
            self.steps -= 1;
            let sum = self.seen.iter().fold(1u32, |sum, seen| sum.wrapping_mul(3).wrapping_add(*seen));
            (0..3).map(|number| (sum.wrapping_add(number), self.pause)).collect()
        }

        fn take(&mut self, outcomes: Vec<u32>) {
            self.seen.extend(outcomes);
        }
    }

    fn run(workers: usize, parties: Vec<Counter>) -> Vec<Counter> {
        take_turns(workers, parties, |_, (number, pause)| {
            std::thread::sleep(pause);
            number.wrapping_mul(7)
        })
    }

    /// What a party sees is the same with any number of workers, alone and in company.
    #[test]
    fn outcomes_are_of_the_party_alone() {
        let alone: Vec<Vec<u32>> =
            [0, 1, 5].map(|steps| run(1, vec![Counter::new(steps, 0)]).remove(0).seen).into_iter().collect();
        for workers in [0, 1, 2, 9] {
            let parties = run(workers, vec![Counter::new(0, 0), Counter::new(1, 0), Counter::new(5, 0)]);
            assert_eq!(parties.into_iter().map(|party| party.seen).collect::<Vec<_>>(), alone, "{workers} workers");
        }
    }

    /// A slow party does not hold up a quick one: the quick one ends first, though the slow one stands before it.
    #[test]
    fn quick_ones_do_not_wait() {
        let parties = run(1, vec![Counter::new(4, 30), Counter::new(4, 0)]);
        let finished = |party: &Counter| party.finished.expect("it ended");
        assert!(finished(&parties[1]) < finished(&parties[0]));
    }

    /// A panic of a task reaches the caller, and nobody waits for ever.
    #[test]
    fn panics_end_it() {
        let outcome = std::panic::catch_unwind(|| {
            take_turns(3, vec![Counter::new(2, 0), Counter::new(2, 0)], |_, _| -> u32 { std::panic::panic_any("task") })
        });
        assert!(outcome.is_err());
    }

    /// Panics with its first outcome.
    struct Fragile {
        is_asked: bool,
    }

    impl Party for Fragile {
        type Task = ();
        type Outcome = ();

        fn next(&mut self) -> Vec<()> {
            let is_first = !std::mem::replace(&mut self.is_asked, true);
            if is_first { vec![()] } else { Vec::new() }
        }

        fn take(&mut self, _: Vec<()>) {
            std::panic::panic_any("party")
        }
    }

    /// The same of a party's, though the other workers wait for its lock then.
    #[test]
    fn panics_of_parties_end_it() {
        let outcome = std::panic::catch_unwind(|| {
            let pause = |_, ()| std::thread::sleep(Duration::from_millis(20));
            take_turns(3, vec![Fragile { is_asked: false }], pause)
        });
        assert!(outcome.is_err());
    }

    /// Results come in the order of the items, whatever the number of threads.
    #[test]
    fn in_order() {
        let items: Vec<u32> = (0..100).collect();
        let doubled: Vec<u32> = items.iter().map(|item| item * 2).collect();
        for workers in [0, 1, 3, 200] {
            assert_eq!(in_parallel(workers, &items, |item| item * 2), doubled);
        }
        assert!(in_parallel(4, &[] as &[u32], |item| *item).is_empty());
    }

    /// Without parties there is nothing to do.
    #[test]
    fn nobody() {
        assert!(run(4, Vec::new()).is_empty());
    }
}
