//! A count that forgets what is two generations old.

/// A count of sends that the server may not have counted, by the generation they went out in.
///
/// A send of the generation before may still arrive in this one. What is older has arrived: it is
/// not held against the window, however long its reply takes.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    this: u64,
    before: u64,
}

impl Tally {
    pub(crate) const fn total(&self) -> u64 {
        self.this.saturating_add(self.before)
    }

    pub(crate) const fn add(&mut self, count: u64) {
        self.this = self.this.saturating_add(count);
    }

    /// Takes off what was added `age` generations ago.
    pub(crate) const fn take(&mut self, count: u64, age: u64) {
        match age {
            0 => self.this = self.this.saturating_sub(count),
            1 => self.before = self.before.saturating_sub(count),
            _ => {}
        }
    }

    pub(crate) const fn clear(&mut self) {
        self.this = 0;
        self.before = 0;
    }

    pub(crate) const fn next_generation(&mut self) {
        self.before = self.this;
        self.this = 0;
    }
}
