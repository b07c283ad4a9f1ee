//! Profiles that are put together from places whose names are known already. Where those come from is not this crate's business: tables of
//! many recordings, say.

use crate::addresses::{AddressId, Addresses};
use crate::names::{FileId, Frame, FunctionId, Names};
use crate::profile::{EventTotal, Profile, SampleRow};
use crate::rows::Rows;
use crate::stacks::{StackId, Stacks};
use readperf_session::{BinaryId, CodeAddress};
use readperf_symbols::FunctionName;
use std::sync::Arc;

/// Puts a profile together: functions and files first, then the places they are at, then stacks of places, then samples.
#[derive(Debug, Default)]
pub struct Assembly {
    addresses: Addresses,
    names: Names,
    stacks: Stacks,
    rows: Vec<SampleRow>,
}

impl Assembly {
    /// A function of a binary. Without a name its address stands for it, and `reason` says in plain words why it has none.
    pub fn function(
        &mut self,
        binary: Option<BinaryId>,
        address: u64,
        name: Result<FunctionName, &str>,
    ) -> FunctionId {
        self.names.add_function(binary, address, name)
    }

    /// A source file.
    pub fn file(&mut self, name: &str) -> FileId {
        self.names.add_file(name)
    }

    /// A place with its levels, the innermost inlined function first. Each call makes another place.
    pub fn place(&mut self, code: CodeAddress, levels: &[Frame]) -> AddressId {
        self.names.add_place(levels);
        self.addresses.again(code)
    }

    /// The stack of these places, the innermost first.
    pub fn stack(&mut self, places: &[AddressId]) -> StackId {
        let mut ids = Vec::with_capacity(1);
        self.stacks.number_all(places, &[places.len()], &mut ids);
        ids.pop().unwrap_or(StackId::EMPTY)
    }

    /// Samples that agree in what is kept of them.
    pub fn row(&mut self, row: SampleRow) {
        self.rows.push(row);
    }

    /// The profile. The events are told, since there may be some whose samples are not among the rows.
    pub fn finish(self, events: Vec<EventTotal>) -> Profile {
        let Assembly { mut addresses, names, mut stacks, mut rows } = self;
        addresses.freeze();
        stacks.freeze();
        rows.sort_unstable();
        Profile {
            recorded: events.clone(),
            events,
            addresses: Arc::new(addresses),
            stacks: Arc::new(stacks),
            rows: Arc::new(Rows::of_list(rows, Rows::push)),
            names: Arc::new(names),
            ..Profile::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detail::DetailId;
    use crate::rows::RowSlice;
    use readperf_session::{Binary, BinaryKind, CpuMode, Session};

    fn only(rows: RowSlice<'_>) -> SampleRow {
        assert_eq!(rows.len(), 1);
        rows.get(0).unwrap()
    }

    #[test]
    fn what_is_put_together_is_found_again() {
        let mut session = Session::default();
        let comm = session.add_comm(b"work");
        let binary = session.add_binary(Binary {
            name: b"/bin/work".as_slice().into(),
            short_name: b"work".as_slice().into(),
            kind: BinaryKind::User,
            build_id: None,
        });
        let mut assembly = Assembly::default();
        let named = |name: &str| Ok(FunctionName::new(name.to_owned(), String::new()));
        let main = assembly.function(Some(binary), 0, named("main"));
        let inner = assembly.function(Some(binary), 0, named("inner"));
        let unknown = assembly.function(None, 0x77, Err("nobody knows"));
        let file = assembly.file("main.c");
        let code = |address| CodeAddress { binary: Some(binary), address, ip: address, mode: CpuMode::User };
        let level = |function| Frame { function, file: Some(file), line: 3 };
        let outer = assembly.place(code(1), &[level(main)]);
        let leaf = assembly.place(code(2), &[level(inner), level(main)]);
        let lost = assembly.place(code(3), &[Frame { function: unknown, file: None, line: 0 }]);
        let stack = assembly.stack(&[leaf, outer]);
        assert_eq!(assembly.stack(&[leaf, outer]), stack);
        let row = SampleRow {
            event: 1,
            comm,
            thread: None,
            cpu: None,
            time_ns: 0,
            stack,
            address: leaf,
            detail: DetailId::default(),
            samples: 2,
            period: 9,
        };
        assembly.row(row);
        assembly.row(SampleRow { event: 0, stack: StackId::EMPTY, address: lost, ..row });
        let total = |name: &str| EventTotal { name: name.to_owned(), samples: 2, period: 9 };
        let profile = assembly.finish(vec![total("a"), total("b")]);
        let name = |place| profile.levels_at(place).map(|level| profile.function(level.function)?.name());
        let of_b = only(profile.rows_of(1));
        let names: Vec<_> = profile.places(&of_b).flat_map(name).collect();
        assert_eq!(names, [Some("inner"), Some("main"), Some("main")]);
        assert_eq!(profile.names().function_at(leaf), Some(main));
        let of_a = only(profile.rows_of(0));
        assert_eq!(profile.places(&of_a).flat_map(name).collect::<Vec<_>>(), [None]);
        assert_eq!(profile.function(unknown).and_then(|function| function.reason()), Some("nobody knows"));
        assert_eq!(session.comm(of_b.comm), b"work");
    }
}
