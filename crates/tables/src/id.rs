//! Ids: hashes of what they stand for, the same in every recording.

use twox_hash::xxhash3_128;

/// A hash of 128 bits (XXH3). Its upper half is the id in the tables; the lower half is kept where the id is defined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(u128);

impl Id {
    /// Of bytes.
    pub fn of(bytes: &[u8]) -> Id {
        Id(xxhash3_128::Hasher::oneshot(bytes))
    }

    pub(crate) fn of_hash(hash: u128) -> Id {
        Id(hash)
    }

    /// The id as it stands in tables.
    pub fn number(self) -> i64 {
        let [_, upper] = self.halves();
        upper
    }

    /// The other half of the hash: two things of one id differ here.
    pub fn rest(self) -> i64 {
        let [lower, _] = self.halves();
        lower
    }

    /// The whole hash in hex, 32 digits.
    pub fn hex(self) -> String {
        format!("{:032x}", self.0)
    }

    fn halves(self) -> [i64; 2] {
        let bytes = self.0.to_le_bytes();
        let half = |at: usize| {
            let mut half = [0; 8];
            half.copy_from_slice(bytes.get(at..at + 8).unwrap_or(&[0; 8]));
            i64::from_le_bytes(half)
        };
        [half(0), half(8)]
    }
}

/// What an id is made of, piece by piece. Each piece says how long it is or that it is missing, so that no two keys are the same bytes.
#[derive(Debug, Default)]
pub(crate) struct Key(Vec<u8>);

impl Key {
    /// A key of a kind of things: those of different kinds never have the same one.
    pub(crate) fn new(kind: &str) -> Key {
        let mut key = Key::default();
        key.begin(kind);
        key
    }

    /// Begins anew, in the same memory.
    pub(crate) fn begin(&mut self, kind: &str) {
        self.0.clear();
        self.text(Some(kind.as_bytes()));
    }

    pub(crate) fn text(&mut self, text: Option<&[u8]>) {
        match text {
            Some(text) => {
                self.0.push(1);
                self.0.extend_from_slice(&(text.len() as u64).to_le_bytes());
                self.0.extend_from_slice(text);
            }
            None => self.0.push(0),
        }
    }

    pub(crate) fn number(&mut self, number: Option<u64>) {
        self.0.push(u8::from(number.is_some()));
        self.0.extend_from_slice(&number.unwrap_or_default().to_le_bytes());
    }

    pub(crate) fn id(&mut self, id: Option<Id>) {
        self.0.push(u8::from(id.is_some()));
        self.0.extend_from_slice(&id.unwrap_or_default().0.to_le_bytes());
    }

    pub(crate) fn end(&self) -> Id {
        Id::of(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_halves_are_the_hash() {
        let id = Id::of(b"x");
        assert_eq!(format!("{:016x}{:016x}", id.number(), id.rest()), id.hex());
    }

    #[test]
    fn pieces_do_not_run_into_each_other() {
        let of = |texts: &[Option<&[u8]>]| {
            let mut key = Key::new("test");
            texts.iter().for_each(|text| key.text(*text));
            key.end()
        };
        assert_ne!(of(&[Some(b"ab"), Some(b"c")]), of(&[Some(b"a"), Some(b"bc")]));
        assert_ne!(of(&[None]), of(&[Some(b"")]));
        assert_ne!(Key::new("a").end(), Key::new("b").end());
    }

    #[test]
    fn the_hash_is_that_of_the_specification() {
        // `xxhsum -H2` of an empty file.
        assert_eq!(Id::of(b"").hex(), "99aa06d3014798d86001c324468d497f");
    }
}
