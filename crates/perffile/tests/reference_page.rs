//! `docs/format.md` says what the declarations say.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod reference_support;

use reference_support::page;
use std::path::Path;

#[test]
fn the_page_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/format.md");
    let made = page::page();
    if std::env::var_os("READPERF_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &made).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    let differs =
        made.lines().zip(stored.lines().chain(std::iter::repeat(""))).find(|(made, stored)| made != stored);
    assert!(
        made == stored,
        "docs/format.md is stale, first at {differs:?}; READPERF_BLESS=1 cargo test -p perffile --test reference_page \
         writes it anew"
    );
}
