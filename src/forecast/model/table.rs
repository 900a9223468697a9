//! A model, and its text as `make calibrate` writes it.
//!
//! What it was fitted on and how well that went, the names of its features, and a tree on each line, in prefix
//! notation: `words<23.5 A B` is A where there are fewer words than that, else B; a number is a leaf. Where there is a
//! base, `base 12 words 0.5` say, the trees correct that sum. The build script reads it, so that a broken table breaks
//! the build and nobody reads thousands of numbers while compiling; it shares this file, which therefore knows nothing
//! of the crate.

use std::borrow::Cow;
use std::collections::HashMap;

/// A node: a leaf's value, or a question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Node {
    Leaf(f64),
    /// Of the value of that number: is it less? The answer yes follows; no is at that node.
    Less {
        value: u32,
        than: f64,
        no: u32,
    },
}

/// A model, and what its table says of itself.
#[derive(Debug)]
pub struct Model {
    /// What it was fitted on, and how well that went: the comments of the table.
    pub about: Cow<'static, str>,
    /// The processor that it was fitted for.
    pub processor: Cow<'static, str>,
    /// The ptxas that it was fitted to.
    pub ptxas: Cow<'static, str>,
    /// The numbers of its head.
    pub head: Head,
    /// What the trees correct is this, and of each feature of that number so many, a feature below 0 counting as 0: 1
    /// alone where nothing is said.
    pub(crate) constant: f64,
    pub(crate) base: Cow<'static, [(u32, f64)]>,
    /// How sure the forecast is: see [`Likely`]. In the order of what they are up to.
    pub(crate) likely: Cow<'static, [Likely]>,
    pub(crate) features: Cow<'static, [Cow<'static, str>]>,
    pub(crate) nodes: Cow<'static, [Node]>,
    /// Where each tree starts.
    pub(crate) roots: Cow<'static, [u32]>,
}

/// Of kernels forecast at most `up_to` registers or bytes, and more than what comes before is up to, four of five take
/// between these shares of the forecast, a tenth fewer and a tenth more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Likely {
    pub(crate) up_to: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

/// The numbers of a table's head: what is said beside the trees.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Head {
    /// Of spilled bytes, the share that is stored.
    pub share_of_stores: f64,
    /// The fewest bytes that are forecast; where the trees say less, there are none.
    pub least: f64,
    /// What a kernel with a call takes at least.
    pub with_calls: f64,
    /// What a kernel takes at least on top of what is live at a division or root of 64-bit floating-point numbers.
    pub with_double: f64,
    /// The same of a call of a function that is not there, in a kernel that calls no other.
    pub with_external: f64,
    /// The same of a 64-bit integer division.
    pub with_division: f64,
    /// A forecast of at most so many registers above a step of the occupancy is that step.
    pub step_reach: f64,
    /// The same where it is known how large a block is, but not how many of them an SM is to hold.
    pub step_reach_with_size: f64,
    /// A kernel that holds so many varying words in the order of the code, and more than all registers in any, is given
    /// few registers for the sake of warps where it is known how large a block is, but not how many of them an SM is to
    /// hold; 0 where none is.
    pub gives_up: f64,
    /// Any other forecast is the nearest multiple of this in the same step; 0 where every number will do.
    pub multiple: f64,
}

/// A number of a head.
type Number = fn(&mut Head) -> &mut f64;

/// The words of a head, and the number that goes by each.
const NUMBERS: [(&str, Number); 10] = [
    ("stores", |head| &mut head.share_of_stores),
    ("least", |head| &mut head.least),
    ("with-calls", |head| &mut head.with_calls),
    ("with-double", |head| &mut head.with_double),
    ("with-external", |head| &mut head.with_external),
    ("with-division", |head| &mut head.with_division),
    ("step-reach", |head| &mut head.step_reach),
    ("step-reach-with-size", |head| &mut head.step_reach_with_size),
    ("gives-up", |head| &mut head.gives_up),
    ("multiple", |head| &mut head.multiple),
];

// No number of a head is without a word.
const _: () = assert!(size_of::<Head>() == NUMBERS.len() * size_of::<f64>());

impl Head {
    /// The number that goes by that word.
    fn number(&mut self, word: &str) -> Option<&mut f64> {
        let (_, number) = NUMBERS.iter().find(|(known, _)| *known == word)?;
        Some(number(self))
    }
}

