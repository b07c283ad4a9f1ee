//! Perfetto: a protobuf trace for ui.perfetto.dev and trace_processor. Samples with their stacks, a sequence of packets an
//! event; processes and threads with their states; tracepoints.
//!
//! A sample there does not tell its period, but how far its event has counted on its CPU: the difference to the sample before
//! on the same CPU is the period. Perfetto makes a counter of each CPU out of that. Times are those of the recording's clock.

mod message;
mod samples;
mod timebase;
mod tracks;

use crate::export::images::Images;
use crate::export::protobuf::FieldWriter;
use crate::export::{Export, Flag, Format, Needs, Writing};
use message::{Clock, ClockSnapshot, TracePacket};
use perffile::wire::clock::ClockId;
use std::io::{self, Write};

/// The format.
pub const FORMAT: Format = Format {
    name: "perfetto",
    extensions: &["perfetto-trace", "pftrace"],
    help: "Perfetto trace (ui.perfetto.dev): samples with stacks, counters, states of threads",
    binary: true,
    needs: Needs { threads: true, cpus: true, times: true, lines: true, marks: true, ..Needs::PLACES },
    one_event: false,
    pictures_time: true,
    no_place_for: &[Flag::Annotate, Flag::Title, Flag::Drawing],
    difference: None,
    write: Writing::Profile(write),
};

/// `BUILTIN_CLOCK_REALTIME` of Perfetto.
const TIME_OF_DAY: u32 = 1;

type Packets<'o> = FieldWriter<&'o mut dyn Write>;

/// Writes it.
///
/// # Errors
/// What the writer says.
pub fn write(export: &Export<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut packets = FieldWriter::new(out);
    write_clocks(export, &mut packets)?;
    tracks::write(export, &mut packets)?;
    let images = Images::of(export);
    // Sequence 1 is that of the tracks.
    for (event, sequence) in export.shown_events().into_iter().zip(2u32..) {
        samples::write(export, &images, event, sequence, &mut packets)?;
    }
    Ok(())
}

fn write_packet(packets: &mut Packets<'_>, packet: &TracePacket) -> io::Result<()> {
    packets.message(message::PACKET, packet)
}

/// The clock of the recording in Perfetto's numbers (`BuiltinClock`); recordings that do not tell it count as boot time, which
/// is what Perfetto itself goes by.
fn clock(export: &Export<'_>) -> u32 {
    match export.metadata.features.clock_data().map(|clock| clock.clockid) {
        Some(ClockId::REALTIME) => TIME_OF_DAY,
        Some(ClockId::MONOTONIC) => 3,
        Some(ClockId::MONOTONIC_RAW) => 5,
        _ => 6,
    }
}

/// Tells which clock the trace goes by, and what time of day that is.
fn write_clocks(export: &Export<'_>, packets: &mut Packets<'_>) -> io::Result<()> {
    let first = export.profile.times_ns().map_or(0, |(first, _)| first);
    let primary = clock(export);
    let mut clocks = vec![Clock { id: primary, time_ns: first }];
    if primary != TIME_OF_DAY
        && let Some(time_ns) = export.time_of_day(first)
    {
        clocks.push(Clock { id: TIME_OF_DAY, time_ns });
    }
    let clock_snapshot = Some(ClockSnapshot { clocks, primary });
    write_packet(packets, &TracePacket { clock_snapshot, sequence: 1, ..TracePacket::default() })
}
