//! Programs that a reader runs from the root; there is no library here.
