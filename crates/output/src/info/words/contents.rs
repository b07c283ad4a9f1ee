//! What the recording holds beside its records, in words: build-ids, symbol tables, traces, how it was made.

use super::super::features::mode_name;
use super::page::Page;
use super::{counted, shown};
use crate::json::hex;
use crate::text::{binary_size, grouped, printable_bytes};
use perffile::wire::feature::auxtrace_index::AuxtraceIndex;
use perffile::wire::feature::build_id::{BuildIdEntry, BuildIds};
use perffile::wire::feature::cmdline::Cmdline;
use perffile::wire::feature::compressed::Compression;
use perffile::wire::feature::file::{FileSymbols, Files};
use perffile::wire::feature::meta_info::MetaInfo;

/// `BUILD-ID  PATH`, as other tools take it, and what else is told behind it.
pub(super) fn build_ids(page: &mut Page, name: &str, ids: &BuildIds<'_>) {
    let line = |entry: &BuildIdEntry<'_>| {
        let machine = match entry.pid {
            Some(pid) if pid > 0 => format!(" of machine {pid}"),
            _ => String::new(),
        };
        let (id, path) = (hex(entry.id()), printable_bytes(entry.name()));
        format!("{id}  {path}  ({}{machine})", mode_name(entry.misc))
    };
    page.block(
        name,
        counted(ids.entries.len(), "binary").replace("binarys", "binaries"),
        ids.entries.iter().map(line),
    );
}

/// The words of a command, quoted where a shell needs it.
pub(super) fn command(cmdline: &Cmdline<'_>) -> String {
    cmdline.words.iter().map(|word| quoted(shown(*word))).collect::<Vec<_>>().join(" ")
}

fn quoted(word: String) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_=+./:,@%^~".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// How records were compressed.
pub(super) fn compression(page: &mut Page, name: &str, how: Compression) {
    let kind = how.kind.name().map_or_else(|| format!("method {}", how.kind.0), str::to_owned);
    let buffer = binary_size(u64::from(how.mmap_len));
    page.fact(name, format!("{kind} level {}, {} times smaller, buffers of {buffer}", how.level, how.ratio));
}

/// How many AUX traces.
pub(super) fn aux(page: &mut Page, name: &str, index: &AuxtraceIndex<'_>) {
    let bytes = index.entries.iter().fold(0u64, |sum, entry| sum.saturating_add(entry.size));
    let count = counted(index.entries.len(), "AUXTRACE record");
    page.fact(name, format!("{count} of {} bytes, their data not counted", grouped(bytes)));
}

/// Most binaries that are shown one by one.
const MOST_FILES: usize = 20;

/// How many symbols the recording brings along, and for which binaries most.
pub(super) fn files(page: &mut Page, name: &str, files: &Files<'_>) {
    let symbols: usize = files.files.iter().map(|file| file.symbols.len()).sum();
    let with: Vec<&FileSymbols<'_>> = files.files.iter().filter(|file| !file.symbols.is_empty()).collect();
    let line = |file: &&FileSymbols<'_>| {
        let kind = file.kind.name().unwrap_or("other");
        format!("{}  ({kind}, {})", printable_bytes(file.path), counted(file.symbols.len(), "symbol"))
    };
    let mut lines: Vec<String> = with.iter().take(MOST_FILES).map(line).collect();
    if with.len() > MOST_FILES {
        lines.push(format!("and {} more", grouped((with.len() - MOST_FILES) as u64)));
    }
    let files = counted(files.files.len(), "file");
    page.block(name, format!("{} for {files}", counted(symbols, "symbol")), lines);
}

/// What simpleperf notes: `key=value`.
pub(super) fn meta(page: &mut Page, name: &str, meta: &MetaInfo<'_>) {
    let line = |entry: &perffile::wire::feature::meta_info::MetaEntry<'_>| {
        format!("{}={}", printable_bytes(entry.key), printable_bytes(entry.value))
    };
    page.block(name, counted(meta.entries.len(), "note"), meta.entries.iter().map(line));
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_are_quoted_where_a_shell_needs_it() {
        let words = ["-F", "a b", "{c,d}:S", "it's", ""].map(|word| quoted(word.to_owned()));
        assert_eq!(words, ["-F", "'a b'", "'{c,d}:S'", "'it'\\''s'", "''"]);
    }
}
