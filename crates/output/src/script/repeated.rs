//! Texts that many places have in common, each held once: names of functions and of binaries are most of their lines.

use readperf_profile::FunctionId;
use readperf_session::BinaryId;
use rustc_hash::FxHashMap;

/// Bytes of the length of a part.
const LENGTH: usize = size_of::<u32>();

/// The texts by number, and what refers to them: a text is parts, each with its length, and between two of
/// them the number of what stands there.
#[derive(Clone, Debug, Default)]
pub(super) struct Repeated {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// By function the number of its name, one higher; 0 where it is not known.
    functions: Vec<u32>,
    binaries: FxHashMap<Option<BinaryId>, u32>,
    /// Where the part begins that is being written.
    part: usize,
}

impl Repeated {
    /// What is known of a binary may become more.
    pub(super) fn forget_binaries(&mut self) {
        self.binaries.clear();
    }

    /// What is appended from now on is a text.
    pub(super) fn begin(&mut self, out: &mut Vec<u8>) {
        self.part = out.len();
        out.extend_from_slice(&[0; LENGTH]);
    }

    /// The text is at its end.
    pub(super) fn end(&mut self, out: &mut [u8]) {
        let len = out.len().saturating_sub(self.part + LENGTH);
        if let Some(length) = out.get_mut(self.part..self.part + LENGTH) {
            length.copy_from_slice(&u32::try_from(len).unwrap_or(u32::MAX).to_le_bytes());
        }
    }

    fn refer(&mut self, out: &mut Vec<u8>, number: u32) {
        self.end(out);
        out.extend_from_slice(&number.to_le_bytes());
        self.begin(out);
    }

    /// Appends a reference to the name of a function.
    pub(super) fn refer_to_function(
        &mut self,
        out: &mut Vec<u8>,
        id: FunctionId,
        name: impl FnOnce(&mut Vec<u8>),
    ) {
        let known = self.functions.get(id.index()).and_then(|number| number.checked_sub(1));
        let number = known.unwrap_or_else(|| {
            let number = self.add(name);
            if self.functions.len() <= id.index() {
                self.functions.resize(id.index() + 1, 0);
            }
            if let Some(slot) = self.functions.get_mut(id.index()) {
                *slot = number.saturating_add(1);
            }
            number
        });
        self.refer(out, number);
    }

    /// Appends a reference to the name of a binary.
    pub(super) fn refer_to_binary(
        &mut self,
        out: &mut Vec<u8>,
        id: Option<BinaryId>,
        name: impl FnOnce(&mut Vec<u8>),
    ) {
        let known = self.binaries.get(&id).copied();
        let number = known.unwrap_or_else(|| {
            let number = self.add(name);
            self.binaries.insert(id, number);
            number
        });
        self.refer(out, number);
    }

    fn add(&mut self, text: impl FnOnce(&mut Vec<u8>)) -> u32 {
        text(&mut self.bytes);
        self.ends.push(self.bytes.len());
        // Memory is at its end before the numbers are.
        u32::try_from(self.ends.len() - 1).unwrap_or(u32::MAX)
    }

    /// Appends a text with what it refers to.
    #[inline]
    pub(super) fn expand(&self, mut text: &[u8], out: &mut Vec<u8>) {
        while let Some((length, rest)) = text.split_first_chunk::<LENGTH>() {
            let Some((own, rest)) = rest.split_at_checked(u32::from_le_bytes(*length) as usize) else {
                return;
            };
            out.extend_from_slice(own);
            let Some((number, rest)) = rest.split_first_chunk() else { return };
            out.extend_from_slice(self.get(u32::from_le_bytes(*number) as usize));
            text = rest;
        }
    }

    #[inline]
    fn get(&self, number: usize) -> &[u8] {
        let start = number.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(number).copied().unwrap_or(start);
        self.bytes.get(start..end).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_become_what_they_stand_for() {
        let (mut repeated, mut text) = (Repeated::default(), Vec::new());
        let write = |name: &'static str| move |out: &mut Vec<u8>| out.extend_from_slice(name.as_bytes());
        repeated.begin(&mut text);
        // Numbers have bytes of all values.
        for nr in 0..300 {
            repeated.refer_to_function(&mut text, FunctionId::new(nr + 9), write("x"));
        }
        repeated.refer_to_function(&mut text, FunctionId::new(4), write("main"));
        text.extend_from_slice(b"+0x1");
        repeated.refer_to_binary(&mut text, None, write(" (\u{e4})"));
        repeated.refer_to_function(&mut text, FunctionId::new(4), write("not asked"));
        repeated.refer_to_function(&mut text, FunctionId::new(9 + 255), write("not asked"));
        repeated.forget_binaries();
        repeated.refer_to_binary(&mut text, None, write("!"));
        text.push(b'.');
        repeated.end(&mut text);
        let mut out = b"-".to_vec();
        repeated.expand(&text, &mut out);
        let expected = format!("-{}main+0x1 (\u{e4})mainx!.", "x".repeat(300));
        assert_eq!((String::from_utf8(out).unwrap(), repeated.ends.len()), (expected, 303));
    }
}
