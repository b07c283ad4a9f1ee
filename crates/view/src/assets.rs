//! The files of the page. They are in the program; what they share with exported pictures is put together here.

use readperf_output::export::flamegraph;
use std::borrow::Cow;

/// A file of the page.
pub(crate) struct Asset {
    /// Its media type.
    pub(crate) kind: &'static str,
    /// What is in it.
    pub(crate) text: Cow<'static, str>,
}

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

macro_rules! files {
    ($($name:literal: $kind:expr,)*) => {
        /// Name, media type and text of those that are as they are.
        const FILES: &[(&str, &str, &str)] = &[$(($name, $kind, include_str!(concat!("../page/", $name)))),*];
    };
}

files! {
    "main.js": SCRIPT,
    "state.js": SCRIPT,
    "data.js": SCRIPT,
    "stored.js": SCRIPT,
    "dom.js": SCRIPT,
    "text.js": SCRIPT,
    "names.js": SCRIPT,
    "rows.js": SCRIPT,
    "bar.js": SCRIPT,
    "keys.js": SCRIPT,
    "range.js": SCRIPT,
    "strip.js": SCRIPT,
    "heat.js": SCRIPT,
    "functions.js": SCRIPT,
    "flame_view.js": SCRIPT,
    "tree.js": SCRIPT,
    "sandwich.js": SCRIPT,
    "code.js": SCRIPT,
    "recording.js": SCRIPT,
    "records.js": SCRIPT,
    "long_list.js": SCRIPT,
    "page.css": STYLE,
    "icon.svg": PICTURE,
}

/// The names of the modules of the page.
pub(crate) fn modules() -> impl Iterator<Item = &'static str> {
    let own = FILES.iter().filter(|(_, kind, _)| *kind == SCRIPT).map(|(name, _, _)| *name);
    std::iter::once("flame.js").chain(own)
}

/// The file with this name.
pub(crate) fn asset(name: &str) -> Option<Asset> {
    match name {
        "flame.js" => Some(Asset { kind: SCRIPT, text: flamegraph::module().into() }),
        "flame.css" => Some(Asset { kind: STYLE, text: flamegraph::style().into() }),
        _ => {
            let (_, kind, text) = FILES.iter().find(|(file, _, _)| *file == name)?;
            Some(Asset { kind, text: (*text).into() })
        }
    }
}
