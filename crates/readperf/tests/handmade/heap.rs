//! Generated code of the process: functions of 16 bytes, one behind the other, and numbers to choose among them.

use super::PID;
use std::path::Path;

/// Where the first function begins.
pub(crate) const HEAP: u64 = 0x7f00_1234_0000;

/// Writes the map file that calls the functions f0, f1 and so on.
pub(crate) fn name_functions(dir: &Path, count: u64) {
    let symbols = (0..count).map(|nr| format!("{:x} 10 f{nr}\n", HEAP + nr * 16));
    std::fs::write(dir.join(format!("perf-{PID}.map")), symbols.collect::<String>()).unwrap();
}

/// Numbers that look random, the same in each run (Knuth's MMIX constants).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}
