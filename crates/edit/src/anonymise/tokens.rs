//! Tokens for names: the same one for the same name.

use hmac::{Hmac, KeyInit as _, Mac as _};
use perffile::event_name::{self, NameSources};
use perffile::wire::attr::EventAttr;
use perffile::wire::event_type::EventType;
use rustc_hash::FxHashMap;
use sha2::Sha256;

/// A secret that tokens are made with.
#[derive(Clone)]
pub struct Key(Hmac<Sha256>);

impl Key {
    /// Of some bytes, which should be hard to guess: who has them can find out whether a name is one that he thinks of. `None` if there are none.
    pub fn new(secret: &[u8]) -> Option<Key> {
        Some(Key(Hmac::new_from_slice(secret).ok()?)).filter(|_| !secret.is_empty())
    }

    fn digest(&self, what: Name, name: &[u8]) -> [u8; 32] {
        let mut mac = self.0.clone();
        mac.update(what.word().as_bytes());
        mac.update(&[0]);
        mac.update(name);
        mac.finalize().into_bytes().into()
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

/// What a name is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Name {
    /// A thread.
    Comm,
    /// A binary, or other memory that is mapped.
    Dso,
    /// An event.
    Event,
    /// A group of events.
    Group,
    /// Generated code of the kernel.
    Symbol,
    Cgroup,
    Host,
    BuildId,
}

impl Name {
    /// Beginning of the tokens.
    fn word(self) -> &'static str {
        match self {
            Name::Comm => "comm",
            Name::Dso => "dso",
            Name::Event => "event",
            Name::Group => "group",
            Name::Symbol => "symbol",
            Name::Cgroup => "cgroup",
            Name::Host => "host",
            Name::BuildId => "id",
        }
    }
}

/// Digits of tokens that are made with a key: 40 bits, which fit into the name of a thread, and of which a recording has far too few for two to
/// meet.
const DIGITS: usize = 10;

/// The tokens of a recording.
#[derive(Debug)]
pub(super) struct Tokens {
    key: Option<Key>,
    numbers: FxHashMap<(Name, Box<[u8]>), usize>,
    /// How many names of each kind there are.
    counts: FxHashMap<Name, usize>,
}

impl Tokens {
    pub(super) fn new(key: Option<Key>) -> Tokens {
        Tokens { key, numbers: FxHashMap::default(), counts: FxHashMap::default() }
    }

    /// How many names have one.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    fn number(&mut self, what: Name, name: &[u8]) -> usize {
        if let Some(number) = self.numbers.get(&(what, name.into())) {
            return *number;
        }
        let count = self.counts.entry(what).or_default();
        *count += 1;
        self.numbers.insert((what, name.into()), *count);
        *count
    }

    /// The token of a name. No name is none.
    pub(super) fn of(&mut self, what: Name, name: &[u8]) -> String {
        if name.is_empty() {
            return String::new();
        }
        let number = self.number(what, name);
        let word = what.word();
        match &self.key {
            None => format!("{word}{number}"),
            Some(key) => {
                let hex: String = key.digest(what, name).iter().map(|byte| format!("{byte:02x}")).collect();
                format!("{word}-{}", hex.get(..DIGITS).unwrap_or(&hex))
            }
        }
    }

    /// The token of a build-id of so many bytes. Zeros that fill it up are no part of it, and none is none.
    pub(super) fn build_id(&mut self, id: &[u8]) -> [u8; 20] {
        let end = id.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        let name = id.get(..end).unwrap_or(id);
        if name.is_empty() {
            return [0; 20];
        }
        let number = self.number(Name::BuildId, name);
        let mut token = [0; 20];
        match &self.key {
            Some(key) => {
                let digest = key.digest(Name::BuildId, name);
                token.iter_mut().zip(digest).for_each(|(to, from)| *to = from);
            }
            None => {
                let number = u32::try_from(number).unwrap_or(u32::MAX).to_be_bytes();
                token.iter_mut().zip(number.iter().cycle()).for_each(|(to, from)| *to = *from);
            }
        }
        // What the id does not have stays zero.
        token.iter_mut().skip(id.len()).for_each(|byte| *byte = 0);
        token
    }

    /// The name of an event: what its attr tells anyway, for events that are the same everywhere; else a token. Names of tracepoints, of probes and
    /// those that users give may hold paths and functions.
    pub(super) fn event(&mut self, attr: &EventAttr, name: &[u8]) -> String {
        let is_public = matches!(
            attr.kind,
            EventType::HARDWARE
                | EventType::SOFTWARE
                | EventType::HW_CACHE
                | EventType::RAW
                | EventType::BREAKPOINT
        );
        match is_public {
            true => event_name::of_attr(attr, &NameSources::default()),
            false => self.of(Name::Event, name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_name_has_the_same_token() {
        let mut tokens = Tokens::new(None);
        assert_eq!(tokens.of(Name::Comm, b"bash"), "comm1");
        assert_eq!(tokens.of(Name::Comm, b"perf"), "comm2");
        assert_eq!(tokens.of(Name::Dso, b"bash"), "dso1");
        assert_eq!(tokens.of(Name::Comm, b"bash"), "comm1");
        assert_eq!(tokens.of(Name::Comm, b""), "");
        assert_eq!(tokens.len(), 3);
    }

    #[test]
    fn tokens_of_a_key_agree_between_recordings() {
        let of = |key: &[u8]| {
            let mut tokens = Tokens::new(Key::new(key));
            (tokens.of(Name::Comm, b"bash"), tokens.of(Name::Comm, b"perf"), tokens.build_id(&[7; 20]))
        };
        let (bash, perf, id) = of(b"secret");
        assert_eq!(of(b"secret"), (bash.clone(), perf.clone(), id));
        assert!(bash != perf && bash != of(b"other").0 && id != of(b"other").2);
        assert!(bash.len() <= 15, "{bash}: longer than the name of a thread can be");
        assert!(Key::new(b"").is_none());
    }

    #[test]
    fn build_ids_are_the_same_with_and_without_what_fills_them_up() {
        let mut tokens = Tokens::new(None);
        let long = tokens.build_id(&[7; 20]);
        let short = tokens.build_id(&[7; 16]);
        assert!(long != short && long != [0; 20]);
        let mut filled_up = [0; 20];
        filled_up[..16].fill(7);
        assert_eq!(tokens.build_id(&filled_up)[..16], short[..16]);
        assert_eq!(tokens.build_id(&[0; 20]), [0; 20]);
    }
}
