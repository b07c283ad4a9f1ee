//! Values of options, as they are read and told in the help.

use readperf::profile::view::column::NUMBERS;
use readperf::profile::view::key::KEYS;

/// The keys, for the help of `--sort`.
pub(super) fn keys_help() -> String {
    let mut text = "What makes a row: keys, separated by commas; with + before them, besides the usual ones \
                    (comm,dso,symbol; other ones for branches, memory accesses and tracepoints).\n"
        .to_owned();
    for key in KEYS {
        text.push_str(&format!("\n  {:<18} {}", key.name, key.help));
    }
    text.push_str(
        "\n  [EVENT.]FIELD[/raw] a field of a tracepoint\n  trace_fields       all of them\nNumbers:",
    );
    for (name, _, help) in NUMBERS {
        text.push_str(&format!("\n  {name:<18} {help}"));
    }
    text
}

/// A time with a unit, in ns.
pub(super) fn quantum(text: &str) -> Result<u64, String> {
    let units = [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];
    let parsed = units.iter().find_map(|(unit, ns)| {
        text.strip_suffix(unit)?.parse::<u64>().ok()?.checked_mul(*ns).filter(|ns| *ns > 0)
    });
    parsed.ok_or_else(|| format!("{text} is no time: expected a number and ns, us, ms or s"))
}

/// The character between the fields of CSV.
pub(super) fn separator(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [byte] if byte.is_ascii() => Ok(*byte),
        b"\\t" => Ok(b'\t'),
        _ => Err("expected one ASCII character".to_owned()),
    }
}
