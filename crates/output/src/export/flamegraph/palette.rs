//! The colours of a flame graph, as rules of a style sheet: by kind of code or by name, and for differences; each for light
//! and for dark.

use crate::export::labels::Variant;
use readperf_profile::CodeKind;
use readperf_profile::view::flame_layout::BoxContent;
use std::fmt::Write as _;

/// What colours mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colors {
    /// The kind of code: program, kernel, generated, inlined.
    #[default]
    Kind,
    /// The function's name.
    Name,
}

/// How many colours names have.
pub(super) const NAME_COLORS: u32 = 16;
/// How many steps there are between less and more; the middle one is no change.
pub(super) const STEPS: u32 = 13;

/// A hue in degrees, saturation and lightness in percent.
type Hsl = (u32, u32, u32);

/// A sort of frames that has a colour of its own: what it is called, and its colour.
struct Sort {
    name: &'static str,
    color: Hsl,
}

/// By the number that [`FrameSort::number`] gives.
const SORTS: [Sort; 8] = [
    Sort { name: "all", color: (215, 16, 80) },
    Sort { name: "thread", color: (215, 20, 72) },
    Sort { name: "user", color: (17, 86, 68) },
    Sort { name: "inlined", color: (43, 88, 68) },
    Sort { name: "kernel", color: (204, 66, 70) },
    Sort { name: "JIT", color: (142, 46, 64) },
    Sort { name: "unmapped", color: (280, 8, 78) },
    Sort { name: "left out", color: (215, 12, 90) },
];

/// What decides the colour of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameSort {
    /// Everything.
    All,
    /// A thread, on which its stacks stand.
    Thread,
    /// A function, by the kind of its code, and whether it is inlined.
    Function(CodeKind, bool),
    /// Frames that are too small.
    LeftOut,
}

impl FrameSort {
    /// Its number: index of its colour.
    pub(super) fn number(self) -> u8 {
        match self {
            FrameSort::All => 0,
            FrameSort::Thread => 1,
            FrameSort::Function(CodeKind::User, false) => 2,
            FrameSort::Function(CodeKind::User, true) => 3,
            FrameSort::Function(CodeKind::Kernel, _) => 4,
            FrameSort::Function(CodeKind::Jit, _) => 5,
            FrameSort::Function(CodeKind::Unknown, _) => 6,
            FrameSort::LeftOut => 7,
        }
    }

    /// That of a frame that exports have numbered.
    pub(super) fn of(what: BoxContent, variant: Option<&Variant>) -> FrameSort {
        match variant {
            None if what == BoxContent::All => FrameSort::All,
            None => FrameSort::LeftOut,
            Some(Variant { kind: None, .. }) => FrameSort::Thread,
            Some(Variant { kind: Some(kind), inlined, .. }) => FrameSort::Function(*kind, *inlined),
        }
    }
}

/// The names of the sorts, by number.
pub(super) fn sort_names() -> impl Iterator<Item = &'static str> {
    SORTS.iter().map(|sort| sort.name)
}

/// A number for a name, the same on every machine (FNV-1a).
pub(super) fn hash(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// The number of the colour of a name.
pub(super) fn name_color(name: &str) -> u32 {
    let hash = hash(name);
    (hash ^ (hash >> 15)) % NAME_COLORS
}

/// The rules for all frames.
pub(super) fn rules() -> String {
    let mut light = String::new();
    let mut dark = String::new();
    let mut rule = |class: &str, color: Hsl| {
        // Writing to a string does not fail.
        let _ = writeln!(light, ".{class}{{fill:{}}}", hex(color));
        let _ = writeln!(dark, ".{class}{{fill:{}}}", hex(darker(color)));
    };
    for (nr, sort) in SORTS.iter().enumerate() {
        for shade in 0..4 {
            let (hue, saturation, lightness) = sort.color;
            let color = (hue + 3 * shade, saturation, lightness + 2 * shade - 3);
            rule(&format!("k{nr}{shade}"), color);
        }
    }
    for nr in 0..NAME_COLORS {
        // From red through orange to yellow, as flames are; neighbours differ in lightness, too.
        rule(&format!("n{nr}"), (nr * 7 % NAME_COLORS * 52 / NAME_COLORS, 84, 62 + nr % 4 * 3));
    }
    let middle = STEPS / 2;
    for step in 0..STEPS {
        let far = step.abs_diff(middle);
        let hue = if step < middle { 211 } else { 6 };
        let saturation = if far == 0 { 8 } else { 55 + far * 30 / middle };
        rule(&format!("d{step}"), (hue, saturation, 90 - far * 32 / middle));
    }
    format!("{light}@media (prefers-color-scheme:dark){{\n{dark}}}\n")
}

/// A colour that is dark enough for light text on it.
fn darker((hue, saturation, lightness): Hsl) -> Hsl {
    (hue, saturation * 3 / 5, 30 + (90 - lightness.min(90)) / 2)
}

/// As the style sheet has it: hexadecimal, which every program that draws SVG reads.
fn hex((hue, saturation, lightness): Hsl) -> String {
    // CSS Color 4, section 7.1, in thousandths.
    let (saturation, lightness) = (i64::from(saturation) * 10, i64::from(lightness.min(100)) * 10);
    let spread = saturation * lightness.min(1000 - lightness) / 1000;
    let channel = |offset: i64| {
        let position = (offset * 1000 + i64::from(hue % 360) * 1000 / 30) % 12_000;
        let slope = (position - 3000).min(9000 - position).clamp(-1000, 1000);
        (lightness - spread * slope / 1000).clamp(0, 1000) * 255 / 1000
    };
    format!("#{:02x}{:02x}{:02x}", channel(0), channel(8), channel(4))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of a browser.
    #[test]
    fn colours_are_those_of_css() {
        let near = |color: Hsl, expected: [i64; 3]| {
            let text = hex(color);
            for (nr, expected) in expected.iter().enumerate() {
                let channel = i64::from_str_radix(&text[1 + 2 * nr..3 + 2 * nr], 16).unwrap();
                assert!((channel - expected).abs() <= 1, "{color:?}: {text}, not {expected}");
            }
        };
        near((0, 100, 50), [255, 0, 0]);
        near((120, 100, 25), [0, 128, 0]);
        near((210, 50, 40), [51, 102, 153]);
        near((45, 80, 70), [240, 209, 117]);
    }

    #[test]
    fn every_class_has_a_rule_for_light_and_for_dark() {
        let rules = rules();
        for class in ["k00", "k73", "n0", "n15", "d0", "d12"] {
            assert_eq!(rules.matches(&format!(".{class}{{")).count(), 2, "{class}");
        }
    }
}
