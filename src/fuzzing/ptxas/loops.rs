//! Loops that end: their trip count follows from their construction.

use super::body::{Body, Value};
use super::class::Class;

/// The counter of a loop.
struct Counter {
    class: Class,
    is_signed: bool,
    start: String,
    bound: String,
    step: i128,
    /// The comparison of counter and bound under which the loop continues.
    goes_on: &'static str,
    /// Whether the loop executes at least one iteration by construction.
    runs_once: bool,
    is_uniform: bool,
}

/// Types of counters: the class, and whether they are signed.
const TYPES: [(u32, (Class, bool)); 6] = [
    (6, (Class::B32, true)),
    (5, (Class::B32, false)),
    (3, (Class::B64, true)),
    (2, (Class::B64, false)),
    (1, (Class::B16, true)),
    (1, (Class::B16, false)),
];

/// Returns the negated comparison.
fn opposite(comparison: &str) -> &'static str {
    match comparison {
        "lt" => "ge",
        "le" => "gt",
        "gt" => "le",
        "ge" => "lt",
        "ne" => "eq",
        _ => "ne",
    }
}

impl Body {
    /// Appends a loop.
    pub(super) fn counted_loop(&mut self) {
        let (class, is_signed) = self.drawn.weighted(&TYPES);
        let counter = match self.drawn.below(10) {
            0 | 1 => self.few(class, is_signed),
            2 | 3 => self.multiple(class, is_signed),
            4..=6 => self.ranged(class, is_signed),
            7 | 8 => self.far(class, is_signed),
            _ => return self.shifted_loop(),
        };
        self.write_loop(&counter);
    }

    /// Returns a counter with constant start and bound.
    fn few(&mut self, class: Class, is_signed: bool) -> Counter {
        let bits = class.bits();
        let start = self.drawn.integer(bits);
        let steps = [1, 1, 1, 2, 3, 4, 5, 7, 8, 16, 1000, 1 << (bits - 6), (1 << (bits - 5)) - 1];
        let step = self.drawn.one_of(&steps) * self.drawn.one_of(&[1, 1, -1]);
        let times = self.drawn.between(1, 9) as i128;
        let signed = |value: u64| i128::from(((value << (64 - bits)) as i64) >> (64 - bits));
        let first = if is_signed { signed(start) } else { i128::from(start) };
        let last = first + step * times;
        let (low, high) = if is_signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
        let is_inside = (low..=high).contains(&last) && (low..=high).contains(&(last + step));
        let goes_on = match (is_inside, step > 0) {
            (false, _) => "ne",
            (true, true) => self.drawn.one_of(&["lt", "lt", "le", "ne"]),
            (true, false) => self.drawn.one_of(&["gt", "gt", "ge", "ne"]),
        };
        // With an ordering comparison, the counter need not meet the bound exactly.
        let slack =
            if matches!(goes_on, "lt" | "gt") { self.drawn.below(step.unsigned_abs() as usize) as i128 } else { 0 };
        let bound = (last - slack * step.signum()) as u64 & (u64::MAX >> (64 - bits));
        let (start, bound) = (self.constant(class, start).name, self.constant(class, bound).name);
        Counter { class, is_signed, start, bound, step, goes_on, runs_once: true, is_uniform: true }
    }

    /// Returns a counter with any start, and a bound at a multiple of the step from it: sums may wrap.
    fn multiple(&mut self, class: Class, is_signed: bool) -> Counter {
        let bits = class.bits();
        let start = self.source(class);
        let times = self.source(class);
        let mask = self.drawn.one_of(&[3, 7, 7, 15]);
        let mut times = self.limited(&times, &format!("and.{}", class.bits_type()), mask);
        let runs_once = self.drawn.is(40);
        if runs_once {
            times = self.limited(&times, &format!("add.u{bits}"), 1);
        }
        let steps = [1, 1, 2, 3, 4, 8, 12, 100, 1 << (bits - 5), (1 << (bits - 4)) + 1];
        let step = self.drawn.one_of(&steps) * self.drawn.one_of(&[1, 1, -1]);
        let bound = self.register(class);
        self.line(&format!("mad.lo.s{bits} {bound}, {}, {step}, {}", times.name, start.name));
        let is_uniform = start.is_uniform && times.is_uniform;
        self.define(&bound, class, is_uniform);
        Counter { class, is_signed, start: start.name, bound, step, goes_on: "ne", runs_once, is_uniform }
    }

