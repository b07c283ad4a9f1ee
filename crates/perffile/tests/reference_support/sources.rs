//! What the sources say of a type: the doc comments of its module and of its fields.

use std::path::{Path, PathBuf};

/// Fields whose name in the sources is not that of the ABI: that one, what it is on the wire if that matters, the name
/// in the sources.
const OTHER_NAMES: &[(&str, &str, &str)] = &[
    ("type", "", "kind"),
    ("build_id_size", "", "id_size"),
    ("build_id_size", "", "size"),
    ("build_id_reserved", "", "reserved"),
    ("build_id", "", "bytes"),
    ("bitmap_bits", "", "bits"),
    ("mask", "structure", "mask32"),
    ("mask", "u64", "mask64"),
    ("unit", "", "text"),
    ("name", "", "text"),
    ("values", "", "group"),
    ("dies", "", "cpus"),
    ("die_ids", "", "ids"),
    ("regs", "", "values"),
];

fn source(type_name: &str) -> (PathBuf, String) {
    let path = type_name.split('<').next().unwrap_or_default();
    let mut parts: Vec<&str> = path.split("::").skip(1).collect();
    let name = parts.pop().unwrap_or_default().to_owned();
    let base = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(parts.join("/"));
    let file = base.with_extension("rs");
    (if file.exists() { file } else { base.join("mod.rs") }, name)
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The first paragraph of the docs of the module that a type is in, behind the colon that ends its name.
pub(crate) fn module(type_name: &str) -> String {
    let (path, _) = source(type_name);
    let text = read(&path);
    let lines = text.lines().map_while(|line| line.strip_prefix("//! "));
    let paragraph = lines.collect::<Vec<_>>().join(" ");
    let (before, behind) = paragraph.split_once(": ").unwrap_or(("", &paragraph));
    // `NAME (number)` or `NAME (number) and NAME (number)` says what the heading says.
    let is_name = |word: &str| {
        word == "and" || word.ends_with(')') || word.starts_with(|c: char| c.is_uppercase() || c == '(')
    };
    if before.split_whitespace().all(is_name) { sentence(behind) } else { format!("{before}.") }
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// The doc comment of a field; empty if it has none.
pub(crate) fn field(type_name: &str, field: &str, wire: &str) -> String {
    let (path, name) = source(type_name);
    let text = read(&path);
    let starts = [format!("pub struct {name} "), format!("pub struct {name}<"), "pub enum ".to_owned()];
    let lines: Vec<&str> = text.lines().collect();
    let is_start =
        |line: &str, starts: &[String]| starts.iter().any(|start| line.trim_start().starts_with(start));
    let (structs, enums) = starts.split_at(2);
    let places = [structs, enums]
        .into_iter()
        .filter_map(|starts| lines.iter().position(|line| is_start(line, starts)));
    let others = OTHER_NAMES.iter().filter(|(abi, kind, _)| *abi == field && wire.starts_with(kind));
    let names: Vec<&str> = [field].into_iter().chain(others.map(|(_, _, name)| *name)).collect();
    let doc =
        |place: usize, name: &str| doc_in(&lines[place..], &[format!("{name}:"), format!("pub {name}:")]);
    let mut docs = places.flat_map(|place| names.iter().filter_map(move |name| doc(place, name)));
    docs.next().unwrap_or_default()
}

/// The bits of a `bits!` declaration: number, name, doc comment.
pub(crate) fn bits(type_name: &str) -> Vec<(u32, String, String)> {
    let (path, name) = source(type_name);
    let text = read(&path);
    let start = format!("pub struct {name}(");
    let body = text.split_once(&start).unwrap_or_else(|| panic!("{start} is not in {}", path.display())).1;
    let mut docs = String::new();
    let mut bits = Vec::new();
    for line in body.lines().skip(1).map(str::trim).take_while(|line| *line != "}") {
        match line.strip_prefix("/// ") {
            Some(doc) => docs = doc.to_owned(),
            None => {
                for entry in line.split_terminator(',').map(str::trim) {
                    let (bit, name) = entry.split_once(' ').expect("a bit and its name");
                    bits.push((bit.parse().expect("a bit"), name.to_owned(), std::mem::take(&mut docs)));
                }
            }
        }
    }
    bits
}

/// The doc comment before the line in the struct that starts with one of `starts`.
fn doc_in(lines: &[&str], starts: &[String]) -> Option<String> {
    let mut docs: Vec<&str> = Vec::new();
    let depth = lines.first()?.len() - lines.first()?.trim_start().len();
    for line in &lines[1..] {
        let text = line.trim_start();
        if text == "}" && line.len() - text.len() <= depth {
            return None;
        }
        match text.strip_prefix("/// ") {
            Some(doc) => docs.push(doc),
            None if starts.iter().any(|start| text.starts_with(start)) => return Some(docs.join(" ")),
            None => docs.clear(),
        }
    }
    None
}
