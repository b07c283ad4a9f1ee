//! The running kernel and its perf.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use perffile::tracepoint::{SymbolName, SymbolNames};

/// Every event of the running kernel that `perf` can record: system and format text, by name.
pub(crate) fn kernel_formats() -> Vec<(String, Vec<u8>)> {
    let mut formats = Vec::new();
    for root in ["/sys/kernel/tracing/events", "/sys/kernel/debug/tracing/events"] {
        let pattern = |path: &Path| -> Vec<std::path::PathBuf> {
            let mut entries: Vec<_> =
                std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
            entries.sort();
            entries
        };
        for system in pattern(Path::new(root)) {
            for event in pattern(&system) {
                if let Ok(text) = std::fs::read(event.join("format")) {
                    formats.push((system.file_name().unwrap().to_string_lossy().into_owned(), text));
                }
            }
        }
        if !formats.is_empty() {
            break;
        }
    }
    formats
}

pub(crate) fn tool_exists(name: &str) -> bool {
    Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// What `perf script` prints.
pub(crate) fn perf_script(path: &Path, fields: &str) -> String {
    let output =
        Command::new("perf").args(["script", "--ns", "-i"]).arg(path).args(["-F", fields]).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The names of `/proc/kallsyms`.
pub(crate) struct KernelSymbols(BTreeMap<u64, String>);

impl SymbolNames for KernelSymbols {
    fn symbol(&self, address: u64) -> Option<SymbolName<'_>> {
        let (start, name) = self.0.range(..=address).next_back()?;
        // Beyond the last function there is nothing; no function is that long.
        (address - start < 1 << 20).then_some(SymbolName { name, offset: address - start })
    }
}

pub(crate) fn kernel_symbol_table() -> Option<&'static KernelSymbols> {
    static TABLE: OnceLock<Option<KernelSymbols>> = OnceLock::new();
    TABLE
        .get_or_init(|| {
            let text = std::fs::read("/proc/kallsyms").ok()?;
            let mut table = BTreeMap::new();
            for symbol in perffile::tracepoint::kernel_symbols(&text) {
                if symbol.address > u64::MAX / 2 && b"tTwW".contains(&symbol.kind) {
                    table
                        .entry(symbol.address)
                        .or_insert_with(|| String::from_utf8_lossy(symbol.name).into_owned());
                }
            }
            (!table.is_empty()).then_some(KernelSymbols(table))
        })
        .as_ref()
}
