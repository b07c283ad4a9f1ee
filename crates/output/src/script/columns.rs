//! The fields that the lines of each event of a recording have.

use super::fields::{self, Class, RECORDED, ScriptField, ScriptFields};
use super::places::Style;
use super::{Inlines, ScriptOptions, values};
use crate::buffer::Piece;
use crate::digits::right;
use perffile::wire::attr::{BranchSampleType, EventAttr, SampleType};
use perffile::wire::event_type::SoftwareEvent;
use perffile::{EventDescription, Schema};

/// What is shown of one event.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    pub(super) fields: ScriptFields,
    /// Whether its samples have call chains that are shown.
    pub(super) has_chain: bool,
    /// Whether an empty stack shows where the sample was taken: its places come from elsewhere than the recorded chain, and none was found.
    pub(super) has_stand_in: bool,
    /// Whether the name of the thread is padded: not where chains are asked for.
    pub(super) is_comm_padded: bool,
    /// Whether lines of the same thread, CPU and second begin with the same, but for the digits behind the second and the period, and places
    /// follow.
    pub(super) has_same_beginnings: bool,
    /// Whether lines have what few have: between the event and the places, or behind these.
    pub(super) has_rare: bool,
    /// How its places are shown: index in the list of styles. `None` where they are not.
    pub(super) style: Option<usize>,
    /// As `style`, of places in user mode that come from an unwound stack.
    pub(super) unwound_style: Option<usize>,
    /// As `style`, of callers that were looked up at their calls: where inlined functions are shown in all chains.
    pub(super) return_style: Option<usize>,
    /// Its name, as wide as that of any event, and what follows it.
    pub(super) name: Piece,
    /// Its id, if it is a tracepoint.
    pub(super) tracepoint: Option<u64>,
    /// Whether the data address of its samples is in the code or data of a binary.
    pub(super) is_fault: bool,
    pub(super) is_bpf_output: bool,
}

impl Columns {
    /// What stands before the places of a line.
    #[inline]
    pub(super) fn before_places(&self) -> &'static [u8] {
        match (self.style, self.has_chain) {
            (None, _) => b"",
            (Some(_), true) => b"\n",
            (Some(_), false) => b" ",
        }
    }
}

/// Their samples have the address that faulted.
const PAGE_FAULTS: [SoftwareEvent; 3] =
    [SoftwareEvent::PAGE_FAULTS, SoftwareEvent::MINOR_FAULTS, SoftwareEvent::MAJOR_FAULTS];

/// Names of events are padded up to this.
const WIDEST_NAME: usize = 200;

/// The columns of all events, and the styles that they need.
pub(super) fn columns(
    options: &ScriptOptions,
    schema: &Schema,
) -> Result<(Vec<Columns>, Vec<Style>), String> {
    let events = schema.events();
    let by_class = by_class(options, schema)?;
    let width = events.iter().map(|event| event.name.len()).max().unwrap_or(0).min(WIDEST_NAME);
    let mut styles = Vec::new();
    let columns = events.iter().map(|event| {
        let attr = &event.attr;
        let fields = by_class.get(Class::of(attr.kind).index()).copied().unwrap_or_default();
        let unwinds = attr.sample_type.has(SampleType::STACK_USER);
        let wants_chain = options.chains && has_chain(attr) && fields.has(ScriptField::Ip);
        // Of stacks that are unwound, not even the first place comes from a chain of no length.
        let has_chain = wants_chain && (options.max_stack > 0 || !unwinds);
        let mut style_of = |inlines: bool, returns: bool| {
            let style = Style {
                chain: has_chain,
                symbol: fields.has(ScriptField::Symbol),
                symbol_offset: fields.has(ScriptField::SymbolOffset),
                dso: fields.has(ScriptField::Dso),
                dso_offset: fields.has(ScriptField::DsoOffset),
                source_line: fields.has(ScriptField::SourceLine),
                full_path: options.full_source_path,
                inlines,
                returns,
            };
            styles.iter().position(|known| *known == style).unwrap_or_else(|| {
                styles.push(style);
                styles.len() - 1
            })
        };
        let shown = fields.has(ScriptField::Ip);
        let unwound = unwinds && options.inlines == Inlines::Unwound;
        let inlines = has_chain && options.inlines == Inlines::All;
        let style = shown.then(|| style_of(inlines, false));
        let unwound_style = shown.then(|| style_of(inlines || unwound && has_chain, false));
        let return_style = (shown && inlines).then(|| style_of(inlines, true));
        let software = attr.software();
        let is_bpf_output = software == Some(SoftwareEvent::BPF_OUTPUT);
        let has_rare = values::has_rare(fields) || is_bpf_output;
        Columns {
            fields,
            has_chain,
            has_stand_in: unwinds || attr.sample_type.has(SampleType::BRANCH_STACK),
            is_comm_padded: !wants_chain,
            has_same_beginnings: fields.has(ScriptField::Time)
                && !fields.has(ScriptField::Misc)
                && !fields.has(ScriptField::TimeOfDay)
                && !options.nanoseconds
                && !has_rare,
            has_rare,
            style,
            unwound_style,
            return_style,
            name: name(event, width),
            tracepoint: attr.tracepoint(),
            is_fault: software.is_some_and(|event| PAGE_FAULTS.contains(&event)),
            is_bpf_output,
        }
    });
    let columns = columns.collect();
    Ok((columns, styles))
}

