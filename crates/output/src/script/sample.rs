//! One sample: its line, and the lines of its call chain.

use super::columns::Columns;
use super::digits::{decimal, decimal_zeros, hex, pad, right, signed};
use super::draft::Draft;
use super::fields::ScriptField;
use super::{Known, Script, Times, places, values};
use crate::calendar::date_time;
use perffile::Share;
use perffile::wire::attr::SampleType;
use perffile::wire::callchain::Marker;
use perffile::wire::misc;
use perffile::wire::sample::Sample;
use readperf_analysis::pass;
use readperf_profile::{AddressId, chain};
use readperf_session::CpuMode;
use std::io::Write as _;

const SECOND_NS: u64 = 1_000_000_000;

/// For each place of a sample's stack that was recorded as a return address, and looked up at the call, `true`.
pub(super) fn return_addresses(sample: &pass::Sample<'_, '_>) -> Vec<bool> {
    let event = sample.event.schema().event(sample.moment.event);
    event.map(|event| chain::return_addresses(sample.moment, &event.attr)).unwrap_or_default()
}

/// A sample and what of its line depends on the lines before: [`Script::follow`] makes it.
#[derive(Clone, Copy, Debug)]
pub struct NextLine<'s, 'e> {
    pub(super) sample: pass::Sample<'s, 'e>,
    /// The time to show, ns.
    time_ns: u64,
    /// How wide the source of data is at least.
    data_src_width: usize,
    /// The code that led to it, as an index.
    pub(super) branch_code: Option<usize>,
}

/// What lines depend on that were shown before them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Before {
    first_ns: Option<u64>,
    last_ns: Option<u64>,
    data_src_width: usize,
}

impl Before {
    /// The time to show for the next line, ns.
    pub(super) fn time(&mut self, times: Times, time_ns: u64) -> u64 {
        let last_ns = self.last_ns.replace(time_ns);
        match times {
            Times::Recorded => time_ns,
            Times::SinceFirst => time_ns.wrapping_sub(*self.first_ns.get_or_insert(time_ns)),
            Times::SinceLast => last_ns.map_or(0, |last_ns| time_ns.wrapping_sub(last_ns)),
        }
    }
}

/// Who and when: what stands before a line, of samples and of other records.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start<'s> {
    pub(super) comm: &'s [u8],
    pub(super) pid: u32,
    pub(super) tid: u32,
    pub(super) cpu: u32,
    pub(super) time_ns: u64,
    /// The time as it was recorded, if it was.
    pub(super) recorded_ns: Option<u64>,
    pub(super) misc: u16,
}

impl Script {
    /// Takes a sample as the next that is shown: some of what its line says depends on the lines before. `None` if it has no
    /// lines.
    pub fn follow<'s, 'e>(&mut self, sample: pass::Sample<'s, 'e>) -> Option<NextLine<'s, 'e>> {
        let columns = sample.shares.iter().filter_map(|share| self.columns(share.event));
        let data_src = columns.fold(None, |any: Option<bool>, columns| {
            Some(any.unwrap_or_default() || columns.fields.has(ScriptField::DataSrc))
        })?;
        if data_src {
            let source = sample.moment.sample.decode().ok().and_then(|(sample, _)| sample.data_src);
            self.before.data_src_width = self.before.data_src_width.max(values::data_src_width(source));
        }
        let time_ns = self.before.time(self.options.times, sample.moment.time_ns);
        let data_src_width = self.before.data_src_width;
        Some(NextLine { sample, time_ns, data_src_width, branch_code: None })
    }

