//! Addresses of a binary to functions, inlined functions and source lines, in process.
