//! What the tracepoint tests need around them.

pub mod corpus;
pub mod kernel;
pub mod noise;
pub mod recording;
pub mod synthetic;