    /// Appends the lines of a sample: for each event that it stands for one, with its call chain. There is one draft for all,
    /// or several: then the first one is for other records, and each event has its own behind it.
    pub fn write_sample(&self, drafts: &mut [Draft], known: &Known<'_>, line: &NextLine<'_, '_>) {
        let mut line = *line;
        let mut with_source = self.shows_source();
        let is_divided = drafts.len() > 1;
        for share in line.sample.shares {
            let draft = drafts.get_mut(if is_divided { 1 + share.event } else { 0 });
            if let (Some(columns), Some(draft)) = (self.columns(share.event), draft) {
                self.write_share(draft, known, &line, share, columns);
                if self.options.times == Times::SinceLast {
                    line.time_ns = 0;
                }
                if std::mem::take(&mut with_source) && columns.fields.has(ScriptField::SourceCode) {
                    let tid = line.sample.moment.sample.tid().unwrap_or(u32::MAX);
                    draft.mark_source(tid, line.sample.address);
                }
            }
        }
    }

    fn write_share(
        &self,
        draft: &mut Draft,
        known: &Known<'_>,
        line: &NextLine<'_, '_>,
        share: &Share,
        columns: &Columns,
    ) {
        let out = &mut draft.text;
        let fields = columns.fields;
        let moment = line.sample.moment;
        let recorded = moment.sample.layout().shape().sample_type;
        let (pid, tid) = match (moment.sample.pid(), moment.sample.tid()) {
            (Some(pid), Some(tid)) => (pid, tid),
            _ => (u32::MAX, u32::MAX),
        };
        let start = Start {
            comm: self.comm(moment.comm),
            pid,
            tid,
            cpu: moment.cpu.unwrap_or(u32::MAX),
            // Without a time perf has the greatest one.
            time_ns: if recorded.has(SampleType::TIME) { line.time_ns } else { u64::MAX },
            recorded_ns: recorded.has(SampleType::TIME).then_some(moment.time_ns),
            misc: moment.sample.misc(),
        };
        self.write_start(out, columns, &start, None);
        if fields.has(ScriptField::Period) {
            decimal(out, share.period, 10);
            out.push(b' ');
        }
        if fields.has(ScriptField::Event) {
            out.extend_from_slice(&columns.name);
        }
        if fields.has(ScriptField::Flags) {
            // Only decoded instructions have some; perf keeps their place.
            pad(out, 24);
        }
        let decoded = if values::needed(columns) { moment.sample.decode().ok() } else { None };
        let sample = decoded.map(|(sample, _)| sample).unwrap_or_default();
        self.write_before(out, known, line, &sample, columns);
        if let Some(style) = columns.style {
            self.mark_places(draft, known, line, columns, style);
        }
        let out = &mut draft.text;
        self.write_behind(out, known, line, &sample, columns);
        out.push(b'\n');
    }

    /// Thread, CPU, time. `kind` is the type of a record that is no sample.
    pub(super) fn write_start(
        &self,
        out: &mut Vec<u8>,
        columns: &Columns,
        start: &Start<'_>,
        kind: Option<u32>,
    ) {
        let fields = columns.fields;
        if fields.has(ScriptField::Comm) {
            right(out, start.comm, if columns.is_comm_padded { 16 } else { 0 });
            out.push(b' ');
        }
        let number = |out: &mut Vec<u8>, id: u32| signed(out, id.cast_signed().into(), 5);
        match (fields.has(ScriptField::Pid), fields.has(ScriptField::Tid)) {
            (true, true) => {
                number(out, start.pid);
                out.push(b'/');
                let before = out.len();
                signed(out, start.tid.cast_signed().into(), 0);
                pad(out, 5usize.saturating_sub(out.len() - before));
                out.push(b' ');
            }
            (true, false) => {
                number(out, start.pid);
                out.push(b' ');
            }
            (false, true) => {
                number(out, start.tid);
                out.push(b' ');
            }
            (false, false) => {}
        }
        if fields.has(ScriptField::Cpu) {
            out.push(b'[');
            if start.cpu == u32::MAX {
                out.extend_from_slice(b"-01");
            } else {
                decimal_zeros(out, start.cpu.into(), 3);
            }
            out.extend_from_slice(b"] ");
        }
        if fields.has(ScriptField::Misc) {
            write_misc(out, start.misc, kind);
        }
        if fields.has(ScriptField::TimeOfDay) {
            self.write_time_of_day(out, start.recorded_ns);
        }
        if fields.has(ScriptField::Time) {
            self.write_time(out, start.time_ns);
        }
    }

