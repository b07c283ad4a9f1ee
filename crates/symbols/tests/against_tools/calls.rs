//! The same answers, however the questions are spread over calls.

use crate::programs::{all_programs, directory, options, segments};
use readperf_symbols::{AddressBatch, Files, Options, Resolver, Subject, SymbolBatch};

/// What an answer says about one address, without the numbers that only hold within it.
fn told(answer: &SymbolBatch, index: usize) -> String {
    let symbol = answer.symbol(index).map(|id| answer.symbol_by_id(id));
    let frames = answer.frames(index).iter().map(|frame| {
        let function = frame.function.and_then(|id| answer.function(id));
        let file = frame.file.and_then(|id| answer.file(id));
        (function, file, frame.line, frame.column)
    });
    format!("{symbol:?} {:?}", frames.collect::<Vec<_>>())
}

#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn answers_do_not_depend_on_calls() {
    let dir = directory("calls");
    for program in all_programs(&dir, &[]) {
        let Some(segments) = segments(&program) else { return };
        let end = segments.iter().map(|segment| segment.offset + segment.size).max().unwrap();
        let addresses: Vec<u64> = (0..end).step_by(end as usize / 3000 + 1).collect();
        let subject = || Subject::File { path: program.clone(), build_id: None };
        let ask = |resolver: &mut Resolver<'_>, addresses: Vec<u64>| {
            resolver.resolve(vec![AddressBatch::new(subject(), addresses)]).remove(0)
        };
        for (lines, inlines) in [(true, true), (false, true), (false, false)] {
            let options = Options { lines, inlines, ..options() };
            let whole_files = Files::new();
            let whole = ask(&mut Resolver::new(&whole_files, options.clone()), addresses.clone());
            assert_eq!((0..whole.len()).any(|index| !whole.frames(index).is_empty()), inlines);
            let files = Files::new();
            let mut resolver = Resolver::new(&files, options);
            // One address at a time, then every third, then all again; and one binary twice in a call.
            for (index, address) in addresses.iter().enumerate().step_by(37) {
                let answer = ask(&mut resolver, vec![*address]);
                assert_eq!(told(&answer, 0), told(&whole, index), "{address:#x} of {}", program.display());
            }
            let kept = files.len();
            let third: Vec<u64> = addresses.iter().copied().step_by(3).collect();
            let twice =
                (0..2).map(|_| AddressBatch::new(subject(), third.clone())).collect::<Vec<AddressBatch>>();
            for answer in resolver.resolve(twice) {
                for index in 0..answer.len() {
                    assert_eq!(told(&answer, index), told(&whole, index * 3));
                }
            }
            assert_eq!(ask(&mut resolver, addresses.clone()), whole);
            assert_eq!(files.len(), kept, "a known binary was opened again");
        }
    }
}
