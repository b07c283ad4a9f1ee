//! Tables as the Firefox Profiler has them: from a stack's number to its names.

use crate::run::spelled;
use serde_json::Value;

/// A number in a column of a table; `None` for null.
pub(crate) fn number(table: &Value, column: &str, row: u64) -> Option<u64> {
    let cell = &table[column][usize::try_from(row).unwrap()];
    assert!(cell.is_u64() || cell.is_null(), "{column}[{row}] is {cell}");
    cell.as_u64()
}

/// The names of a stack's functions, the outermost first.
pub(crate) fn names(profile: &Value, thread: &Value, stack: u64) -> String {
    let mut names = Vec::new();
    let mut here = Some(stack);
    while let Some(stack) = here {
        let frame = number(&thread["stackTable"], "frame", stack).unwrap();
        let function = number(&thread["frameTable"], "func", frame).unwrap();
        let name = number(&thread["funcTable"], "name", function).unwrap();
        names.push(spelled(profile["shared"]["stringArray"][name as usize].as_str().unwrap()));
        let caller = number(&thread["stackTable"], "prefix", stack);
        assert!(caller.is_none_or(|caller| caller < stack), "callers come first");
        here = caller;
    }
    names.reverse();
    names.join(";")
}
