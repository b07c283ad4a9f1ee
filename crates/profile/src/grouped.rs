//! Numbers that people can read.

/// A number with its digits in groups of three.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let lead = digits.len() % 3;
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && at % 3 == lead {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// So many of something: `1 sample`, `12,345 samples`. The plural has an s.
pub fn counted(number: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(number), if number == 1 { "" } else { "s" })
}
