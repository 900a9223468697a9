//! What a launch holds in place of what would be drawn for it.

/// A value, or one of several, that a load finds where nobody wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wish {
    /// The load: its function, its instruction, and which of its elements.
    pub(super) load: (usize, u32, usize),
    pub(super) values: Vec<u64>,
    /// The load finds nothing else; otherwise a quarter of the places hold what would be drawn.
    pub(super) is_sure: bool,
}

/// All wishes for a launch. Those of the grid and the block yield to what is asked for, and so do those of parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wishes {
    pub(super) grid: Option<[u32; 3]>,
    pub(super) block: Option<[u32; 3]>,
    /// Offset, bytes and value.
    pub(super) parameters: Vec<(u32, u32, u64)>,
    pub(super) loads: Vec<Wish>,
}

impl Wishes {
    /// What a load is to find, if there is a wish for it.
    pub(super) fn of_load(&self, load: (usize, u32, usize)) -> Option<&Wish> {
        self.loads.iter().find(|wish| wish.load == load)
    }

    /// Wishes for a load, in place of those that there are for it.
    pub(super) fn add_load(&mut self, wish: Wish) {
        self.loads.retain(|other| other.load != wish.load);
        self.loads.push(wish);
    }

    /// Wishes for the value of a parameter, in place of what there is.
    pub(super) fn add_parameter(&mut self, offset: u32, bytes: u32, value: u64) {
        self.parameters.retain(|other| other.0 != offset);
        self.parameters.push((offset, bytes, value));
    }
}
