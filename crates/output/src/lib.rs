//! Every output format of readperf, one file each.
