//! `readperf sql`.
