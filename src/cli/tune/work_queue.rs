//! A work queue that serves clients fairly. Each client's work consists of steps that follow one another.
//!
//! A client never waits until another client is done: the queue first serves the client on which workers have spent the
//! least time.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Clients with work in steps. The tasks of a step may run in parallel. The next step of the client needs the outcomes
/// of all these tasks.
pub(super) trait Clients {
    /// A task.
    type Task;
    /// The outcome of a task.
    type Outcome;

    /// Returns the next step of a client. No tasks if the client is done.
    fn next(&mut self, client: usize) -> Vec<Self::Task>;

    /// Takes the outcomes of a client's step, in the order of its tasks.
    fn take(&mut self, client: usize, outcomes: Vec<Self::Outcome>);
}

/// The tasks of one client.
struct ClientQueue<P: Clients> {
    /// Tasks that have not begun, with their positions in the step.
    waiting: VecDeque<(usize, P::Task)>,
    outcomes: Vec<Option<P::Outcome>>,
    /// The time that workers have spent on its tasks.
    spent: Duration,
    /// The number of running tasks.
    running: u32,
}

struct State<'a, P: Clients> {
    clients: &'a mut P,
    queues: Vec<ClientQueue<P>>,
    /// Whether a worker has panicked. The other workers then end.
    is_broken: bool,
}

/// Serves `count` clients with `workers` workers until all clients are done. `work` gets the number of the client. The
/// tasks of a client depend only on its own outcomes, not on the number of workers or on other clients.
///
/// Choosing a task is O(clients).
pub(super) fn serve_clients<P>(
    workers: usize,
    count: usize,
    clients: &mut P,
    work: impl Fn(usize, P::Task) -> P::Outcome + Sync,
) where
    P: Clients + Send,
    P::Task: Send,
    P::Outcome: Send,
{
    let mut state = State { clients, queues: (0..count).map(|_| ClientQueue::new()).collect(), is_broken: false };
    (0..count).for_each(|client| state.advance(client));
    let state = Mutex::new(state);
    let changed = Condvar::new();
    std::thread::scope(|scope| {
        for _ in 0..workers.max(1) {
            scope.spawn(|| serve(&state, &changed, &work));
        }
    });
}

/// Applies `work` to each item on several threads. Returns the results in the order of the items.
pub(super) fn in_parallel<T: Sync, R: Send>(workers: usize, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let mut list = List { places: 0..items.len(), results: Vec::new() };
    serve_clients(workers.min(items.len()), 1, &mut list, |_, place: usize| work(&items[place]));
    list.results
}

/// A client with one step, which is the whole list.
struct List<R> {
    places: Range<usize>,
    results: Vec<R>,
}

impl<R> Clients for List<R> {
    type Task = usize;
    type Outcome = R;

    fn next(&mut self, _: usize) -> Vec<usize> {
        std::mem::take(&mut self.places).collect()
    }

    fn take(&mut self, _: usize, results: Vec<R>) {
        self.results = results;
    }
}

fn serve<P: Clients>(state: &Mutex<State<'_, P>>, changed: &Condvar, work: &impl Fn(usize, P::Task) -> P::Outcome) {
    // Created before the lock guard, so that it is dropped after the guard.
    let _alarm = PanicAlarm { state, changed };
    let mut held = lock(state);
    loop {
        if held.is_broken || held.queues.iter().all(ClientQueue::is_done) {
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

/// Wakes the other workers if a task or a client panics, so that the panic reaches the caller.
struct PanicAlarm<'a, 'p, P: Clients> {
    state: &'a Mutex<State<'p, P>>,
    changed: &'a Condvar,
}

impl<P: Clients> Drop for PanicAlarm<'_, '_, P> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            lock(self.state).is_broken = true;
            self.changed.notify_all();
        }
    }
}

/// Locks the state. The state after a panic under the lock is not inspected, because the worker that panics marks the
/// queue as broken.
fn lock<'a, 'p, P: Clients>(state: &'a Mutex<State<'p, P>>) -> MutexGuard<'a, State<'p, P>> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<P: Clients> State<'_, P> {
    /// Returns a task of the client with the least time. Among equals, the client with the fewest running tasks is
    /// chosen, then the first client.
    fn choose(&mut self) -> Option<(usize, usize, P::Task)> {
        let waiting = self.queues.iter_mut().enumerate().filter(|(_, queue)| !queue.waiting.is_empty());
        let (number, queue) = waiting.min_by_key(|(_, queue)| (queue.spent, queue.running))?;
        let (place, task) = queue.waiting.pop_front()?;
        queue.running += 1;
        Some((number, place, task))
    }

    /// Begins a client's next step.
    fn advance(&mut self, client: usize) {
        let queue = &mut self.queues[client];
        queue.waiting = self.clients.next(client).into_iter().enumerate().collect();
        queue.outcomes = queue.waiting.iter().map(|_| None).collect();
    }

    fn finish(&mut self, client: usize, place: usize, outcome: P::Outcome, took: Duration) {
        let queue = &mut self.queues[client];
        queue.outcomes[place] = Some(outcome);
        queue.spent += took;
        queue.running -= 1;
        if queue.is_done() {
            self.clients.take(client, std::mem::take(&mut queue.outcomes).into_iter().flatten().collect());
            self.advance(client);
        }
    }
}