    /// Returns a counter with start and bound in small ranges.
    fn ranged(&mut self, class: Class, is_signed: bool) -> Counter {
        let sign = if is_signed { 's' } else { 'u' };
        let mut ends = Vec::new();
        for most in [7, 15] {
            let value = self.source(class);
            let most = self.drawn.one_of(&[most, most, 3, most + 4]);
            let (bits, bits_type) = (class.bits(), class.bits_type());
            let value = match self.drawn.below(4) {
                0 => self.limited(&value, &format!("min.u{bits}"), most),
                1 => self.limited(&value, &format!("rem.u{bits}"), most + 1),
                2 => self.limited(&value, &format!("shr.u{bits}"), i64::from(bits - 3)),
                _ => self.limited(&value, &format!("and.{bits_type}"), most),
            };
            ends.push(if is_signed && self.drawn.is(50) {
                let by = self.drawn.between(1, 8);
                self.limited(&value, &format!("sub.{sign}{bits}"), by)
            } else {
                value
            });
        }
        let step = self.drawn.one_of(&[1, 1, 1, 2, 3, 4]);
        let is_down = is_signed && self.drawn.is(30);
        let (start, bound) = if is_down { (&ends[1], &ends[0]) } else { (&ends[0], &ends[1]) };
        Counter {
            class,
            is_signed,
            start: start.name.clone(),
            bound: bound.name.clone(),
            step: if is_down { -step } else { step },
            goes_on: self.drawn.one_of(if is_down { &["gt", "ge"] } else { &["lt", "lt", "le"] }),
            runs_once: self.drawn.is(30),
            is_uniform: start.is_uniform && bound.is_uniform,
        }
    }

    /// Returns a counter with any start and bound, and large steps. The bound is at least one step from the end of the
    /// type, so that no sum of the counter wraps.
    fn far(&mut self, class: Class, is_signed: bool) -> Counter {
        let bits = class.bits();
        let sign = if is_signed { 's' } else { 'u' };
        let (mut start, mut bound) = (self.source(class), self.source(class));
        // The difference of a signed start and bound may wrap. ptxas is known to translate such loops wrongly.
        if is_signed && !self.has_known {
            start = self.limited(&start, &format!("shr.s{bits}"), 1);
            bound = self.limited(&bound, &format!("shr.s{bits}"), 1);
        }
        let half = 1_i128 << (bits - 1);
        // The sum of several steps that ptxas takes at once may wrap even if no sum in the loop wraps. ptxas is known
        // to translate such loops wrongly, too.
        let steps = if is_signed && !self.has_known {
            [half / 16, half / 16 + 1, half / 12, half / 24 + 3, half / 16 - 1, half / 32, half / 20, half / 16]
        } else {
            [half / 8, half / 4, half / 2, half / 4 + 1, half / 8 + 3, half / 3, half - 1, half / 16]
        };
        let step = self.drawn.one_of(&steps);
        let (low, high) = if is_signed { (-half, half - 1) } else { (0, 2 * half - 1) };
        let is_down = self.drawn.is(35);
        let goes_on = self.drawn.one_of(if is_down { &["gt", "ge"] } else { &["lt", "lt", "le"] });
        let (op, limit) = if is_down { ("max", low + step) } else { ("min", high - step) };
        let limit = limit as u64 & (u64::MAX >> (64 - bits));
        let clamped = self.register(class);
        self.line(&format!("{op}.{sign}{bits} {clamped}, {}, 0x{limit:x}", bound.name));
        let is_uniform = start.is_uniform && bound.is_uniform;
        self.define(&clamped, class, bound.is_uniform);
        let step = if is_down { -step } else { step };
        let start = start.name;
        Counter { class, is_signed, start, bound: clamped, step, goes_on, runs_once: false, is_uniform }
    }

