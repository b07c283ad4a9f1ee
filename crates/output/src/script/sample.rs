//! One sample: its line, and the lines of its call chain.

use super::beginnings::Who;
use super::columns::Columns;
use super::draft::Draft;
use super::fields::ScriptField;
use super::start::When;
use super::{Known, Script, Times, places, values};
use crate::buffer::Append as _;
use crate::digits::hex;
use perffile::Share;
use perffile::wire::attr::SampleType;
use perffile::wire::sample::Sample;
use readperf_analysis::pass;
use readperf_profile::{AddressId, LocatedId, chain};
use readperf_session::{CpuMode, RawChain, RawEntry};

/// For each place of a sample's stack that was recorded as a return address, and looked up at the call, `true`.
pub(super) fn return_addresses(sample: &pass::Sample<'_, '_>) -> Vec<bool> {
    let event = sample.event.schema().event(sample.moment.event);
    event.map(|event| chain::return_addresses(sample.moment, &event.attr)).unwrap_or_default()
}

/// A sample and what of its line depends on the lines before: [`Script::follow`] makes it.
#[derive(Clone, Copy, Debug)]
pub struct NextLine<'l, 's, 'e> {
    pub(super) sample: &'l pass::Sample<'s, 'e>,
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
    #[inline]
    pub(super) fn time(&mut self, times: Times, time_ns: u64) -> u64 {
        let last_ns = self.last_ns.replace(time_ns);
        match times {
            Times::Recorded => time_ns,
            Times::SinceFirst => time_ns.wrapping_sub(*self.first_ns.get_or_insert(time_ns)),
            Times::SinceLast => last_ns.map_or(0, |last_ns| time_ns.wrapping_sub(last_ns)),
        }
    }
}