fn name(event: &EventDescription, width: usize) -> Piece {
    let mut name = Vec::new();
    let shown = crate::text::shown(&event.name);
    right(&mut name, shown.as_bytes(), width);
    name.extend_from_slice(b": ");
    Piece::new(name)
}

/// Whether samples of an event have call chains, recorded or unwound.
pub(super) fn has_chain(attr: &EventAttr) -> bool {
    attr.sample_type.has(SampleType::CALLCHAIN)
}

/// The fields by kind of event. What decides is the first event of each kind, as in perf.
fn by_class(options: &ScriptOptions, schema: &Schema) -> Result<[ScriptFields; Class::COUNT], String> {
    let mut chosen = [ScriptFields::default(); Class::COUNT];
    let choice = &options.fields;
    let mut missing = ScriptFields::default();
    for event in schema.events().iter().rev() {
        let class = Class::of(event.attr.kind);
        let mut fields = choice.of(class);
        let tracepoints = || schema.events().iter().filter(|event| event.attr.tracepoint().is_some());
        if class == Class::TRACEPOINT
            && !choice.is_set(class)
            && options.chains
            && tracepoints().any(|event| has_chain(&event.attr))
        {
            fields = fields.or(ScriptFields::of(&[
                ScriptField::Ip,
                ScriptField::Symbol,
                ScriptField::SymbolOffset,
                ScriptField::Dso,
            ]));
        }
        if fields.has(ScriptField::SymbolOffset) && !fields.has(ScriptField::Symbol) {
            return Err("symoff is shown behind sym: add sym to the fields".to_owned());
        }
        if fields.has(ScriptField::SourceLine)
            && !fields.has(ScriptField::Ip)
            && choice.asked(class).has(ScriptField::SourceLine)
        {
            return Err("srcline is that of the address: add ip to the fields".to_owned());
        }
        for field in RECORDED.iter().filter(|field| !is_recorded(**field, &event.attr)) {
            if fields.has(*field) && choice.asked(class).has(*field) {
                missing.set(*field, true);
            }
            fields.set(*field, false);
        }
        if let Some(chosen) = chosen.get_mut(class.index()) {
            *chosen = fields;
        }
    }
    let any = |field| chosen.iter().any(|fields| fields.has(field));
    let mut events = schema.events().iter();
    if (any(ScriptField::BranchCode) || any(ScriptField::BranchCodeLengths))
        && !schema.events().is_empty()
        && !events.any(|event| event.attr.branch_sample_type.has(BranchSampleType::ANY))
    {
        return Err(
            "the code between branches is known only if all of them are recorded: record with -b".to_owned()
        );
    }
    let is_nowhere = |field: &&ScriptField| {
        missing.has(**field) && !schema.events().iter().any(|event| is_recorded(**field, &event.attr))
    };
    match RECORDED.iter().find(is_nowhere) {
        Some(field) => Err(format!(
            "no event of the recording has the field {}{}",
            fields::name(*field),
            how_to_record(*field)
        )),
        None => Ok(chosen),
    }
}

fn is_recorded(field: ScriptField, attr: &EventAttr) -> bool {
    fields::recorded_by(field).is_none_or(|wanted| attr.sample_type.0 & wanted.0 != 0)
}

fn how_to_record(field: ScriptField) -> &'static str {
    match field {
        ScriptField::Cpu => ": record with --sample-cpu or -a",
        ScriptField::Addr => ": record with --data",
        ScriptField::PhysAddr => ": record with --phys-data",
        ScriptField::Weight | ScriptField::InstructionLatency | ScriptField::RetireLatency => {
            ": record with --weight"
        }
        ScriptField::RegsIntr => ": record with --intr-regs",
        ScriptField::RegsUser => ": record with --user-regs",
        ScriptField::DataPageSize => ": record with --data-page-size",
        ScriptField::CodePageSize => ": record with --code-page-size",
        ScriptField::Cgroup => ": record with --all-cgroups",
        ScriptField::DataSrc => ": record with perf mem",
        _ => "",
    }
}
