//! Answers to the last letter. After a deliberate change: `READPERF_BLESS=1 cargo test …`, and look at the difference.

use std::path::Path;

/// What was written is what the file `tests/golden/NAME` has.
pub(crate) fn assert_golden(name: &str, written: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("READPERF_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, written).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    assert!(written == expected, "{name} differs; expected:\n{expected}\nwritten:\n{written}");
}
