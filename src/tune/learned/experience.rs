//! The recorded kernels: `outcomes.txt`, which `make learned` writes.
//!
//! Its first line names the recipes. Each other line is a kernel: its lineage, its traits, and what each recipe gained,
//! in thousandths of the time of stock: `-` where the recipe had nothing to change, `0` where it gained nothing.

use std::sync::OnceLock;

use super::traits::{COORDINATES, Traits};
use crate::tune::recipe::Recipe;

/// What was recorded.
const OUTCOMES: &str = include_str!("outcomes.txt");

/// Gains stand in the file in such parts of the time of stock.
const PARTS: f64 = 1000.0;

/// A kernel of which all recipes were tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// What is known of it ahead of any run.
    pub traits: Traits,
    /// What each recipe gained, by its number, as a share of the time of stock; `None` where it had nothing to change.
    pub gains: Vec<Option<f64>>,
}

/// All recorded kernels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Experience {
    /// In the order of the file.
    pub kernels: Vec<Recorded>,
}

impl Experience {
    /// What this program brings.
    pub fn shipped() -> &'static Self {
        static SHIPPED: OnceLock<Experience> = OnceLock::new();
        SHIPPED.get_or_init(|| Self::parse(OUTCOMES).unwrap_or_default())
    }

    /// Reads a file; `None` where it is none, or names other recipes than [`Recipe::all`]. O(length).
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

    /// The file that the program brings can be read, and names each recipe.
    #[test]
    fn shipped() {
        let experience = Experience::parse(OUTCOMES).expect("the recipes are those of the file; run `make learned`");
        assert!(experience.kernels.len() > 100, "{}", experience.kernels.len());
        let gains = experience.kernels.iter().flat_map(|kernel| kernel.gains.iter().flatten());
        assert!(gains.clone().all(|gain| (0.0..1.0).contains(gain)) && gains.clone().any(|gain| *gain > 0.1));
        assert_eq!(Experience::shipped(), &experience);
    }

    /// Other recipes, missing gains and words that are no numbers are no file.
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
