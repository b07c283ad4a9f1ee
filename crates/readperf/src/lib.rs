//! Reads Linux perf.data: who spent the time, in text, CSV and JSON.
