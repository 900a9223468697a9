//! Many workers for many parties, each of which does one step behind the other.
//!
//! A party never waits for another one: who has had the least time of the workers is served first.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Parties whose work comes in steps: the tasks of a step may be done at once, and the next step of the same party needs
/// all their outcomes.
pub(super) trait Parties {
    /// What is to be done.
    type Task;
    /// What came of it.
    type Outcome;

    /// The next step of a party; no tasks where it has nothing more to do.
    fn next(&mut self, party: usize) -> Vec<Self::Task>;

    /// The outcomes of a party's step, in the order of its tasks.
    fn take(&mut self, party: usize, outcomes: Vec<Self::Outcome>);
}

/// A party's place in the queue.
struct Seat<P: Parties> {
    /// Tasks that nobody has begun, with their places in the step.
    waiting: VecDeque<(usize, P::Task)>,
    outcomes: Vec<Option<P::Outcome>>,
    /// Time that workers spent on its tasks.
    spent: Duration,
    /// Tasks in work.
    running: u32,
}

struct State<'a, P: Parties> {
    parties: &'a mut P,
    seats: Vec<Seat<P>>,
    /// A worker is no more: nobody waits for what it held.
    is_broken: bool,
}

/// Does the work of so many parties with so many workers, until each has nothing more to do. `work` gets the number of
/// the party. What a party is given depends on its own outcomes alone, not on the number of workers nor on the others.
///
/// Choosing a task is O(parties).
pub(super) fn take_turns<P>(
    workers: usize,
    count: usize,
    parties: &mut P,
    work: impl Fn(usize, P::Task) -> P::Outcome + Sync,
) where
    P: Parties + Send,
    P::Task: Send,
    P::Outcome: Send,
{
    let mut state = State { parties, seats: (0..count).map(|_| Seat::new()).collect(), is_broken: false };
    (0..count).for_each(|party| state.advance(party));
    let state = Mutex::new(state);
    let changed = Condvar::new();
    std::thread::scope(|scope| {
        for _ in 0..workers.max(1) {
            scope.spawn(|| serve(&state, &changed, &work));
        }
    });
}

/// What `work` makes of each item, in their order, on so many threads.
pub(super) fn in_parallel<T: Sync, R: Send>(workers: usize, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let mut list = List { places: 0..items.len(), results: Vec::new() };
    take_turns(workers.min(items.len()), 1, &mut list, |_, place: usize| work(&items[place]));
    list.results
}

/// One party, whose one step is a whole list.
struct List<R> {
    places: Range<usize>,
    results: Vec<R>,
}

impl<R> Parties for List<R> {
    type Task = usize;
    type Outcome = R;

    fn next(&mut self, _: usize) -> Vec<usize> {
        std::mem::take(&mut self.places).collect()
    }

    fn take(&mut self, _: usize, results: Vec<R>) {
        self.results = results;
    }
}

fn serve<P: Parties>(state: &Mutex<State<'_, P>>, changed: &Condvar, work: &impl Fn(usize, P::Task) -> P::Outcome) {
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
        held.finish(number, place, outcome, start.elapsed());
        changed.notify_all();
    }
}

/// Wakes the other workers where a task or a party panics, so that the panic reaches the caller.
struct Alarm<'a, 'p, P: Parties> {
    state: &'a Mutex<State<'p, P>>,
    changed: &'a Condvar,
}

impl<P: Parties> Drop for Alarm<'_, '_, P> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            lock(self.state).is_broken = true;
            self.changed.notify_all();
        }
    }
}

/// What parties left behind that panicked under the lock is not looked at: the worker says that all is broken.
fn lock<'a, 'p, P: Parties>(state: &'a Mutex<State<'p, P>>) -> MutexGuard<'a, State<'p, P>> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<P: Parties> State<'_, P> {
    /// A task of the party that had the least time, the one with the fewest tasks in work of equals, then the first.
    fn choose(&mut self) -> Option<(usize, usize, P::Task)> {
        let waiting = self.seats.iter_mut().enumerate().filter(|(_, seat)| !seat.waiting.is_empty());
        let (number, seat) = waiting.min_by_key(|(_, seat)| (seat.spent, seat.running))?;
        let (place, task) = seat.waiting.pop_front()?;
        seat.running += 1;
        Some((number, place, task))
    }

    /// Begins a party's next step.
    fn advance(&mut self, party: usize) {
        let seat = &mut self.seats[party];
        seat.waiting = self.parties.next(party).into_iter().enumerate().collect();
        seat.outcomes = seat.waiting.iter().map(|_| None).collect();
    }

    fn finish(&mut self, party: usize, place: usize, outcome: P::Outcome, took: Duration) {
        let seat = &mut self.seats[party];
        seat.outcomes[place] = Some(outcome);
        seat.spent += took;
        seat.running -= 1;
        if seat.is_done() {
            self.parties.take(party, std::mem::take(&mut seat.outcomes).into_iter().flatten().collect());
            self.advance(party);
        }
    }
}

impl<P: Parties> Seat<P> {
    fn new() -> Self {
        Self { waiting: VecDeque::new(), outcomes: Vec::new(), spent: Duration::ZERO, running: 0 }
    }

    fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.running == 0
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

    impl Counter {
        fn next(&mut self) -> Vec<(u32, Duration)> {
            if self.steps == 0 {
                self.finished = Some(Instant::now());
                return Vec::new();
            }
            self.steps -= 1;
            let sum = self.seen.iter().fold(1u32, |sum, seen| sum.wrapping_mul(3).wrapping_add(*seen));
            (0..3).map(|number| (sum.wrapping_add(number), self.pause)).collect()
        }
    }

    impl Parties for Vec<Counter> {
        type Task = (u32, Duration);
        type Outcome = u32;

        fn next(&mut self, party: usize) -> Vec<Self::Task> {
            self[party].next()
        }

        fn take(&mut self, party: usize, outcomes: Vec<u32>) {
            self[party].seen.extend(outcomes);
        }
    }

    fn run(workers: usize, mut parties: Vec<Counter>) -> Vec<Counter> {
        take_turns(workers, parties.len(), &mut parties, |_, (number, pause)| {
            std::thread::sleep(pause);
            number.wrapping_mul(7)
        });
        parties
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
            let mut parties = vec![Counter::new(2, 0), Counter::new(2, 0)];
            take_turns(3, 2, &mut parties, |_, _| -> u32 { std::panic::panic_any("task") });
        });
        assert!(outcome.is_err());
    }

    /// Panics with its first outcome.
    struct Fragile {
        is_asked: bool,
    }

    impl Parties for Fragile {
        type Task = ();
        type Outcome = ();

        fn next(&mut self, _: usize) -> Vec<()> {
            let is_first = !std::mem::replace(&mut self.is_asked, true);
            if is_first { vec![()] } else { Vec::new() }
        }

        fn take(&mut self, _: usize, _: Vec<()>) {
            std::panic::panic_any("party")
        }
    }

    /// The same of a party's, though the other workers wait for its lock then.
    #[test]
    fn panics_of_parties_end_it() {
        let outcome = std::panic::catch_unwind(|| {
            let pause = |_, ()| std::thread::sleep(Duration::from_millis(20));
            take_turns(3, 1, &mut Fragile { is_asked: false }, pause);
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
