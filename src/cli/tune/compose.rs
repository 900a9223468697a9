//! The best variant of each kernel in one module, judged once more.

use nvptx_ra::error::Error;
use nvptx_ra::profile::Profile;

use super::figures::Figures;
use super::rounds::Search;
use super::variant::Variant;

/// The result of a search.
pub(super) struct Composed {
    pub(super) ptx: Vec<u8>,
    pub(super) profile: Profile,
    /// What each kernel of the search got, and its figures in the whole.
    pub(super) chosen: Vec<(Variant, Figures)>,
}

/// Puts the best variants together. A kernel that is worse than stock in company, as ptxas may have it, becomes stock
/// again, and the rest is judged anew; each time at least one does, so that this ends.
pub(super) fn compose(search: &Search<'_>) -> Result<Composed, Error> {
    let mut chosen: Vec<(Variant, Figures)> = search.kernels.iter().map(|kernel| kernel.best(&search.aim)).collect();
    loop {
        let of = |name: &str| search.kernels.iter().position(|kernel| kernel.name == name).map(|at| &chosen[at].0);
        let profile = search.compiler.profile(of);
        let ptx = search.compiler.compile(&profile)?;
        let judged = search.judge.judge(&ptx, search.budget.limit);
        let mut fell_back = false;
        for (kernel, choice) in search.kernels.iter().zip(&mut chosen) {
            let found = judged.as_ref().ok().and_then(|judged| judged.get(&kernel.name));
            let figures = found.map(|&(real, sass)| Figures::new(real, sass, search.aim.architecture, kernel.threads));
            match figures {
                Some(figures) if figures.is_no_worse(&kernel.stock, search.aim.allow_fewer_warps) => choice.1 = figures,
                _ if choice.0 == Variant::Stock => {}
                _ => {
                    *choice = (Variant::Stock, kernel.stock);
                    fell_back = true;
                }
            }
        }
        if !fell_back {
            return Ok(Composed { ptx, profile, chosen });
        }
    }
}
