//! How users ask for fields.

use super::fields::{Class, NAMES, NOT_SHOWN, ScriptField, ScriptFields};

/// Prefixes with which fields are asked for of one kind of event.
const PREFIXES: &[(&str, Class)] = &[
    ("hw", Class::HARDWARE),
    ("sw", Class::SOFTWARE),
    ("trace", Class::TRACEPOINT),
    ("raw", Class::RAW),
    ("synth", Class::SYNTHETIC),
];

/// The fields of every kind of event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldChoice {
    fields: [ScriptFields; Class::COUNT],
    asked: [ScriptFields; Class::COUNT],
    is_set: [bool; Class::COUNT],
}

impl Default for FieldChoice {
    fn default() -> Self {
        let fields = std::array::from_fn(|class| Class::numbered(class).fields());
        FieldChoice { fields, asked: Default::default(), is_set: Default::default() }
    }
}

/// What is wrong with a choice of fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChoiceError {
    /// No field has this name.
    UnknownField(String),
    /// perf has a field of this name, and here is why it is not shown.
    NotShown(&'static str, &'static str),
    /// No kind of event has this name.
    UnknownPrefix(String),
    /// A field that these events cannot have.
    Invalid {
        /// The prefix.
        prefix: String,
        /// The field.
        field: String,
    },
    /// Additions and removals beside plain names.
    Mixed,
}

impl FieldChoice {
    /// Names of all fields.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(name, _)| *name)
    }

    /// Prefixes of kinds of events.
    pub fn prefixes() -> impl Iterator<Item = &'static str> {
        PREFIXES.iter().map(|(name, _)| *name)
    }

    /// Takes one more choice: `comm,ip,sym`, `+srcline,-period`, `sw:comm,ip`, `trace:`.
    ///
    /// # Errors
    /// What is wrong with it; then nothing has changed.
    pub fn choose(&mut self, text: &str) -> Result<(), ChoiceError> {
        let (prefix, names) = match text.split_once(':') {
            Some((prefix, names)) => (Some(prefix), names),
            None => (None, text),
        };
        let classes: Vec<Class> = match prefix {
            None => (0..Class::COUNT).map(Class::numbered).collect(),
            Some(prefix) => {
                let found = PREFIXES.iter().find(|(name, _)| *name == prefix);
                vec![found.ok_or_else(|| ChoiceError::UnknownPrefix(prefix.to_owned()))?.1]
            }
        };
        let names: Vec<&str> = names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        let changes = names.iter().filter(|name| name.starts_with(['+', '-'])).count();
        // A sign before the first name holds for those that follow until the next sign.
        let is_change = names.first().is_some_and(|name| name.starts_with(['+', '-']));
        if changes > 0 && !is_change {
            return Err(ChoiceError::Mixed);
        }
        let mut next = self.clone();
        if !is_change {
            for class in &classes {
                next.replace(*class);
            }
        }
        let mut present = true;
        for name in names {
            let bare = name.trim_start_matches(['+', '-']);
            if bare.len() < name.len() {
                present = name.starts_with('+');
            }
            if let Some((name, why)) = NOT_SHOWN.iter().find(|(known, _)| *known == bare) {
                return Err(ChoiceError::NotShown(name, why));
            }
            let field = NAMES.iter().find(|(known, _)| *known == bare);
            let (_, field) = field.ok_or_else(|| ChoiceError::UnknownField(bare.to_owned()))?;
            for class in &classes {
                if class.is_valid(*field) {
                    next.ask(*class, *field, present);
                } else if let Some(prefix) = prefix {
                    return Err(ChoiceError::Invalid { prefix: prefix.to_owned(), field: bare.to_owned() });
                }
            }
        }
        *self = next;
        Ok(())
    }

    /// Takes all fields of a kind of event away.
    fn replace(&mut self, class: Class) {
        let class = class.index();
        let none = (ScriptFields::default(), ScriptFields::default(), true);
        if let (Some(fields), Some(asked), Some(is_set)) =
            (self.fields.get_mut(class), self.asked.get_mut(class), self.is_set.get_mut(class))
        {
            (*fields, *asked, *is_set) = none;
        }
    }

    fn ask(&mut self, class: Class, field: ScriptField, present: bool) {
        let class = class.index();
        if let Some(fields) = self.fields.get_mut(class) {
            fields.set(field, present);
        }
        if let Some(asked) = self.asked.get_mut(class) {
            asked.set(field, present);
        }
        if let Some(is_set) = self.is_set.get_mut(class) {
            *is_set = true;
        }
    }

    /// The fields of a kind of event.
    pub(super) fn of(&self, class: Class) -> ScriptFields {
        self.fields.get(class.index()).copied().unwrap_or_default()
    }

    /// Those of them that were asked for.
    pub(super) fn asked(&self, class: Class) -> ScriptFields {
        self.asked.get(class.index()).copied().unwrap_or_default()
    }

    /// Whether the user has said anything about this kind of event.
    pub(super) fn is_set(&self, class: Class) -> bool {
        self.is_set.get(class.index()).copied().unwrap_or_default()
    }

    /// Whether a field is shown for any kind of event.
    pub fn any(&self, field: ScriptField) -> bool {
        self.fields.iter().any(|fields| fields.has(field))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(choices: &[&str]) -> FieldChoice {
        let mut choice = FieldChoice::default();
        for text in choices {
            choice.choose(text).unwrap();
        }
        choice
    }

    #[test]
    fn plain_names_replace_and_signs_change() {
        let plain = chosen(&["comm,ip"]);
        assert_eq!(plain.of(Class::SOFTWARE), ScriptFields::of(&[ScriptField::Comm, ScriptField::Ip]));
        let changed = chosen(&["+srcline,-period,comm"]);
        let fields = changed.of(Class::HARDWARE);
        assert!(fields.has(ScriptField::SourceLine) && fields.has(ScriptField::Ip));
        assert!(
            !fields.has(ScriptField::Period) && !fields.has(ScriptField::Comm),
            "a sign holds until the next one"
        );
        let one = chosen(&["sw:ip"]);
        assert_eq!(one.of(Class::SOFTWARE), ScriptFields::of(&[ScriptField::Ip]));
        assert_eq!(one.of(Class::HARDWARE), FieldChoice::default().of(Class::HARDWARE));
        assert!(chosen(&["trace:"]).of(Class::TRACEPOINT).is_empty());
    }

    #[test]
    fn what_is_wrong_changes_nothing() {
        let mut choice = FieldChoice::default();
        assert_eq!(choice.choose("comm,sim"), Err(ChoiceError::UnknownField("sim".to_owned())));
        assert_eq!(choice.choose("x:ip"), Err(ChoiceError::UnknownPrefix("x".to_owned())));
        assert_eq!(choice.choose("comm,+ip"), Err(ChoiceError::Mixed));
        assert!(matches!(choice.choose("hw:trace"), Err(ChoiceError::Invalid { .. })));
        assert_eq!(choice, FieldChoice::default());
        assert_eq!(choice.choose("trace"), Ok(()), "for those that can have it");
    }
}
