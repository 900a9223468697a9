//! The recorded kernels in `outcomes.txt`, which `make learned` writes.
//!
//! The first line names the recipes. Each other line is a kernel: its lineage, its traits, and the gain of each recipe,
//! in thousandths of stock's time. `-` means that the recipe had nothing to change, `0` that it gained nothing.

use std::sync::OnceLock;

use super::traits::{COORDINATES, Traits};
use crate::tune::recipe::Recipe;

/// The recorded data.
const OUTCOMES: &str = include_str!("outcomes.txt");

/// The unit of gains in the file: this many parts of stock's time.
const PARTS: f64 = 1000.0;

/// A kernel on which all recipes were tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// What is known of it before any run.
    pub traits: Traits,
    /// The gain of each recipe by number, as a fraction of stock's time. `None` if the recipe had nothing to change.
    pub gains: Vec<Option<f64>>,
}

/// All recorded kernels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Experience {
    /// The kernels, in the order of the file.
    pub kernels: Vec<Recorded>,
}

impl Experience {
    /// Returns the kernels that are built into this program.
    pub fn shipped() -> &'static Self {
        static SHIPPED: OnceLock<Experience> = OnceLock::new();
        SHIPPED.get_or_init(|| Self::parse(OUTCOMES).unwrap_or_default())
    }

    /// Parses a file. `None` if it is malformed, or has other recipes than [`Recipe::all`]. O(length).
    pub fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        let recipes = Recipe::all();
        let named = lines.next()?.split(' ');
        if !named.eq(recipes.iter().map(Recipe::name)) {
            return None;
        }
        let kernels = lines.map(|line| Self::kernel(line, recipes.len())).collect::<Option<_>>()?;
        Some(Self { kernels })
    }

    fn kernel(line: &str, recipes: usize) -> Option<Recorded> {
        let mut words = line.split(' ').skip(1);
        let mut numbers = [0; COORDINATES];
        for number in &mut numbers {
            *number = words.next()?.parse().ok()?;
        }
        let gain = |word: &str| match word {
            "-" => Some(None),
            _ => word.parse::<u32>().ok().map(|parts| Some(f64::from(parts) / PARTS)),
        };
        let gains: Vec<Option<f64>> = words.map(gain).collect::<Option<_>>()?;
        (gains.len() == recipes).then_some(Recorded { traits: Traits::of_numbers(numbers)?, gains })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The built-in file can be parsed, and names each recipe.
    #[test]
    fn shipped() {
        let experience = Experience::parse(OUTCOMES).expect("the recipes are those of the file; run `make learned`");
        assert!(experience.kernels.len() > 100, "{}", experience.kernels.len());
        let gains = experience.kernels.iter().flat_map(|kernel| kernel.gains.iter().flatten());
        assert!(gains.clone().all(|gain| (0.0..1.0).contains(gain)) && gains.clone().any(|gain| *gain > 0.1));
        assert_eq!(Experience::shipped(), &experience);
    }

    /// A file with other recipes, missing gains or words instead of numbers is refused.
    #[test]
    fn broken_files() {
        let head: Vec<String> = Recipe::all().iter().map(Recipe::name).collect();
        let head = head.join(" ");
        let kernel =
            |gains: usize| format!("{head}\nlineage {}{}", "1 ".repeat(COORDINATES), vec!["5"; gains].join(" "));
        let recipes = Recipe::all().len();
        assert_eq!(Experience::parse(&kernel(recipes)).map(|all| all.kernels.len()), Some(1));
        for broken in [String::new(), head.replacen("default", "other", 1), kernel(recipes - 1), kernel(recipes) + " x"]
        {
            assert_eq!(Experience::parse(&broken), None, "{broken}");
        }
    }
}