    /// Appends a loop that shifts a value until it is zero.
    fn shifted_loop(&mut self) {
        let class = self.drawn.one_of(&[Class::B32, Class::B32, Class::B64]);
        let (bits, ty) = (class.bits(), class.bits_type());
        let value = self.source(class);
        let shifted = self.register(class);
        self.line(&format!("mov.{ty} {shifted}, {}", value.name));
        let by = self.drawn.between(i64::from(bits / 8), i64::from(bits / 4));
        let (head, exit, goes_on) = (self.label(), self.label(), self.register(Class::Pred));
        self.line(&format!("setp.eq.u{bits} {goes_on}, {shifted}, 0"));
        self.line(&format!("@{goes_on} bra {exit}"));
        self.place(&head);
        let right = self.drawn.is(60);
        self.loops += 1;
        self.block(|body| {
            body.is_together &= value.is_uniform;
            body.define(&shifted, class, value.is_uniform);
            body.statements(3);
        });
        self.loops -= 1;
        self.line(&format!(
            "{} {shifted}, {shifted}, {by}",
            if right { format!("shr.u{bits}") } else { format!("shl.{ty}") }
        ));
        self.line(&format!("setp.ne.u{bits} {goes_on}, {shifted}, 0"));
        self.line(&format!("@{goes_on} bra {head}"));
        self.place(&exit);
    }

    fn write_loop(&mut self, counter: &Counter) {
        let &Counter { class, is_signed, step, goes_on, is_uniform, .. } = counter;
        let (bits, ty) = (class.bits(), class.bits_type());
        let sign = if is_signed { 's' } else { 'u' };
        let own = self.register(class);
        self.line(&format!("mov.{ty} {own}, {}", counter.start));
        let [head, latch, exit] = [self.label(), self.label(), self.label()];
        let predicate = self.register(Class::Pred);
        let test = |comparison: &str| format!("setp.{comparison}.{sign}{bits} {predicate}, {own}, {}", counter.bound);
        let is_inverted = self.drawn.is(40);
        let uni = if is_uniform && self.is_together && self.drawn.is(40) { ".uni" } else { "" };
        // Branches out of the middle of the body.
        let leaves = self.drawn.is(25);
        let tests_first = self.drawn.is(35);
        let second = self.second_counter(counter);
        if !counter.runs_once && !tests_first {
            let (comparison, not) = if is_inverted { (goes_on, "!") } else { (opposite(goes_on), "") };
            self.line(&test(comparison));
            self.line(&format!("@{not}{predicate} bra{uni} {exit}"));
        }
        self.place(&head);
        if tests_first {
            let (comparison, not) = if is_inverted { (goes_on, "!") } else { (opposite(goes_on), "") };
            self.line(&test(comparison));
            self.line(&format!("@{not}{predicate} bra{uni} {exit}"));
        }
        self.loops += 1;
        self.block(|body| {
            body.is_together &= is_uniform && !leaves;
            let value = body.define(&own, class, is_uniform && !leaves);
            if let Some((name, class, ..)) = &second {
                body.define(name, *class, false);
            }
            body.use_counter(&value, &counter.bound);
            let most = if body.loops > 1 { 3 } else { 6 };
            body.statements(most);
            if leaves {
                let leaving = body.comparison();
                let (to, not) = (body.drawn.one_of(&[&exit, &latch]).clone(), body.drawn.one_of(&["", "!"]));
                body.line(&format!("@{not}{} bra {to}", leaving.name));
                body.statements(2);
            }
        });
        self.loops -= 1;
        self.place(&latch);
        let step = if bits == 64 { format!("{}", step as i64) } else { format!("{step}") };
        self.line(&format!("add.{sign}{bits} {own}, {own}, {step}"));
        if let Some((name, class, op, by)) = second {
            self.line(&format!("{op}.{} {name}, {name}, {by}", class.number_type()));
        }
        if tests_first {
            self.line(&format!("bra{uni} {head}"));
        } else {
            let (comparison, not) = if is_inverted { (opposite(goes_on), "!") } else { (goes_on, "") };
            self.line(&test(comparison));
            self.line(&format!("@{not}{predicate} bra{uni} {head}"));
        }
        self.place(&exit);
        // The last value of the counter is known after the loop.
        if !leaves && self.drawn.is(50) {
            self.define(&own, class, is_uniform);
        }
    }

