//! Which fields a declaration has, and under which conditions: found by changing one thing after the other.

use super::outline::{Dimension, FIRST_COUNT, Field, Number, Outline, Setting};
use perffile::wire::WireError;
use perffile::wire::attr::{BranchSampleType, ReadFormat, SampleType};

/// A field, and when it is there; empty: always.
#[derive(Clone, Debug)]
pub(crate) struct Conditional {
    pub(crate) field: Field,
    pub(crate) when: String,
}

/// The pass over the declaration of a type.
pub(crate) type Declaration = for<'s> fn(&'s Setting) -> Result<Outline<'s>, WireError>;

/// A declaration to be outlined.
#[derive(Debug)]
pub(crate) struct Search<'d> {
    declaration: Declaration,
    values: &'d [u64],
}

/// What numbers are set to in search of forms: type and version words are small.
pub(crate) const SMALL: &[u64] = &[0, 1, 2, 3, 4, 8, 15, 16, 17, 18];
/// The published sizes of an attr, and one to come.
pub(crate) const ATTR_SIZES: &[u64] = &[64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 152];

impl<'d> Search<'d> {
    /// A search that sets numbers to these values.
    pub(crate) fn new(declaration: Declaration, values: &'d [u64]) -> Self {
        Search { declaration, values }
    }

    /// The fields under a setting; none if there is no such form.
    fn run(&self, setting: &Setting) -> Option<(Vec<Field>, Vec<Number>)> {
        let outline = (self.declaration)(setting).ok()?;
        Some((outline.fields, outline.numbers))
    }

    /// All fields, in the order in which they follow each other.
    pub(crate) fn fields(&self) -> Vec<Conditional> {
        let usual = Setting::new();
        let mut found: Vec<(Field, Setting)> = Vec::new();
        let mut queue = vec![usual.clone()];
        let mut next = 0;
        while let Some(setting) = queue.get(next).cloned() {
            next += 1;
            let Some((fields, numbers)) = self.run(&setting) else {
                assert!(setting != usual, "the usual form cannot be outlined");
                continue;
            };
            let is_new = merge(&mut found, &fields, &setting);
            if is_new {
                for (dimension, values) in self.dimensions(&numbers) {
                    queue.extend(values.iter().map(|value| with(&setting, &dimension, *value)));
                }
            }
        }
        let conditional = |(field, home): &(Field, Setting)| Conditional {
            field: field.clone(),
            when: self.condition(field, home),
        };
        found.iter().map(conditional).collect()
    }

    fn dimensions(&self, numbers: &[Number]) -> Vec<(Dimension, Vec<u64>)> {
        let bits = (12..16).map(Dimension::Misc);
        let bits = bits.chain((0..SampleType::NAMES.len()).map(Dimension::Sample));
        let bits = bits.chain((0..ReadFormat::NAMES.len()).map(Dimension::Read));
        let bits = bits.chain((0..BranchSampleType::NAMES.len()).map(Dimension::Branch));
        let bits = bits.chain([Dimension::Left, Dimension::Sixteens]);
        let numbers = numbers.iter().map(|number| {
            let values = if number.is_count { vec![0, FIRST_COUNT] } else { self.values.to_vec() };
            (Dimension::Number(number.path.clone()), values)
        });
        bits.map(|bit| (bit, vec![0, 1])).chain(numbers).collect()
    }

    /// What the presence of a field depends on, around the setting in which it was first seen.
    fn condition(&self, field: &Field, home: &Setting) -> String {
        let numbers = self.run(home).expect("the form it was seen in").1;
        let mut parts = Vec::new();
        for (dimension, values) in self.dimensions(&numbers) {
            let (mut with_it, mut without) = (Vec::new(), Vec::new());
            for value in values {
                match self.run(&with(home, &dimension, value)) {
                    Some((fields, _)) if fields.contains(field) => with_it.push(value),
                    Some(_) => without.push(value),
                    None => {}
                }
            }
            if !without.is_empty() && !with_it.is_empty() {
                parts.push(words(&dimension, &with_it, &without));
            }
        }
        parts.join(", ")
    }
}

fn with(setting: &Setting, dimension: &Dimension, value: u64) -> Setting {
    let mut setting = setting.clone();
    setting.insert(dimension.clone(), value);
    setting
}

/// Puts fields in that were not yet seen, each behind the one before it. Says whether there was any.
fn merge(found: &mut Vec<(Field, Setting)>, fields: &[Field], setting: &Setting) -> bool {
    let (mut at, mut is_new) = (0, false);
    for field in fields {
        match found.iter().position(|(known, _)| known == field) {
            Some(place) => at = place + 1,
            None => {
                found.insert(at, (field.clone(), setting.clone()));
                at += 1;
                is_new = true;
            }
        }
    }
    is_new
}

/// A condition in words: the values with which a field is there, and those without.
fn words(dimension: &Dimension, with_it: &[u64], without: &[u64]) -> String {
    let not = if with_it.contains(&1) { "" } else { "no " };
    match dimension {
        Dimension::Misc(bit) => format!("{not}`misc` bit {bit}"),
        Dimension::Sample(nr) => format!("{not}{}", SampleType::NAMES[*nr].1),
        Dimension::Read(nr) => format!("{not}{} in `read_format`", ReadFormat::NAMES[*nr].1),
        Dimension::Branch(nr) => format!("{not}{} in `branch_sample_type`", BranchSampleType::NAMES[*nr].1),
        Dimension::Left => format!("{not}bytes left"),
        Dimension::Sixteens => format!("size {}a multiple of 16", if not.is_empty() { "" } else { "not " }),
        Dimension::Number(path) => {
            let name = path.rsplit('.').next().unwrap_or(path);
            let least = with_it.iter().min().unwrap();
            match (with_it, without) {
                (_, [0]) => format!("`{name}` ≠ 0"),
                ([one], _) => format!("`{name}` = {one}"),
                _ if without.iter().all(|value| value < least) => format!("`{name}` ≥ {least}"),
                (_, [one]) => format!("`{name}` ≠ {one}"),
                _ => {
                    let values: Vec<String> = with_it.iter().map(u64::to_string).collect();
                    format!("`{name}` = {}", values.join(" or "))
                }
            }
        }
    }
}
