//! One answer as the machine of a call needs it.

use paywait_signals::Reply;

/// One answer to one send.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Answered<'a> {
    /// Status, headers, and the start of the body where it was a refusal.
    pub reply: Reply<'a>,
    /// Whether the origin that answered is the one that was asked. An offer from elsewhere is no
    /// offer.
    pub same_origin: bool,
    /// Whether the client below followed a redirect to get it: what it is given to show, it shows to
    /// others.
    pub redirected: bool,
    /// Whether its body ended before it was whole.
    pub cut: bool,
}

impl<'a> Answered<'a> {
    /// Returns an answer from the origin that was asked.
    pub const fn new(reply: Reply<'a>) -> Self {
        Self {
            reply,
            same_origin: true,
            redirected: false,
            cut: false,
        }
    }

    /// Says whether the origin that answered is the one that was asked.
    #[must_use]
    pub const fn same_origin(mut self, same: bool) -> Self {
        self.same_origin = same;
        self
    }

    /// Says whether the client below followed a redirect.
    #[must_use]
    pub const fn redirected(mut self, redirected: bool) -> Self {
        self.redirected = redirected;
        self
    }

    /// Says whether the body ended before it was whole.
    #[must_use]
    pub const fn cut(mut self, cut: bool) -> Self {
        self.cut = cut;
        self
    }
}
