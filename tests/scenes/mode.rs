//! The ways in which a scene is driven: our layers alone, loops around and under them.

/// A way to drive a scene.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) enum Mode {
    /// `Retry`, `Pay` and `Pace`, and one call.
    Alone,
    /// `reqwest-retry` outside of ours.
    RetryOutside,
    /// `reqwest-retry` inside of ours.
    RetryInside,
    /// A loop of the caller's that calls up to three times on any failure, by one purchase name.
    AgainNamed,
    /// The same loop, within one namespace.
    AgainScoped,
    /// The same loop, and nothing says that the calls belong together.
    Again,
}

impl Mode {
    /// All of them.
    pub(crate) const ALL: [Self; 6] = [
        Self::Alone,
        Self::RetryOutside,
        Self::RetryInside,
        Self::AgainNamed,
        Self::AgainScoped,
        Self::Again,
    ];

    /// Those in which two callers can say that they want the same thing.
    pub(crate) const TOLD: [Self; 5] = [
        Self::Alone,
        Self::RetryOutside,
        Self::RetryInside,
        Self::AgainNamed,
        Self::AgainScoped,
    ];

    /// What heads its column.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Alone => "alone",
            Self::RetryOutside => "retry outside",
            Self::RetryInside => "retry inside",
            Self::AgainNamed => "+again, named",
            Self::AgainScoped => "+again, scope",
            Self::Again => "+again",
        }
    }

    /// How often the caller calls at most.
    pub(crate) const fn calls(self) -> usize {
        match self {
            Self::Alone | Self::RetryOutside | Self::RetryInside => 1,
            Self::AgainNamed | Self::AgainScoped | Self::Again => 3,
        }
    }
}
