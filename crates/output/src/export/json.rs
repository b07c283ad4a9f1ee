//! JSON as it goes: values are written one after the other, and nothing is held but a buffer.

use crate::buffer::Append as _;
use crate::digits;
use crate::json;
use std::borrow::Cow;
use std::io::{self, Write};

/// Bytes gathered before they are handed on.
const BUFFER: usize = 1 << 16;

/// A value that is neither array nor object: text, number, truth, or nothing. A file has millions of numbers.
pub(crate) trait Scalar {
    /// Appends it.
    fn append(&self, out: &mut Vec<u8>);
}

impl Scalar for u64 {
    #[inline]
    fn append(&self, out: &mut Vec<u8>) {
        digits::decimal(out, *self, 0);
    }
}

impl Scalar for i64 {
    #[inline]
    fn append(&self, out: &mut Vec<u8>) {
        digits::signed(out, *self, 0);
    }
}

/// Numbers as others that have room for all of them.
macro_rules! as_wider {
    ($( $number:ty: $wider:ty )*) => {
        $(
            impl Scalar for $number {
                #[inline]
                fn append(&self, out: &mut Vec<u8>) {
                    (*self as $wider).append(out);
                }
            }
        )*
    };
}

as_wider!(u32: u64 usize: u64 i32: i64);

impl Scalar for bool {
    #[inline]
    fn append(&self, out: &mut Vec<u8>) {
        let (text, len) = if *self { (b"true ", 4) } else { (b"false", 5) };
        out.chunk(text, len);
    }
}

impl Scalar for str {
    /// Escaped.
    fn append(&self, out: &mut Vec<u8>) {
        // A vector takes everything.
        let _ = json::write(out, self);
    }
}

impl Scalar for String {
    fn append(&self, out: &mut Vec<u8>) {
        self.as_str().append(out);
    }
}

impl Scalar for Cow<'_, str> {
    fn append(&self, out: &mut Vec<u8>) {
        (**self).append(out);
    }
}

impl<S: Scalar> Scalar for Option<S> {
    #[inline]
    fn append(&self, out: &mut Vec<u8>) {
        match self {
            Some(scalar) => scalar.append(out),
            None => out.chunk(b"null", 4),
        }
    }
}

impl<S: Scalar + ?Sized> Scalar for &S {
    #[inline]
    fn append(&self, out: &mut Vec<u8>) {
        (**self).append(out);
    }
}

/// Writes one JSON value. What goes wrong with the writer is told at the end.
pub(crate) struct JsonWriter<'w> {
    out: &'w mut dyn Write,
    buffer: Vec<u8>,
    comma: bool,
    result: io::Result<()>,
}

impl<'w> JsonWriter<'w> {
    /// A writer at the beginning of a document.
    pub(crate) fn new(out: &'w mut dyn Write) -> Self {
        JsonWriter { out, buffer: Vec::with_capacity(BUFFER + (BUFFER >> 2)), comma: false, result: Ok(()) }
    }

    /// A value that is neither array nor object. Texts are escaped.
    #[inline]
    pub(crate) fn value(&mut self, value: impl Scalar) {
        self.before();
        value.append(&mut self.buffer);
        self.after();
    }

    /// A time in ms, of ns: to the last ns.
    #[inline]
    pub(crate) fn milliseconds(&mut self, time_ns: u64) {
        self.decimal(time_ns / 1_000_000, time_ns % 1_000_000);
    }

    /// A time in µs, of ns: to the last ns.
    #[inline]
    pub(crate) fn microseconds(&mut self, time_ns: u64) {
        self.decimal(time_ns / 1000, time_ns % 1000 * 1000);
    }

    /// A number and fewer than a million millionths, without zeros at the end.
    #[inline]
    fn decimal(&mut self, whole: u64, millionths: u64) {
        self.before();
        whole.append(&mut self.buffer);
        if millionths > 0 {
            let text = digits::millionths(millionths, b'0');
            let zeros = (u64::from_le_bytes(text) ^ u64::from_le_bytes([b'0'; 8])).leading_zeros() / 8;
            self.buffer.chunk(&text, text.len() - zeros as usize);
        }
        self.after();
    }

    /// An array of what `fill` writes.
    pub(crate) fn array(&mut self, fill: impl FnOnce(&mut Self)) {
        self.nest(b'[', b']', fill);
    }

    /// An object of what `fill` writes: keys and values by turns.
    pub(crate) fn object(&mut self, fill: impl FnOnce(&mut Self)) {
        self.nest(b'{', b'}', fill);
    }

