//! A model, and the text form that `make calibrate` writes.
//!
//! The text holds a description of the fit and its quality, the names of the features, and a tree on each line, in
//! prefix notation: `words<23.5 A B` is A if the feature `words` is below 23.5, else B; a number is a leaf. A line such
//! as `base 12 words 0.5` gives a base that the trees correct, here 12 plus 0.5 times `words`. The build script parses
//! the table, so a broken table fails the build, and thousands of numbers are not parsed at run time. The build script
//! includes this file, so this file imports nothing from the crate.

use std::borrow::Cow;
use std::collections::HashMap;

/// A node: a leaf with its value, or a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Node {
    Leaf(f64),
    /// Compares the feature at index `feature` with a threshold. If the feature is less, the next node follows, else
    /// the node at the given index.
    Less {
        value: u32,
        than: f64,
        no: u32,
    },
}

/// A model, with the description from its table.
#[derive(Debug)]
pub struct Model {
    /// Description of the fit and its quality: the comments of the table.
    pub about: Cow<'static, str>,
    /// Processor for which the model was fitted.
    pub processor: Cow<'static, str>,
    /// ptxas version to which the model was fitted.
    pub ptxas: Cow<'static, str>,
    /// Numbers of the table's head.
    pub head: Head,
    /// Base that the trees correct: this constant, plus a factor times each listed feature; negative
    /// features count as 0. Without a base, the constant is 1.
    pub(crate) constant: f64,
    pub(crate) base: Cow<'static, [(u32, f64)]>,
    /// Intervals around the forecast, sorted by `up_to`: see [`Likely`].
    pub(crate) likely: Cow<'static, [Likely]>,
    pub(crate) features: Cow<'static, [Cow<'static, str>]>,
    pub(crate) nodes: Cow<'static, [Node]>,
    /// First node of each tree.
    pub(crate) roots: Cow<'static, [u32]>,
}

/// An 80 % interval, as shares of the forecast. It holds for forecasts of at most `up_to` registers or bytes, above the
/// `up_to` of the interval before. A tenth of the kernels take less, and a tenth take more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Likely {
    pub(crate) up_to: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

/// Numbers of a table's head: all numbers beside the trees.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Head {
    /// Share of the spilled bytes that is stored.
    pub share_of_stores: f64,
    /// Fewest bytes of a forecast. If the trees give less, the forecast is 0.
    pub least: f64,
    /// Fewest registers of a kernel with a call.
    pub with_calls: f64,
    /// Registers that a kernel takes at least, beyond the words that are live at a division or root of 64-bit
    /// floating-point numbers.
    pub with_double: f64,
    /// The same for a call of an undefined function, in a kernel without calls of defined functions.
    pub with_external: f64,
    /// The same for a 64-bit integer division.
    pub with_division: f64,
    /// Most registers by which a forecast may exceed an occupancy step and still be rounded down to the step.
    pub step_reach: f64,
    /// The same if the bounds give the size of a block, but not the number of blocks on an SM.
    pub step_reach_with_size: f64,
    /// Fewest varying words, in the order of the code, of a kernel that gets few registers in favour of warps. Such a
    /// kernel has more words than there are registers in any order, and its bounds give the size of a block, but not
    /// the number of blocks on an SM. 0 if no kernel gives up registers.
    pub gives_up: f64,
    /// Other forecasts are rounded to the nearest multiple of this number within their occupancy step; 0 if they are
    /// not rounded.
    pub multiple: f64,
}

/// Access to one number of a head.
type Number = fn(&mut Head) -> &mut f64;

/// The keywords of a head, with their numbers.
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

// Each number of a head has a keyword.
const _: () = assert!(size_of::<Head>() == NUMBERS.len() * size_of::<f64>());

impl Head {
    /// Returns the number of a keyword.
    fn number(&mut self, word: &str) -> Option<&mut f64> {
        let (_, number) = NUMBERS.iter().find(|(known, _)| *known == word)?;
        Some(number(self))
    }
}

