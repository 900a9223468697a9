//! Values of a launch that replace drawn ones.

/// One or several values that a load shall return from memory that was not written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wish {
    /// The load: its function, its instruction, and the element.
    pub(super) load: (usize, u32, usize),
    pub(super) values: Vec<u64>,
    /// Whether the load returns one of these values at every place. Otherwise, a quarter of the places hold drawn
    /// values.
    pub(super) is_sure: bool,
}

/// All wishes for a launch. Requested shapes and arguments have priority over wishes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wishes {
    pub(super) grid: Option<[u32; 3]>,
    pub(super) block: Option<[u32; 3]>,
    /// Offset, bytes and value.
    pub(super) parameters: Vec<(u32, u32, u64)>,
    pub(super) loads: Vec<Wish>,
}

impl Wishes {
    /// Returns the wish for a load, if there is one.
    pub(super) fn of_load(&self, load: (usize, u32, usize)) -> Option<&Wish> {
        self.loads.iter().find(|wish| wish.load == load)
    }

    /// Replaces the wishes for a load.
    pub(super) fn add_load(&mut self, wish: Wish) {
        self.loads.retain(|other| other.load != wish.load);
        self.loads.push(wish);
    }

    /// Replaces the wish for the value of a parameter.
    pub(super) fn add_parameter(&mut self, offset: u32, bytes: u32, value: u64) {
        self.parameters.retain(|other| other.0 != offset);
        self.parameters.push((offset, bytes, value));
    }
}
