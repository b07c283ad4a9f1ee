//! One JSON object a line: samples with their frames resolved.

use super::places::{behind_call, recorded_name};
use super::sample::return_addresses;
use super::{Known, NextLine, Script};
use crate::dump::payload::Payload;
use crate::dump::with_fields;
use crate::json::{self, address};
use crate::text::decoded;
use perffile::wire::attr::SampleType;
use perffile::{Schema, Share};
use readperf_profile::AddressId;
use serde_json::{Map, Value};
use std::io::{self, Write};

impl Script {
    /// Appends a sample as JSON: for each event that it stands for one line.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write_json(
        &self,
        out: &mut impl Write,
        known: &Known<'_>,
        schema: &Schema,
        line: &NextLine<'_, '_, '_>,
    ) -> io::Result<()> {
        for share in line.sample.shares {
            if self.columns(share.event).is_some() {
                json::write(&mut *out, &self.object(known, schema, line, share))?;
                out.write_all(b"\n")?;
            }
        }
        Ok(())
    }

    fn object(
        &self,
        known: &Known<'_>,
        schema: &Schema,
        line: &NextLine<'_, '_, '_>,
        share: &Share,
    ) -> Map<String, Value> {
        let moment = line.sample.moment;
        let recorded = moment.sample.layout().shape().sample_type;
        let mut object = Map::new();
        let mut put = |name: &str, value: Value| {
            object.insert(name.to_owned(), value);
        };
        put("comm", decoded(known.session.comm(moment.comm)).into());
        if let (Some(pid), Some(tid)) = (moment.sample.pid(), moment.sample.tid()) {
            put("pid", pid.into());
            put("tid", tid.into());
        }
        if let Some(cpu) = moment.cpu {
            put("cpu", cpu.into());
        }
        if recorded.has(SampleType::TIME) {
            put("time", moment.time_ns.into());
        }
        let event = schema.event(share.event);
        put("event", event.map_or("", |event| event.name.as_str()).into());
        put("period", share.period.into());
        if let Some(ip) = moment.sample.ip() {
            put("ip", address(ip));
            let shown = usize::max(self.options.max_stack, 1);
            let returns = return_addresses(line.sample).into_iter().chain(std::iter::repeat(false));
            let stack = line.sample.stack.iter().zip(returns).take(shown);
            put("frames", stack.flat_map(|(id, returns)| frames(known, *id, returns)).collect());
        }
        let columns = self.columns(share.event);
        let raw = columns
            .and_then(|columns| columns.tracepoint)
            .and_then(|id| Some((id, moment.sample.decode().ok()?.0.raw?)));
        if let Some(payload) = raw.and_then(|(id, raw)| Payload::new(&self.catalog, id, raw, &self.symbols)) {
            put("text", payload.text.as_str().into());
            put("fields", payload.fields().into());
        }
        let mut object = with_fields(object, line.sample.event, self.machine);
        // The frames are the chain with names, and the payload has been told by its fields.
        object.shift_remove("callchain");
        object.shift_remove("callchain_words");
        if object.contains_key("fields") {
            object.shift_remove("raw");
        }
        object
    }
}

/// The levels of the code at a place, the innermost first. `returns` says that the place is a call, whose return address was
/// recorded.
fn frames(known: &Known<'_>, id: AddressId, returns: bool) -> Vec<Value> {
    let Some(code) = known.addresses.get(id) else { return Vec::new() };
    let code = if returns { behind_call(&code) } else { code };
    let binary = code.binary.and_then(|binary| known.session.binary(binary));
    let real = known.names.function_at(id).and_then(|function| known.names.function(function));
    let levels = known.names.frames_at(id);
    let last = levels.len().saturating_sub(1);
    let frame = |(nr, level): (usize, readperf_profile::Frame)| {
        let mut object = Map::new();
        object.insert("ip".into(), address(code.ip));
        let name = known.names.function(level.function).and_then(|function| function.name());
        object.insert("symbol".into(), name.map_or(Value::Null, Into::into));
        if let (Some(_), Some(start)) = (name, real.filter(|real| real.has_name())) {
            object.insert("offset".into(), code.address.wrapping_sub(start.address).into());
        }
        object
            .insert("dso".into(), binary.map_or(Value::Null, |binary| decoded(recorded_name(binary)).into()));
        if let Some(file) = level.file.and_then(|file| known.names.file(file)) {
            object.insert("file".into(), file.into());
            object.insert("line".into(), level.line.into());
        }
        if nr < last {
            object.insert("inlined".into(), true.into());
        }
        Value::Object(object)
    };
    levels.enumerate().map(frame).collect()
}
