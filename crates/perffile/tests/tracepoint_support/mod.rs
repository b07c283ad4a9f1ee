//! What the tracepoint tests need around them.

pub(crate) mod c_compiler;
pub(crate) mod corpus;
pub(crate) mod kernel;
pub(crate) mod noise;
pub(crate) mod recording;
pub(crate) mod synthetic;