    fn write_time(&self, out: &mut Vec<u8>, time_ns: u64) {
        let (seconds, rest) = (time_ns / SECOND_NS, time_ns % SECOND_NS);
        decimal(out, seconds, 5);
        out.push(b'.');
        self.write_fraction(out, rest);
        out.extend_from_slice(b": ");
    }

    /// Date and time of day, in UTC; the space behind it alone if that is not known.
    fn write_time_of_day(&self, out: &mut Vec<u8>, recorded_ns: Option<u64>) {
        let wall_clock_ns = recorded_ns.and_then(|ns| self.clock?.wall_clock_of(ns));
        if let Some(ns) = wall_clock_ns {
            // To a `Vec` nothing fails.
            let _ = write!(out, "{}.", date_time(ns).strftime("%F %T"));
            self.write_fraction(out, ns % SECOND_NS);
        }
        out.push(b' ');
    }

    /// Digits behind the second.
    fn write_fraction(&self, out: &mut Vec<u8>, rest_ns: u64) {
        if self.options.nanoseconds {
            decimal_zeros(out, rest_ns, 9);
        } else {
            decimal_zeros(out, rest_ns / 1000, 6);
        }
    }

    /// What stands between the event and the address.
    fn write_before(
        &self,
        out: &mut Vec<u8>,
        known: &Known<'_>,
        line: &NextLine<'_, '_>,
        sample: &Sample<'_>,
        columns: &Columns,
    ) {
        let fields = columns.fields;
        if let (true, Some(id), Some(raw)) = (fields.has(ScriptField::Trace), columns.tracepoint, sample.raw)
        {
            let before = out.len();
            self.catalog.write_text(id, raw, &self.symbols, out);
            values::make_harmless(out, before);
        }
        if fields.has(ScriptField::Addr) {
            hex(out, sample.addr.unwrap_or_default(), 16);
            if let (true, Some(id)) = (columns.is_fault, line.sample.data) {
                write_place(out, known, id, columns);
            }
        }
        if fields.has(ScriptField::DataSrc) {
            values::write_data_src(out, sample.data_src, line.data_src_width);
        }
        values::write_weights(out, sample, fields);
        if fields.has(ScriptField::Cgroup) {
            out.push(b' ');
            out.extend_from_slice(self.cgroups.path(sample.cgroup.unwrap_or_default()));
        }
    }

    /// The address with its names, or the call chain.
    fn mark_places(
        &self,
        draft: &mut Draft,
        known: &Known<'_>,
        line: &NextLine<'_, '_>,
        columns: &Columns,
        style: usize,
    ) {
        if !columns.has_chain {
            draft.text.push(b' ');
            draft.mark(style, line.sample.address, true);
            return;
        }
        draft.text.push(b'\n');
        if line.sample.stack.len() == 1 && has_no_chain(line) {
            return;
        }
        let unwound = columns.unwound_style.filter(|unwound| *unwound != style);
        let returns = columns.return_style.map(|_| return_addresses(&line.sample)).unwrap_or_default();
        for (nr, id) in line.sample.stack.iter().take(self.options.max_stack).enumerate() {
            let returning = columns.return_style.filter(|_| returns.get(nr).is_some_and(|returns| *returns));
            // What ran in the kernel is never unwound.
            let of_place = returning.or(unwound.filter(|_| is_user(known, *id)));
            draft.mark(of_place.unwrap_or(style), *id, nr == 0);
        }
    }

