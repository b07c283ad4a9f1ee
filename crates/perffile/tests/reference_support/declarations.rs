//! The types behind the two registries, the trailer and the attr.

use super::conditions::Declaration;
use super::outline::Outline;
use perffile::wire::attr::EventAttr;
use perffile::wire::pass::{Declarations, Fields};
use perffile::wire::sample::SampleId;
use perffile::wire::{feature, record};

/// A type behind a variant, and its name with modules.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Declared {
    pub(crate) number: u32,
    pub(crate) declaration: Declaration,
    pub(crate) type_name: &'static str,
}

/// What a registry shows.
struct Shown(Vec<Declared>);

impl Declarations for Shown {
    fn declaration<'a, T: Fields<'a>>(&mut self, number: u32) {
        self.0.push(Declared {
            number,
            declaration: |setting| Outline::of::<T>(setting),
            type_name: std::any::type_name::<T>(),
        });
    }
}

/// The records, in the order of their numbers.
pub(crate) fn records() -> Vec<Declared> {
    let mut shown = Shown(Vec::new());
    record::each_declaration(&mut shown);
    shown.0
}

/// The features with a declaration, in the order of their bits.
pub(crate) fn features() -> Vec<Declared> {
    let mut shown = Shown(Vec::new());
    feature::each_declaration(&mut shown);
    shown.0
}

/// The trailer of the kernel's records.
pub(crate) fn trailer() -> Declared {
    let declaration: Declaration = |setting| Outline::of::<SampleId>(setting);
    Declared { number: 0, declaration, type_name: std::any::type_name::<SampleId>() }
}

/// The attr.
pub(crate) fn attr() -> Declared {
    let declaration: Declaration = |setting| Outline::of::<EventAttr>(setting);
    Declared { number: 0, declaration, type_name: std::any::type_name::<EventAttr>() }
}
