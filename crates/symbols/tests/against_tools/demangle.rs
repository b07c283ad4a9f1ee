//! Demangled names against `c++filt`, on every C++ name of a large library.

use std::collections::BTreeSet;
use std::path::Path;

use crate::programs::{compile, directory, filter, run};
use readperf_symbols::{Demangle, demangle};

/// Not tables of types, nor functions of transactions: no address of them is ever shown.
fn is_function(name: &str) -> bool {
    name.starts_with("_Z") && !name.starts_with("_ZT") && !name.starts_with("_ZGTt")
}

fn mangled_names(dir: &Path) -> Option<Vec<String>> {
    let library = Path::new("/usr/lib/x86_64-linux-gnu/libstdc++.so.6");
    let mut text = run("nm", &["-D", "--defined-only", library.to_str()?])?;
    let program = compile(dir, "classes.cc", "c++", &["-O0", "-g"])?;
    text.push_str(&run("nm", &[program.as_os_str()])?);
    let program = compile(dir, "classes.cc", "c++", &["-O2", "-g"])?;
    text.push_str(&run("nm", &[program.as_os_str()])?);
    let names = text.lines().filter_map(|line| line.split_whitespace().last());
    let names = names.map(|name| name.split('@').next().unwrap_or(name).to_owned());
    let names: BTreeSet<String> = names.filter(|name| is_function(name)).collect();
    Some(names.into_iter().collect())
}

/// `allowed` is how many of a thousand may differ.
fn compare(style: Demangle, flags: &[&str], allowed: usize) {
    let Some(names) = mangled_names(&directory(&format!("demangle_{style:?}"))) else { return };
    let Some(expected) = filter("c++filt", flags, &format!("{}\n", names.join("\n"))) else { return };
    let expected: Vec<&str> = expected.lines().collect();
    assert_eq!(names.len(), expected.len());
    let mut different = 0;
    for (name, theirs) in names.iter().zip(&expected) {
        let ours = demangle(name, style);
        if ours != *theirs {
            different += 1;
            eprintln!("{name}\n  ours   {ours}\n  theirs {theirs}");
        }
    }
    eprintln!("{style:?}: {} names, {different} different", names.len());
    assert!(names.len() > 3000);
    assert!(different * 1000 <= names.len() * allowed);
}

#[test]
#[ignore = "live: needs nm"]
fn full_names() {
    compare(Demangle::Full, &["-i"], 25);
}

#[test]
#[ignore = "live: needs nm"]
fn simple_names() {
    compare(Demangle::Simple, &["-i", "-p"], 1);
}
