//! What counts are of.

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CounterPlace {
    /// All that was counted.
    All,
    /// A CPU; nothing when counted wherever the task ran.
    Cpu(Option<u32>),
    /// A thread, by its index.
    Thread(u32),
}
