//! Debug information that the compiler put into files of its own (`-gsplit-dwarf`): `.dwo` files, one for each unit, or all
//! of them in one `.dwp` file. The main file says for each unit which number it has there (DWARF 5, section 7.3.5).

use std::collections::hash_map::Entry;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use addr2line::{LookupContinuation, LookupResult, SplitDwarfLoad};
use gimli::{DwarfPackage, DwoId, EndianSlice, RunTimeEndian, SectionId};
use rustc_hash::FxHashMap;

use super::{Dwarf, Slice, nesting, sections};
use crate::files::Files;
use crate::find::SplitPlaces;

/// The sections of a `.dwo` file that are read. The line table of the main file is enough for the code.
const NEEDED: &[SectionId] = &[
    SectionId::DebugInfo,
    SectionId::DebugAbbrev,
    SectionId::DebugLine,
    SectionId::DebugStr,
    SectionId::DebugStrOffsets,
    SectionId::DebugRngLists,
];

/// Those of a `.dwp` file: all that its index has columns for, or else a unit's shares in them cannot be told.
const NEEDED_OF_PACKAGE: &[SectionId] = &[
    SectionId::DebugCuIndex,
    SectionId::DebugTuIndex,
    SectionId::DebugInfo,
    SectionId::DebugAbbrev,
    SectionId::DebugLine,
    SectionId::DebugStr,
    SectionId::DebugStrOffsets,
    SectionId::DebugRngLists,
    SectionId::DebugLoc,
    SectionId::DebugLocLists,
    SectionId::DebugMacinfo,
    SectionId::DebugMacro,
    SectionId::DebugTypes,
];

/// Finds and keeps the files of the units of one binary.
pub(super) struct SplitFiles<'f> {
    places: SplitPlaces,
    files: &'f Files,
    package: OnceLock<Option<DwarfPackage<Slice<'f>>>>,
    units: Mutex<FxHashMap<u64, Option<Arc<Dwarf<'f>>>>>,
}

impl<'f> SplitFiles<'f> {
    pub(super) fn new(places: SplitPlaces, files: &'f Files) -> SplitFiles<'f> {
        SplitFiles { places, files, package: OnceLock::new(), units: Mutex::default() }
    }

    /// Goes through with a look-up, with all the files that it needs.
    pub(super) fn complete<L>(&self, mut result: LookupResult<L>) -> L::Output
    where
        L: LookupContinuation<Buf = Slice<'f>>,
    {
        loop {
            result = match result {
                LookupResult::Output(output) => return output,
                LookupResult::Load { load, continuation } => continuation.resume(self.unit(&load)),
            }
        }
    }

    fn unit(&self, load: &SplitDwarfLoad<Slice<'f>>) -> Option<Arc<Dwarf<'f>>> {
        let mut known = self.units.lock().unwrap_or_else(PoisonError::into_inner);
        match known.entry(load.dwo_id.0) {
            Entry::Occupied(unit) => unit.get().clone(),
            Entry::Vacant(unit) => {
                let found = self.in_package(load).or_else(|| self.in_own_file(load));
                unit.insert(found.filter(are_bounded).map(Arc::new)).clone()
            }
        }
    }

    fn in_package(&self, load: &SplitDwarfLoad<Slice<'f>>) -> Option<Dwarf<'f>> {
        let package = self.package.get_or_init(|| {
            let mut paths = self.places.packages().into_iter();
            paths.find_map(|path| {
                let bytes = self.places.load(&path)?;
                let package = package(self.files.keep(Arc::clone(&bytes)), self.files)?;
                self.places.note_package(&path, &bytes);
                Some(package)
            })
        });
        package.as_ref()?.find_cu(load.dwo_id, &load.parent).ok()?
    }

    fn in_own_file(&self, load: &SplitDwarfLoad<Slice<'f>>) -> Option<Dwarf<'f>> {
        let path = |bytes: Option<Slice<'f>>| bytes.map(|bytes| as_path(bytes.slice()));
        let (directory, file) = (path(load.comp_dir), path(load.path)?);
        let paths = self.places.units(directory.clone(), &file);
        paths.into_iter().find_map(|path| {
            let bytes = self.places.load(&path)?;
            let kept = self.files.keep(Arc::clone(&bytes));
            let sections = sections::load(kept, self.files, NEEDED, SectionId::dwo_name)?;
            let mut dwarf = gimli::Dwarf::load(|id| Ok::<_, gimli::Error>(sections.get(id))).ok()?;
            dwarf.make_dwo(&load.parent);
            has_unit(&dwarf, load.dwo_id).then(|| {
                let recorded = directory.clone().unwrap_or_default().join(&file);
                self.places.note(recorded, &path, &bytes);
                dwarf
            })
        })
    }
}

fn as_path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

fn package<'f>(bytes: &'f [u8], files: &'f Files) -> Option<DwarfPackage<Slice<'f>>> {
    let sections = sections::load(bytes, files, NEEDED_OF_PACKAGE, SectionId::dwo_name)?;
    let empty = EndianSlice::new(&[][..], RunTimeEndian::Little);
    DwarfPackage::load(|id| Ok::<_, gimli::Error>(sections.get(id)), empty).ok()
}

/// Whether a file has the unit that the main file means: it may be of another build.
fn has_unit(dwarf: &Dwarf<'_>, wanted: DwoId) -> bool {
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        if dwarf.unit(header).is_ok_and(|unit| unit.dwo_id == Some(wanted)) {
            return true;
        }
    }
    false
}

/// Whether all units nest within bounds, as those of the main file must.
fn are_bounded(dwarf: &Dwarf<'_>) -> bool {
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        if !nesting::is_bounded(dwarf, header) {
            return false;
        }
    }
    true
}