    /// Returns a second register that changes by the same amount in each iteration.
    fn second_counter(&mut self, counter: &Counter) -> Option<(String, Class, &'static str, i64)> {
        if !self.drawn.is(40) {
            return None;
        }
        let class = self.drawn.one_of(&[Class::B32, Class::B32, Class::B64]);
        let start = self.source(class);
        let own = self.register(class);
        self.line(&format!("mov.{} {own}, {}", class.bits_type(), start.name));
        let op = self.drawn.one_of(&["add", "add", "add", "sub", "mul.lo"]);
        let by = match op {
            "mul.lo" => self.drawn.one_of(&[2, 3, -1, 5]),
            _ if self.drawn.is(30) && counter.step.unsigned_abs() < 1 << 30 => counter.step as i64 * 4,
            _ => self.drawn.one_of(&[1, 2, 4, -1, -4, 12, 1 << 28, 0x7fff_ffff]),
        };
        Some((own, class, op, by))
    }

    /// Appends statements that use a counter as real programs do: in addresses, products, and comparisons with
    /// neighbours of the bound.
    fn use_counter(&mut self, counter: &Value, bound: &str) {
        let (name, class) = (&counter.name, counter.class);
        let bits = class.bits();
        for _ in 0..self.drawn.below(3) {
            let constant = self.drawn.one_of(&[1, -1, 2, 4, 12, 100, -8]);
            let sign = self.drawn.one_of(&["s", "u"]);
            match self.drawn.below(7) {
                0 if bits < 64 => {
                    let wide = self.drawn.one_of(&[1, 2, 4, 8, 12, -4]);
                    let is_uniform = counter.is_uniform;
                    self.compute(
                        class.twice(),
                        &format!("mul.wide.{sign}{bits}"),
                        &format!("{name}, {wide}"),
                        is_uniform,
                    );
                }
                1 if bits < 64 => {
                    self.compute(Class::B64, &format!("cvt.{sign}64.{sign}{bits}"), name, counter.is_uniform);
                }
                2 => {
                    self.compute(
                        class,
                        &format!("mul.lo.{sign}{bits}"),
                        &format!("{name}, {constant}"),
                        counter.is_uniform,
                    );
                }
                3 => {
                    self.compute(
                        class,
                        &format!("add.{sign}{bits}"),
                        &format!("{name}, {constant}"),
                        counter.is_uniform,
                    );
                }
                4 => {
                    let comparison = self.drawn.one_of(&["lt", "le", "gt", "ge", "eq", "ne"]);
                    let near = self.register(class);
                    self.line(&format!("add.{sign}{bits} {near}, {bound}, {}", self.drawn.clone().one_of(&[0, -1, 1])));
                    self.compute(
                        Class::Pred,
                        &format!("setp.{comparison}.{sign}{bits}"),
                        &format!("{name}, {near}"),
                        false,
                    );
                }
                5 => {
                    let comparison = self.drawn.one_of(&["lt", "le", "gt", "ge", "eq", "ne"]);
                    self.compute(
                        Class::Pred,
                        &format!("setp.{comparison}.{sign}{bits}"),
                        &format!("{name}, {constant}"),
                        false,
                    );
                }
                _ if self.is_kernel => self.load_at(counter),
                _ => {
                    self.compute(class, &format!("sub.{sign}{bits}"), &format!("{bound}, {name}"), false);
                }
            }
        }
    }
}