impl<P: Clients> ClientQueue<P> {
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

    /// A client that wants steps of three tasks. Each task is a number that is computed from the outcomes so far.
    struct Counter {
        steps: u32,
        seen: Vec<u32>,
        /// The duration of a task.
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

    impl Clients for Vec<Counter> {
        type Task = (u32, Duration);
        type Outcome = u32;

        fn next(&mut self, client: usize) -> Vec<Self::Task> {
            self[client].next()
        }

        fn take(&mut self, client: usize, outcomes: Vec<u32>) {
            self[client].seen.extend(outcomes);
        }
    }

    fn run(workers: usize, mut clients: Vec<Counter>) -> Vec<Counter> {
        serve_clients(workers, clients.len(), &mut clients, |_, (number, pause)| {
            std::thread::sleep(pause);
            number.wrapping_mul(7)
        });
        clients
    }

    /// The outcomes of a client are the same with any number of workers, alone and with other clients.
    #[test]
    fn outcomes_depend_on_the_client_alone() {
        let alone: Vec<Vec<u32>> =
            [0, 1, 5].map(|steps| run(1, vec![Counter::new(steps, 0)]).remove(0).seen).into_iter().collect();
        for workers in [0, 1, 2, 9] {
            let clients = run(workers, vec![Counter::new(0, 0), Counter::new(1, 0), Counter::new(5, 0)]);
            assert_eq!(clients.into_iter().map(|client| client.seen).collect::<Vec<_>>(), alone, "{workers} workers");
        }
    }

    /// A slow client does not delay a quick client. The quick client ends first, even if the slow client is first in
    /// the list.
    #[test]
    fn quick_ones_do_not_wait() {
        let clients = run(1, vec![Counter::new(4, 30), Counter::new(4, 0)]);
        let finished = |client: &Counter| client.finished.expect("it ended");
        assert!(finished(&clients[1]) < finished(&clients[0]));
    }

    /// A panic of a task reaches the caller, and no worker waits for ever.
    #[test]
    fn panics_end_it() {
        let outcome = std::panic::catch_unwind(|| {
            let mut clients = vec![Counter::new(2, 0), Counter::new(2, 0)];
            serve_clients(3, 2, &mut clients, |_, _| -> u32 { std::panic::panic_any("task") });
        });
        assert!(outcome.is_err());
    }

    /// A client that panics at its first outcome.
    struct Fragile {
        is_asked: bool,
    }

    impl Clients for Fragile {
        type Task = ();
        type Outcome = ();

        fn next(&mut self, _: usize) -> Vec<()> {
            let is_first = !std::mem::replace(&mut self.is_asked, true);
            if is_first { vec![()] } else { Vec::new() }
        }

        fn take(&mut self, _: usize, _: Vec<()>) {
            std::panic::panic_any("client")
        }
    }

    /// A panic of a client also reaches the caller, even if other workers wait for the lock.
    #[test]
    fn panics_of_clients_end_it() {
        let outcome = std::panic::catch_unwind(|| {
            let pause = |_, ()| std::thread::sleep(Duration::from_millis(20));
            serve_clients(3, 1, &mut Fragile { is_asked: false }, pause);
        });
        assert!(outcome.is_err());
    }

    /// Results are in the order of the items, whatever the number of threads.
    #[test]
    fn in_order() {
        let items: Vec<u32> = (0..100).collect();
        let doubled: Vec<u32> = items.iter().map(|item| item * 2).collect();
        for workers in [0, 1, 3, 200] {
            assert_eq!(in_parallel(workers, &items, |item| item * 2), doubled);
        }
        assert!(in_parallel(4, &[] as &[u32], |item| *item).is_empty());
    }

    /// Without clients, the queue ends at once.
    #[test]
    fn nobody() {
        assert!(run(4, Vec::new()).is_empty());
    }
}
