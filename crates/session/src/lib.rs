//! A fold over the events of a recording: processes, threads, mappings and the kernel, by time.