    /// What stands behind the address.
    fn write_behind(
        &self,
        out: &mut Vec<u8>,
        known: &Known<'_>,
        line: &NextLine<'_, '_>,
        sample: &Sample<'_>,
        columns: &Columns,
    ) {
        let fields = columns.fields;
        for (field, registers) in
            [(ScriptField::RegsIntr, &sample.regs_intr), (ScriptField::RegsUser, &sample.regs_user)]
        {
            if let (true, Some(registers)) = (fields.has(field), registers) {
                values::write_registers(out, registers, self.machine);
            }
        }
        values::write_branches(out, known, &line.sample, sample, fields);
        if let (true, true, Some(raw)) =
            (columns.is_bpf_output, fields.has(ScriptField::BpfOutput), sample.raw)
        {
            values::write_bpf_output(out, raw);
        }
        if fields.has(ScriptField::Instruction) || fields.has(ScriptField::InstructionLength) {
            self.write_instruction(out, line.sample.address, fields);
        }
        let shows_code = fields.has(ScriptField::BranchCode) || fields.has(ScriptField::BranchCodeLengths);
        if let (true, Some(nr)) = (shows_code, line.branch_code) {
            out.extend_from_slice(self.branch_code.get(nr).map_or(&[], |text| text));
        }
        if fields.has(ScriptField::PhysAddr) {
            hex(out, sample.phys_addr.unwrap_or_default(), 16);
        }
        for (field, size) in [
            (ScriptField::DataPageSize, sample.data_page_size),
            (ScriptField::CodePageSize, sample.code_page_size),
        ] {
            if fields.has(field) {
                out.push(b' ');
                values::write_page_size(out, size.unwrap_or_default());
            }
        }
    }
}

/// The function and binary of a place, as the fields ask for it.
fn write_place(out: &mut Vec<u8>, known: &Known<'_>, id: AddressId, columns: &Columns) {
    let Some(code) = known.addresses.get(id) else { return };
    if columns.fields.has(ScriptField::Symbol) {
        out.push(b' ');
        let function = known.names.function_at(id).and_then(|function| known.names.function(function));
        let name = function.and_then(places::name_of);
        places::write_symbol(out, code, function, columns.fields.has(ScriptField::SymbolOffset), name);
    }
    if columns.fields.has(ScriptField::Dso) {
        let binary = code.binary.and_then(|binary| known.session.binary(binary));
        out.extend_from_slice(b" (");
        out.extend_from_slice(places::binary_name(binary).as_bytes());
        out.push(b')');
    }
}

/// Whether a chain holds no address: what stands in for it in the stack was not recorded there.
fn has_no_chain(line: &NextLine<'_, '_>) -> bool {
    let recorded = line.sample.moment.sample.layout().shape().sample_type;
    if recorded.has(SampleType::STACK_USER) || recorded.has(SampleType::BRANCH_STACK) {
        return false;
    }
    let chain = line.sample.moment.sample.callchain().unwrap_or_default();
    chain.iter().all(|entry| Marker::of(entry).is_some())
}

/// Mode of the CPU and, of records, what else `misc` says: a letter each, in six columns.
fn write_misc(out: &mut Vec<u8>, bits: u16, kind: Option<u32>) {
    use perffile::wire::record::kind as K;
    let before = out.len();
    // ABI: the modes are numbers, but perf takes them for bits.
    for (mode, letter) in [(1, b'K'), (2, b'U'), (3, b'H'), (4, b'G'), (5, b'g')] {
        if bits & mode == mode {
            out.push(letter);
        }
    }
    match kind {
        Some(K::MMAP | K::MMAP2) if bits & misc::MMAP_DATA != 0 => out.push(b'M'),
        Some(K::COMM) if bits & misc::COMM_EXEC != 0 => out.push(b'E'),
        Some(K::SWITCH | K::SWITCH_CPU_WIDE) if bits & misc::SWITCH_OUT != 0 => {
            out.push(b'S');
            if bits & misc::SWITCH_OUT_PREEMPT != 0 {
                out.push(b'p');
            }
        }
        _ => {}
    }
    pad(out, 6usize.saturating_sub(out.len() - before).max(1));
}

/// Whether a place ran in user mode.
fn is_user(known: &Known<'_>, id: AddressId) -> bool {
    known.addresses.get(id).is_some_and(|code| code.mode == CpuMode::User)
}