    /// A key; its value comes next.
    pub(crate) fn key(&mut self, key: &str) -> &mut Self {
        self.value(key);
        self.buffer.push(b':');
        self.comma = false;
        self
    }

    /// A key and its value.
    pub(crate) fn field(&mut self, key: &str, value: impl Scalar) {
        self.key(key).value(value);
    }

    /// A key and its array, a value an item.
    pub(crate) fn list<V: Scalar>(&mut self, key: &str, items: impl IntoIterator<Item = V>) {
        self.key(key).array(|json| items.into_iter().for_each(|item| json.value(item)));
    }

    /// A line break between values, for people who look at the file.
    pub(crate) fn line(&mut self) {
        if self.comma {
            self.buffer.push(b',');
            self.comma = false;
        }
        self.buffer.push(b'\n');
    }

    /// Hands on what is left, and says what went wrong.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.buffer.push(b'\n');
        self.flush();
        self.result
    }

    fn nest(&mut self, open: u8, close: u8, fill: impl FnOnce(&mut Self)) {
        self.before();
        self.buffer.push(open);
        self.comma = false;
        fill(self);
        self.buffer.push(close);
        self.after();
    }

    #[inline]
    fn before(&mut self) {
        if self.comma {
            self.buffer.push(b',');
        }
    }

    #[inline]
    fn after(&mut self) {
        self.comma = true;
        if self.buffer.len() >= BUFFER {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if self.result.is_ok() {
            self.result = self.out.write_all(&self.buffer);
        }
        self.buffer.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(fill: impl FnOnce(&mut JsonWriter<'_>)) -> String {
        let mut out = Vec::new();
        let mut json = JsonWriter::new(&mut out);
        fill(&mut json);
        json.finish().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_are_separated_and_texts_escaped() {
        let text = written(|json| {
            json.object(|json| {
                json.field("a\"", "\u{1}</script>\n");
                json.key("b").array(|json| {
                    json.value(1);
                    json.line();
                    json.array(|_| {});
                    json.value(None::<u32>);
                });
                json.list("c", [true, false]);
            });
        });
        assert_eq!(text, "{\"a\\\"\":\"\\u0001</script>\\n\",\"b\":[1,\n[],null],\"c\":[true,false]}\n");
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read["a\""], "\u{1}</script>\n");
    }

    #[test]
    fn times_keep_their_last_nanosecond() {
        let text = written(|json| {
            json.array(|json| {
                [0, 1, 1_000_000, 1_500_000, 12_000_345].into_iter().for_each(|time| json.milliseconds(time));
                [1, 2000, 2010].into_iter().for_each(|time| json.microseconds(time));
            });
        });
        assert_eq!(text, "[0,0.000001,1,1.5,12.000345,0.001,2,2.01]\n");
    }

    proptest! {
        #[test]
        fn scalars_are_what_serde_writes(
            all: Vec<(u64, i64, Option<u32>, bool)>, small: Vec<(u32, i32, usize)>,
        ) {
            let text = written(|json| json.array(|json| {
                for (a, b, c, d) in &all {
                    json.value(a);
                    json.value(*b);
                    json.value(*c);
                    json.value(*d);
                }
                for (a, b, c) in small.iter().copied() {
                    json.value(a);
                    json.value(b);
                    json.value(c);
                }
            }));
            let parts = [serde_json::to_string(&all).unwrap(), serde_json::to_string(&small).unwrap()];
            let flat = parts.map(|part| part.replace(['[', ']'], "")).join(",");
            prop_assert_eq!(text, format!("[{}]\n", flat.trim_matches(',')));
        }

        #[test]
        fn times_are_exact(time_ns in prop_oneof![any::<u64>(), 0..10_000_000_u64]) {
            let text = written(|json| json.array(|json| { json.milliseconds(time_ns); json.microseconds(time_ns); }));
            let exact = |divisor: u64, digits: usize| {
                let text = format!("{}.{:0digits$}", time_ns / divisor, time_ns % divisor);
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            };
            prop_assert_eq!(text, format!("[{},{}]\n", exact(1_000_000, 6), exact(1000, 3)));
        }
    }

    #[test]
    fn a_writer_that_fails_is_told() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut full = Full;
        let mut json = JsonWriter::new(&mut full);
        json.array(|json| (0..100_000).for_each(|nr| json.value(nr)));
        assert_eq!(json.finish().unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}