impl Script {
    /// Takes a sample as the next that is shown: some of what its line says depends on the lines before. `None` if it has no
    /// lines.
    #[inline(always)]
    pub fn follow<'l, 's, 'e>(&mut self, sample: &'l pass::Sample<'s, 'e>) -> Option<NextLine<'l, 's, 'e>> {
        let mut columns = sample.shares.iter().filter_map(|share| self.columns(share.event));
        let first = columns.next()?;
        let shows_source = |columns: &Columns| columns.fields.has(ScriptField::DataSrc);
        if self.shows_data_sources && (shows_source(first) || columns.any(shows_source)) {
            let source = sample.moment.sample.decode().ok().and_then(|(sample, _)| sample.data_src);
            self.before.data_src_width = self.before.data_src_width.max(values::data_src_width(source));
        }
        let time_ns = self.before.time(self.options.times, sample.moment.time_ns);
        let data_src_width = self.before.data_src_width;
        Some(NextLine { sample, time_ns, data_src_width, branch_code: None })
    }

    /// Appends the lines of a sample: for each event that it stands for one, with its call chain. There is one draft for all,
    /// or several: then the first one is for other records, and each event has its own behind it.
    #[inline(always)]
    pub fn write_sample(&self, drafts: &mut [Draft], known: &Known<'_>, line: &NextLine<'_, '_, '_>) {
        let mut time_ns = line.time_ns;
        let mut with_source = self.shows_source;
        let is_divided = drafts.len() > 1;
        for share in line.sample.shares {
            let draft = drafts.get_mut(if is_divided { 1 + share.event } else { 0 });
            if let (Some(columns), Some(draft)) = (self.columns(share.event), draft) {
                self.write_share(draft, known, (line, time_ns), share, columns);
                if self.options.times == Times::SinceLast {
                    time_ns = 0;
                }
                if std::mem::take(&mut with_source) && columns.fields.has(ScriptField::SourceCode) {
                    let tid = line.sample.moment.sample.tid().unwrap_or(u32::MAX);
                    draft.mark_source(tid, line.sample.address);
                }
            }
        }
    }

    #[inline(always)]
    fn write_share(
        &self,
        draft: &mut Draft,
        known: &Known<'_>,
        (line, time_ns): (&NextLine<'_, '_, '_>, u64),
        share: &Share,
        columns: &Columns,
    ) {
        let moment = line.sample.moment;
        let has_time = moment.sample.layout().shape().sample_type.has(SampleType::TIME);
        let (pid, tid) = match (moment.sample.pid(), moment.sample.tid()) {
            (Some(pid), Some(tid)) => (pid, tid),
            _ => (u32::MAX, u32::MAX),
        };
        let who = Who { pid, tid, cpu: moment.cpu.unwrap_or(u32::MAX) };
        let when = When {
            // Without a time perf has the greatest one.
            time_ns: if has_time { time_ns } else { u64::MAX },
            recorded_ns: has_time.then_some(moment.time_ns),
            misc: moment.sample.misc(),
            kind: None,
        };
        self.write_beginning(draft, (share, columns), (moment.comm, who), &when);
        match (columns.has_rare, line.sample.later) {
            (false, Some(sample)) => self.mark_later(draft, (sample, moment.ip), columns),
            _ => {
                // Copies: what nobody else points to stays in the processor's registers.
                let sample = *line.sample;
                let line = NextLine { sample: &sample, ..*line };
                match columns.has_rare {
                    true => self.write_with_rare(draft, known, &line, columns),
                    false => self.mark_places(draft, known, &line, columns),
                }
            }
        }
        draft.end_line();
    }

    /// The places, and what stands before and behind them.
    #[inline(never)]
    fn write_with_rare(
        &self,
        draft: &mut Draft,
        known: &Known<'_>,
        line: &NextLine<'_, '_, '_>,
        columns: &Columns,
    ) {
        let recorded = &line.sample.moment.sample;
        let decoded = if values::needed(columns) { recorded.decode().ok() } else { None };
        let sample = decoded.map(|(sample, _)| sample).unwrap_or_default();
        draft.text.append(|text| self.write_before(text, known, line, &sample, columns));
        draft.text.slice(columns.before_places());
        self.mark_places(draft, known, line, columns);
        draft.text.append(|text| self.write_behind(text, known, line, &sample, columns));
    }

    /// What stands between the event and the address.
    fn write_before(
        &self,
        out: &mut Vec<u8>,
        known: &Known<'_>,
        line: &NextLine<'_, '_, '_>,
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

    /// The address with its names, or the call chain, of a sample whose places come later.
    #[inline(always)]
    fn mark_later(&self, draft: &mut Draft, (sample, ip): (LocatedId, u64), columns: &Columns) {
        match columns.style {
            Some(style) if columns.has_chain => {
                draft.mark_stack(style, sample, columns.has_stand_in, self.options.max_stack);
            }
            Some(style) => draft.mark_taken_at(style, sample, ip),
            None => {}
        }
    }

    /// The address with its names, or the call chain.
    #[inline(never)]
    fn mark_places(
        &self,
        draft: &mut Draft,
        known: &Known<'_>,
        line: &NextLine<'_, '_, '_>,
        columns: &Columns,
    ) {
        if let Some(sample) = line.sample.later {
            return self.mark_later(draft, (sample, line.sample.moment.ip), columns);
        }
        let Some(style) = columns.style else { return };
        if !columns.has_chain {
            return draft.mark(style, &[line.sample.address], &[line.sample.moment.ip], true);
        }
        let stack = line.sample.stack;
        if stack.len() == 1 && !columns.has_stand_in && has_no_chain(line) {
            return;
        }
        let stack = stack.get(..self.options.max_stack).unwrap_or(stack);
        let unwound = columns.unwound_style.filter(|unwound| *unwound != style);
        if unwound.is_none() && columns.return_style.is_none() {
            return draft.mark(style, stack, line.sample.unmapped, true);
        }
        let returns = columns.return_style.map(|_| return_addresses(line.sample)).unwrap_or_default();
        for (nr, id) in stack.iter().enumerate() {
            let returning = columns.return_style.filter(|_| returns.get(nr).is_some_and(|returns| *returns));
            // What ran in the kernel is never unwound.
            let of_place = returning.or(unwound.filter(|_| is_user(known, *id)));
            draft.mark(of_place.unwrap_or(style), std::slice::from_ref(id), &[], nr == 0);
        }
    }

    /// What stands behind the address.
    fn write_behind(
        &self,
        out: &mut Vec<u8>,
        known: &Known<'_>,
        line: &NextLine<'_, '_, '_>,
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
        values::write_branches(out, known, line.sample, sample, fields);
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
        places::write_symbol(out, &code, function, columns.fields.has(ScriptField::SymbolOffset), name);
    }
    if columns.fields.has(ScriptField::Dso) {
        let binary = code.binary.and_then(|binary| known.session.binary(binary));
        out.extend_from_slice(b" (");
        out.extend_from_slice(places::binary_name(binary).as_bytes());
        out.push(b')');
    }
}

/// Whether a chain holds no address: the one place of its stack, where the sample was taken, stands in for it.
fn has_no_chain(line: &NextLine<'_, '_, '_>) -> bool {
    let moment = line.sample.moment;
    let chain = moment.sample.callchain().unwrap_or_default();
    RawChain::new(chain.iter(), moment.mode).all(|entry| matches!(entry, RawEntry::Marker(_)))
}

/// Whether a place ran in user mode.
fn is_user(known: &Known<'_>, id: AddressId) -> bool {
    known.addresses.get(id).is_some_and(|code| code.mode == CpuMode::User)
}
