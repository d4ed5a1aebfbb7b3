//! When the next send may go.
