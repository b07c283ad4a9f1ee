//! What the threads share: texts and binaries.

use crate::export::Export;
use crate::export::images::Images;
use crate::export::json::JsonWriter;
use crate::export::strings::Strings;
use crate::json::hex;
use crate::text::{decoded, printable};
use readperf_session::{Binary, BinaryId};
use rustc_hash::FxHashMap;

/// Texts and binaries, as far as they are needed.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub(super) strings: Strings,
    pub(super) images: Images,
    libraries: Vec<BinaryId>,
    numbers: FxHashMap<BinaryId, u32>,
}

impl Shared {
    pub(super) fn of(export: &Export<'_>) -> Self {
        Shared { images: Images::of(export), ..Shared::default() }
    }

    /// The number of a binary.
    pub(super) fn library(&mut self, export: &Export<'_>, binary: BinaryId) -> Option<u32> {
        export.session.binary(binary)?;
        let next = u32::try_from(self.libraries.len()).ok()?;
        let number = *self.numbers.entry(binary).or_insert(next);
        if number == next {
            self.libraries.push(binary);
        }
        Some(number)
    }

    /// Writes them.
    pub(super) fn write(&self, export: &Export<'_>, json: &mut JsonWriter<'_>) {
        let arch = export.metadata.features.arch().unwrap_or_default();
        json.line();
        json.key("libs").array(|json| {
            for binary in self.libraries.iter().filter_map(|id| export.session.binary(*id)) {
                json.object(|json| write_library(binary, &printable(&arch), json));
            }
        });
        json.line();
        json.key("shared").object(|json| json.list("stringArray", self.strings.iter()));
    }
}

fn write_library(binary: &Binary, arch: &str, json: &mut JsonWriter<'_>) {
    let name = decoded(&binary.short_name);
    let path = decoded(&binary.name);
    let (name, path) = (printable(&name), printable(&path));
    let build_id = binary.build_id.as_deref().unwrap_or_default();
    json.field("arch", arch);
    json.field("name", &name);
    json.field("path", &path);
    json.field("debugName", &name);
    json.field("debugPath", &path);
    json.field("breakpadId", breakpad_id(build_id));
    json.field("codeId", (!build_id.is_empty()).then(|| hex(build_id)));
}

/// The id that symbol servers know a binary by: the first 16 bytes of its build-id as a GUID, whose first three numbers are
/// little-endian, and an age of 0. Empty without a build-id.
fn breakpad_id(build_id: &[u8]) -> String {
    if build_id.is_empty() {
        return String::new();
    }
    let mut guid = [0; 16];
    guid.iter_mut().zip(build_id).for_each(|(to, from)| *to = *from);
    let [a, b, c, d, e, f, g, h, rest @ ..] = guid;
    let mut id = hex(&[d, c, b, a, f, e, h, g]);
    id.push_str(&hex(&rest));
    id.make_ascii_uppercase();
    id.push('0');
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the example in the documentation of the symbolication API: the numbers are swapped, the rest is not.
    #[test]
    fn ids_of_symbol_servers() {
        let build_id: Vec<u8> = (0u8..20).collect();
        assert_eq!(breakpad_id(&build_id), "030201000504070608090A0B0C0D0E0F0");
        assert_eq!(breakpad_id(&[0xab]), "000000AB0000000000000000000000000");
        assert_eq!(breakpad_id(&[]), "");
    }
}
