//! Regression trees: a table that says by how much each fact moves the forecast.
//!
//! Boosted trees (Friedman, "Greedy Function Approximation", 2001) on the logarithm of what is forecast. The table is
//! text, made by `make calibrate`: what it was fitted on and how well that went, the names of its features, and a tree
//! on each line, in prefix notation: `words<23.5 A B` is A where there are fewer words than that, else B; a number is a
//! leaf. The forecast is the exponential of the sum of all trees' leaves.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::features::Features;
use crate::error::{Error, ErrorKind};

/// A node: a leaf's value, or a question.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Node {
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
    pub about: String,
    /// The processor that it was fitted for.
    pub processor: String,
    /// The ptxas that it was fitted to.
    pub ptxas: String,
    /// Of spilled bytes, the share that is stored.
    pub share_of_stores: f64,
    features: Vec<String>,
    nodes: Vec<Node>,
    /// Where each tree starts.
    roots: Vec<u32>,
}

/// The values that a model asks about, in its own order.
#[derive(Clone, Debug)]
pub struct Values(Vec<f64>);

impl Model {
    /// The model of the registers that a kernel takes.
    pub fn registers() -> Result<&'static Self, Error> {
        static MODEL: LazyLock<Result<Model, String>> = LazyLock::new(|| Model::parse(include_str!("registers.model")));
        MODEL.as_ref().map_err(|problem| failed(problem))
    }

    /// The model of the bytes that a kernel stores to spill slots and loads from them.
    pub fn spills() -> Result<&'static Self, Error> {
        static MODEL: LazyLock<Result<Model, String>> = LazyLock::new(|| Model::parse(include_str!("spills.model")));
        MODEL.as_ref().map_err(|problem| failed(problem))
    }

    /// The values that the model asks about: a function's features, the most registers that it may have, and the blocks
    /// that an SM must hold, 0 where nobody says.
    pub fn values(&self, features: &Features, budget: u32, min_blocks: u32) -> Values {
        let value = |name: &String| match name.as_str() {
            "budget" => f64::from(budget),
            "min_blocks" => f64::from(min_blocks),
            name => features.get(name),
        };
        Values(self.features.iter().map(value).collect())
    }

    /// The forecast. O(trees × their depth).
    pub fn forecast(&self, values: &Values) -> f64 {
        self.roots.iter().map(|&root| self.leaf(root, values)).sum::<f64>().exp()
    }

    fn leaf(&self, root: u32, values: &Values) -> f64 {
        let mut at = root;
        loop {
            match self.nodes[at as usize] {
                Node::Leaf(value) => return value,
                Node::Less { value, than, no } => at = if values.0[value as usize] < than { at + 1 } else { no },
            }
        }
    }

    /// Reads a table. Errors name the line.
    fn parse(text: &str) -> Result<Self, String> {
        let mut model = Self {
            about: String::new(),
            processor: String::new(),
            ptxas: String::new(),
            share_of_stores: 0.5,
            features: Vec::new(),
            nodes: Vec::new(),
            roots: Vec::new(),
        };
        // Only asked by name; thousands of questions name their feature.
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        for (number, line) in text.lines().enumerate() {
            let mut words = line.split_ascii_whitespace();
            let wrong = |what: &str| format!("line {}: {what}", number + 1);
            match words.next() {
                None => {}
                Some("#") => model.about += &format!("{}\n", line.trim_start_matches('#').trim()),
                Some("processor") => model.processor = words.collect::<Vec<_>>().join(" "),
                Some("ptxas") => model.ptxas = words.collect::<Vec<_>>().join(" "),
                Some("stores") => {
                    let share = words.next().and_then(|word| word.parse().ok());
                    model.share_of_stores = share.ok_or_else(|| wrong("a share between 0 and 1 is missing"))?;
                }
                Some("features") => {
                    numbers = words.clone().zip(0..).collect();
                    model.features = words.map(str::to_owned).collect();
                }
                Some("tree") => {
                    model.roots.push(model.nodes.len() as u32);
                    model.parse_tree(&mut words, &numbers).map_err(|what| wrong(&what))?;
                    if words.next().is_some() {
                        return Err(wrong("a tree goes on behind its end"));
                    }
                }
                Some(word) => return Err(wrong(&format!("'{word}' begins nothing that is known"))),
            }
        }
        if model.roots.is_empty() { Err("there is no tree".into()) } else { Ok(model) }
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
        loop {
            let word = words.next().ok_or("a tree is cut off")?;
            let number = |text: &str| text.parse::<f64>().map_err(|_| format!("'{text}' is no number"));
            // Numbers, which are most of the words, need not be searched through.
            let is_name = word.starts_with(|first: char| first.is_ascii_alphabetic());
            if let Some((name, than)) = is_name.then(|| word.split_once('<')).flatten() {
                let &value = numbers.get(name).ok_or_else(|| format!("'{name}' is no feature of this table"))?;
                open.push(self.nodes.len());
                self.nodes.push(Node::Less { value, than: number(than)?, no: 0 });
                continue;
            }
            self.nodes.push(Node::Leaf(number(word)?));
            // Whoever has both answers is complete, and with it maybe whoever it answers.
            loop {
                let Some(&question) = open.last() else { return Ok(()) };
                let next = self.nodes.len() as u32;
                match &mut self.nodes[question] {
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

fn failed(problem: &str) -> Error {
    Error::new(ErrorKind::View, format!("the table of the forecast: {problem}"), "make it anew by make calibrate")
}

#[cfg(test)]
mod tests {
    use super::{Model, Values};
    use crate::forecast::features::FEATURES;

    /// The first answer is taken below the threshold, the second at it, and trees add up in the logarithm.
    #[test]
    fn trees() {
        let text = "# fitted on two\nprocessor sm_90\nptxas 13.0\nfeatures words loads\n\
                    tree words<10 loads<2 1 2 3\ntree 0.5\n";
        let model = Model::parse(text).expect("a table");
        let forecast = |words, loads| model.forecast(&Values(vec![words, loads])).ln();
        assert_eq!([forecast(9.0, 1.0), forecast(9.0, 2.0), forecast(10.0, 0.0)], [1.5, 2.5, 3.5]);
        assert_eq!(model.about, "fitted on two\n");
    }

    /// A broken table is an error that names the line, never a panic.
    #[test]
    fn broken_tables() {
        for (text, part) in [
            ("", "no tree"),
            ("features a\ntree a<1 2", "line 2: a tree is cut off"),
            ("features a\ntree b<1 2 3", "'b' is no feature"),
            ("features a\ntree a<x 2 3", "'x' is no number"),
            ("tree 1 2", "goes on behind its end"),
            ("trees 1", "'trees' begins nothing"),
        ] {
            let problem = Model::parse(text).expect_err(text);
            assert!(problem.contains(part), "{text}: {problem}");
        }
    }

    /// The tables that are shipped can be read, and ask for nothing that nobody computes.
    #[test]
    fn shipped_tables() {
        for model in [Model::registers(), Model::spills()] {
            let model = model.expect("a table");
            for name in &model.features {
                let is_known = FEATURES.iter().any(|feature| feature.0 == name);
                assert!(is_known || ["budget", "min_blocks"].contains(&name.as_str()), "{name}");
            }
        }
    }
}