impl Model {
    /// Parses a table. Errors name the line.
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
        // The order of this map does not matter: it is used only to find names. Thousands of comparisons name their
        // feature.
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
                        return Err(wrong("unexpected text after the end of a tree"));
                    }
                }
                Some(word) => {
                    let place = model.head.number(word);
                    let place = place.ok_or_else(|| wrong(&format!("'{word}' is an unknown keyword")))?;
                    *place = self::number(words.next()).map_err(wrong)?;
                }
            }
        }
        if model.roots.is_empty() { Err("the table has no tree".into()) } else { Ok(model) }
    }

    /// Parses an interval: the largest forecast, and both ends.
    fn parse_likely<'a>(&mut self, words: &mut impl Iterator<Item = &'a str>) -> Result<(), &'static str> {
        let mut number = || number(words.next());
        let likely = Likely { up_to: number()?, least: number()?, most: number()? };
        if self.likely.last().is_some_and(|before| before.up_to >= likely.up_to) {
            return Err("the intervals are not in ascending order");
        }
        self.likely.to_mut().push(likely);
        Ok(())
    }

    /// Parses the base: a constant, and names of features, each with its factor.
    fn parse_base<'a>(
        &mut self,
        words: &mut impl Iterator<Item = &'a str>,
        numbers: &HashMap<&str, u32>,
    ) -> Result<(), String> {
        self.constant = number(words.next())?;
        while let Some(name) = words.next() {
            let &value = numbers.get(name).ok_or_else(|| format!("'{name}' is not a feature of this table"))?;
            self.base.to_mut().push((value, number(words.next())?));
        }
        Ok(())
    }

    /// Parses nodes until each comparison has both branches. The parser does not recurse, so no table can overflow the
    /// stack.
    fn parse_tree<'a>(
        &mut self,
        words: &mut impl Iterator<Item = &'a str>,
        numbers: &HashMap<&str, u32>,
    ) -> Result<(), String> {
        // Comparisons whose second branch is not parsed yet.
        let mut open: Vec<usize> = Vec::new();
        let nodes = self.nodes.to_mut();
        loop {
            let word = words.next().ok_or("a tree ends too early")?;
            let number = |text: &str| text.parse::<f64>().map_err(|_| format!("'{text}' is not a number"));
            // Most words are numbers, which need no search for `<`.
            let is_name = word.starts_with(|first: char| first.is_ascii_alphabetic());
            if let Some((name, than)) = is_name.then(|| word.split_once('<')).flatten() {
                let &value = numbers.get(name).ok_or_else(|| format!("'{name}' is not a feature of this table"))?;
                open.push(nodes.len());
                nodes.push(Node::Less { value, than: number(than)?, no: 0 });
                continue;
            }
            nodes.push(Node::Leaf(number(word)?));
            // A comparison with both branches is complete and may complete the comparison above it.
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

/// Parses a word as a number.
fn number(word: Option<&str>) -> Result<f64, &'static str> {
    word.and_then(|word| word.parse().ok()).ok_or("no number")
}

#[cfg(test)]
mod tests {
    use super::{Head, Model, NUMBERS};

    /// A broken table gives an error that names the line, never a panic.
    #[test]
    fn broken_tables() {
        for (text, part) in [
            ("", "no tree"),
            ("features a\ntree a<1 2", "line 2: a tree ends too early"),
            ("features a\ntree b<1 2 3", "'b' is not a feature"),
            ("features a\ntree a<x 2 3", "'x' is not a number"),
            ("tree 1 2", "unexpected text after the end"),
            ("least many", "line 1: no number"),
            ("with-double", "line 1: no number"),
            ("with-external", "line 1: no number"),
            ("base many", "line 1: no number"),
            ("features a\nbase 1 a", "line 2: no number"),
            ("features a\nbase 1 b 2", "'b' is not a feature"),
            ("trees 1", "'trees' is an unknown keyword"),
            ("likely 24 0.8", "line 1: no number"),
            ("likely 24 0.8 1.2\nlikely 16 0.8 1.2", "line 2: the intervals are not in ascending order"),
        ] {
            let problem = Model::parse(text).expect_err(text);
            assert!(problem.contains(part), "{text}: {problem}");
        }
    }

    /// Each number of a table's head has its own keyword and field. Numbers that the table omits keep their defaults.
    #[test]
    fn numbers_of_the_head() {
        let text = "stores 1\nleast 2\nwith-calls 3\nwith-double 4\nwith-external 5\nwith-division 6\nstep-reach 7\n\
                    step-reach-with-size 8\ngives-up 9\nmultiple 10\ntree 1\n";
        // The fields are listed one by one, without `..`: a field that is left out here does not compile.
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