impl Model {
    /// Reads a table. Errors name the line.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut model = Self {
            about: Cow::default(),
            processor: Cow::default(),
            ptxas: Cow::default(),
            head: Head { share_of_stores: 0.5, ..Head::default() },
            constant: 1.0,
            base: Cow::default(),
            likely: Cow::default(),
            features: Cow::default(),
            nodes: Cow::default(),
            roots: Cow::default(),
        };
        // Only asked by name; thousands of questions name their feature.
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        for (number, line) in text.lines().enumerate() {
            let mut words = line.split_ascii_whitespace();
            let wrong = |what: &str| format!("line {}: {what}", number + 1);
            match words.next() {
                None => {}
                Some("#") => *model.about.to_mut() += &format!("{}\n", line.trim_start_matches('#').trim()),
                Some("processor") => model.processor = words.collect::<Vec<_>>().join(" ").into(),
                Some("ptxas") => model.ptxas = words.collect::<Vec<_>>().join(" ").into(),
                Some("features") => {
                    numbers = words.clone().zip(0..).collect();
                    model.features = words.map(|name| Cow::Owned(name.to_owned())).collect();
                }
                Some("likely") => model.parse_likely(&mut words).map_err(wrong)?,
                Some("base") => model.parse_base(&mut words, &numbers).map_err(|what| wrong(&what))?,
                Some("tree") => {
                    model.roots.to_mut().push(model.nodes.len() as u32);
                    model.parse_tree(&mut words, &numbers).map_err(|what| wrong(&what))?;
                    if words.next().is_some() {
                        return Err(wrong("a tree goes on behind its end"));
                    }
                }
                Some(word) => {
                    let place = model.head.number(word);
                    let place = place.ok_or_else(|| wrong(&format!("'{word}' begins nothing that is known")))?;
                    *place = self::number(words.next()).map_err(wrong)?;
                }
            }
        }
        if model.roots.is_empty() { Err("there is no tree".into()) } else { Ok(model) }
    }

    /// Reads a range: up to which forecast, and its ends.
    fn parse_likely<'a>(&mut self, words: &mut impl Iterator<Item = &'a str>) -> Result<(), &'static str> {
        let mut number = || number(words.next());
        let likely = Likely { up_to: number()?, least: number()?, most: number()? };
        if self.likely.last().is_some_and(|before| before.up_to >= likely.up_to) {
            return Err("the ranges are not in order");
        }
        self.likely.to_mut().push(likely);
        Ok(())
    }

    /// Reads what the trees correct: a constant, and names of features, each with its factor.
    fn parse_base<'a>(
        &mut self,
        words: &mut impl Iterator<Item = &'a str>,
        numbers: &HashMap<&str, u32>,
    ) -> Result<(), String> {
        self.constant = number(words.next())?;
        while let Some(name) = words.next() {
            let &value = numbers.get(name).ok_or_else(|| format!("'{name}' is no feature of this table"))?;
            self.base.to_mut().push((value, number(words.next())?));
        }
        Ok(())
    }

    /// Reads nodes until as many leaves as the questions ask for are there. Without recursion, so that no table can
    /// overflow the stack.
    fn parse_tree<'a>(
        &mut self,
        words: &mut impl Iterator<Item = &'a str>,
        numbers: &HashMap<&str, u32>,
    ) -> Result<(), String> {
        // The questions whose second answer is still to come.
        let mut open: Vec<usize> = Vec::new();
        let nodes = self.nodes.to_mut();
        loop {
            let word = words.next().ok_or("a tree is cut off")?;
            let number = |text: &str| text.parse::<f64>().map_err(|_| format!("'{text}' is no number"));
            // Numbers, which are most of the words, need not be searched through.
            let is_name = word.starts_with(|first: char| first.is_ascii_alphabetic());
            if let Some((name, than)) = is_name.then(|| word.split_once('<')).flatten() {
                let &value = numbers.get(name).ok_or_else(|| format!("'{name}' is no feature of this table"))?;
                open.push(nodes.len());
                nodes.push(Node::Less { value, than: number(than)?, no: 0 });
                continue;
            }
            nodes.push(Node::Leaf(number(word)?));
            // Whoever has both answers is complete, and with it maybe whoever it answers.
            loop {
                let Some(&question) = open.last() else { return Ok(()) };
                let next = nodes.len() as u32;
                match &mut nodes[question] {
                    Node::Less { no, .. } if *no == 0 => {
                        *no = next;
                        break;
                    }
                    _ => open.pop(),
                };
            }
        }
    }
}

/// The number that a word is.
fn number(word: Option<&str>) -> Result<f64, &'static str> {
    word.and_then(|word| word.parse().ok()).ok_or("no number")
}

#[cfg(test)]
mod tests {
    use super::{Head, Model, NUMBERS};

    /// A broken table is an error that names the line, never a panic.
    #[test]
    fn broken_tables() {
        for (text, part) in [
            ("", "no tree"),
            ("features a\ntree a<1 2", "line 2: a tree is cut off"),
            ("features a\ntree b<1 2 3", "'b' is no feature"),
            ("features a\ntree a<x 2 3", "'x' is no number"),
            ("tree 1 2", "goes on behind its end"),
            ("least many", "line 1: no number"),
            ("with-double", "line 1: no number"),
            ("with-external", "line 1: no number"),
            ("base many", "line 1: no number"),
            ("features a\nbase 1 a", "line 2: no number"),
            ("features a\nbase 1 b 2", "'b' is no feature"),
            ("trees 1", "'trees' begins nothing"),
            ("likely 24 0.8", "line 1: no number"),
            ("likely 24 0.8 1.2\nlikely 16 0.8 1.2", "line 2: the ranges are not in order"),
        ] {
            let problem = Model::parse(text).expect_err(text);
            assert!(problem.contains(part), "{text}: {problem}");
        }
    }

    /// Each number of a table's head has a word and a place of its own, and what is not said changes nothing.
    #[test]
    fn numbers_of_the_head() {
        let text = "stores 1\nleast 2\nwith-calls 3\nwith-double 4\nwith-external 5\nwith-division 6\nstep-reach 7\n\
                    step-reach-with-size 8\ngives-up 9\nmultiple 10\ntree 1\n";
        // Named one by one, without a rest: a number that is left out here is no code.
        let expected = Head {
            share_of_stores: 1.0,
            least: 2.0,
            with_calls: 3.0,
            with_double: 4.0,
            with_external: 5.0,
            with_division: 6.0,
            step_reach: 7.0,
            step_reach_with_size: 8.0,
            gives_up: 9.0,
            multiple: 10.0,
        };
        assert_eq!(Model::parse(text).expect("a table").head, expected);
        let said: Vec<&str> = text.lines().filter_map(|line| line.split(' ').next()).collect();
        assert!(NUMBERS.iter().all(|(word, _)| said.contains(word)), "{said:?}");
        assert_eq!(Model::parse("tree 1").expect("a table").head, Head { share_of_stores: 0.5, ..Head::default() });
    }
}
