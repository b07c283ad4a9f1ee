//! Names that the caller brings, because the recording itself has them.

use rustc_hash::FxHashMap;

use crate::batch::{BatchBuilder, Symbol, SymbolBatch};
use crate::function_name::FunctionName;
use crate::ids::SymbolId;
use crate::name::as_name;
use crate::options::Options;
use crate::reason::Reason;
use crate::source::{Names, Shared};
use crate::subject::{AddressBatch, Subject};
use crate::symbol_list::SymbolList;

pub(crate) fn open<'f>(_: &Shared<'f>, subject: &Subject) -> Option<Result<Box<dyn Names + 'f>, Reason>> {
    let Subject::Listed { symbols } = subject else { return None };
    Some(Ok(Box::new(symbols.clone())))
}

impl Names for SymbolList {
    fn name(&self, options: &Options, batch: &AddressBatch) -> SymbolBatch {
        let mut builder = BatchBuilder::new(batch);
        let mut numbers: FxHashMap<u64, SymbolId> = FxHashMap::default();
        for address in &batch.addresses {
            let Some(entry) = self.find(*address) else {
                builder.push_reason(&Reason::NoSymbolCovers);
                continue;
            };
            let number = *numbers.entry(entry.start).or_insert_with(|| {
                let raw_name = as_name(SymbolList::name(self, entry).as_bytes()).into_owned();
                builder.symbols.push(Symbol {
                    name: FunctionName::mangled(raw_name, options.demangle),
                    start: entry.start,
                    end: entry.end,
                    binding: entry.binding,
                    source_file: None,
                });
                SymbolId::new(builder.symbols.len().saturating_sub(1))
            });
            builder.push_symbol(number);
        }
        builder.finish(batch.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Demangle, ListedSymbol, resolve};

    fn symbol(start: u64, end: u64, name: &str) -> ListedSymbol {
        ListedSymbol { start, end, name: name.to_owned() }
    }

    fn names(list: &SymbolList, addresses: &[u64]) -> Vec<Option<String>> {
        let subject = Subject::Listed { symbols: list.clone() };
        let options = Options { demangle: Demangle::Simple, ..Options::default() };
        let answers = resolve(&options, vec![AddressBatch::new(subject, addresses.to_vec())]);
        (0..addresses.len()).map(|index| answers[0].name(index).map(str::to_owned)).collect()
    }

    #[test]
    fn the_last_one_given_and_the_innermost() {
        let list = SymbolList::new(
            "/tmp/perf-7.map",
            [
                symbol(0x40, 0x60, "old"),
                symbol(0x10, 0x80, "outer"),
                symbol(0x40, 0x50, "_ZN1a1bEv"),
                symbol(0x100, 0, "open end"),
                symbol(0x140, 0x141, "next"),
            ],
        );
        assert_eq!(list.len(), 4);
        let some = |name: &str| Some(name.to_owned());
        assert_eq!(
            names(&list, &[0xf, 0x10, 0x4f, 0x50, 0x80, 0x13f, 0x140, 0x141]),
            [None, some("outer"), some("a::b"), some("outer"), None, some("open end"), some("next"), None]
        );
    }

    #[test]
    fn lists_are_equal_by_what_they_name() {
        let list = |name| SymbolList::new("x", [symbol(1, 2, name)]);
        assert_eq!(list("a"), list("a"));
        assert_ne!(list("a"), list("b"));
    }
}
