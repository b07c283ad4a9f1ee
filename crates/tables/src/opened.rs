//! From a recording to its tables.

use crate::batches::Batches;
use crate::error::{Error, Result};
use crate::id::Id;
use crate::made::{Made, MapRow};
use crate::needs::Needs;
use crate::options::Options;
use crate::schema::Table;
use crate::source::Source;
use perffile::wire::attr::SampleType;
use perffile::wire::record::Record;
use perffile::{Issues, Metadata, Recording};
use readperf_analysis::{Analysis, Chunk, Entry, PassOptions, Request, analyse_detailed};
use readperf_profile::{DetailField, DetailOptions, Keep, Times};
use readperf_session::Moment;
use readperf_symbols::Options as SymbolOptions;
use std::path::Path;
use std::sync::Arc;

/// The tables of a recording. It has been read; rows are made when they are asked for. A copy is cheap, and shares all of it.
#[derive(Clone, Debug)]
pub struct Tables {
    made: Arc<Made>,
}

impl Tables {
    /// Reads the recording at a path: a file or a directory.
    ///
    /// # Errors
    /// What cannot be read at all. Damage is no error: see [`Tables::issues`].
    pub fn open(path: &Path, options: &Options) -> Result<Tables> {
        let source = Source::at(path)?;
        let recording = Recording::open_with(path, options.limits.clone())?;
        Tables::of(&recording, source, options)
    }

    /// Reads a recording that has been opened.
    ///
    /// # Errors
    /// A stream that has been read already.
    pub fn of(recording: &Recording, source: Source, options: &Options) -> Result<Tables> {
        Tables::watched(recording, source, options, |_| ())
    }

    /// The same; `each` sees the records on the way.
    ///
    /// # Errors
    /// As [`Tables::of`].
    pub fn watched(
        recording: &Recording,
        source: Source,
        options: &Options,
        mut each: impl FnMut(&Chunk<'_>),
    ) -> Result<Tables> {
        let needs = options.needs();
        let mut maps = Vec::new();
        let details = details(needs, recording.metadata());
        let request = request(needs, options);
        let mut analysis = analyse_detailed(recording, &request, &details, |_, chunk| {
            if needs.has(Needs::MAPPINGS) {
                maps.extend(chunk.entries().iter().filter_map(map_row));
            }
            each(chunk);
            perffile::Result::Ok(())
        })?;
        let Analysis { profile, session, .. } = &mut analysis;
        profile.choose(&options.selection, session);
        let made = Made::new(needs, source, options.labels.clone(), analysis, maps);
        Ok(Tables { made: Arc::new(made) })
    }

    /// The id of the recording: that of its content.
    pub fn profile_id(&self) -> Id {
        self.made.source.profile_id
    }

    /// What was wrong with the recording. If it is [damaged](Issues::damaged), the tables are those of its sound part.
    pub fn issues(&self) -> &Issues {
        &self.made.analysis.issues
    }

    /// The day of the first sample, UTC, if the recording tells how its clock stands to the time of day.
    pub fn date(&self) -> Option<jiff::civil::Date> {
        let (first, _) = self.made.profile().times_ns()?;
        crate::clock::day_of(self.made.moment_us(first)?)
    }

    /// What came of the analysis besides rows.
    pub fn analysis(&self) -> &Analysis {
        &self.made.analysis
    }

    /// How many rows a table has.
    pub fn row_count(&self, table: Table) -> usize {
        table.definition().len(&self.made)
    }

    /// The rows of a table, at most `batch_rows` at a time: of these columns, by number and in this order, or of all.
    ///
    /// # Errors
    /// A column that there is not, or that was not among what was [wanted](Options::wanted).
    pub fn batches(&self, table: Table, columns: Option<&[usize]>, batch_rows: usize) -> Result<Batches> {
        let all = table.columns();
        let columns: Vec<usize> = columns.map_or_else(|| (0..all.len()).collect(), <[usize]>::to_vec);
        for number in &columns {
            let column = all.get(*number).ok_or(Error::NoColumn { table, number: *number })?;
            if !self.made.needs.has(table.definition().needs(Some(&[*number]))) {
                return Err(Error::NotMade { table, column: column.name });
            }
        }
        let schema = Arc::new(table.schema().project(&columns)?);
        let rows = 0..self.row_count(table);
        Ok(Batches { table, made: Arc::clone(&self.made), columns, schema, rows, batch_rows })
    }
}

impl Options {
    /// What has to be made. Choosing by names needs names; patterns and transforms look at stacks.
    fn needs(&self) -> Needs {
        let by_names = if self.selection.names.is_open() && self.selection.transforms.is_empty() {
            Needs::NOTHING
        } else {
            Needs::STACKS
        };
        self.wanted.needs() | by_names
    }
}

/// Which fields are kept of samples: those that are wanted and that some event records.
fn details(needs: Needs, metadata: &Metadata) -> DetailOptions {
    let is_recorded = |field: &DetailField| {
        let Some(bits) = recorded_by(*field) else { return true };
        // The events of a pipe are told on the way.
        let events = metadata.schema.events();
        events.is_empty()
            || events.iter().any(|event| bits.iter().any(|bit| event.attr.sample_type.has(*bit)))
    };
    DetailOptions { fields: needs.details().filter(is_recorded).collect(), ..DetailOptions::default() }
}

/// What an event has to record so that its samples have a field.
fn recorded_by(field: DetailField) -> Option<&'static [SampleType]> {
    Some(match field {
        DetailField::DataAddress => &[SampleType::ADDR],
        DetailField::PhysicalAddress => &[SampleType::PHYS_ADDR],
        DetailField::Weight | DetailField::InstructionLatency | DetailField::StageCycles => {
            &[SampleType::WEIGHT, SampleType::WEIGHT_STRUCT]
        }
        DetailField::DataSource => &[SampleType::DATA_SRC],
        DetailField::Transaction => &[SampleType::TRANSACTION],
        DetailField::Cgroup => &[SampleType::CGROUP],
        DetailField::DataPageSize => &[SampleType::DATA_PAGE_SIZE],
        DetailField::CodePageSize => &[SampleType::CODE_PAGE_SIZE],
        DetailField::Raw => &[SampleType::RAW],
        _ => return None,
    })
}

fn request(needs: Needs, options: &Options) -> Request {
    let frames = needs.has(Needs::FRAMES);
    let stacks = needs.has(Needs::STACKS);
    let samples = needs.has(Needs::SAMPLES);
    let symbols = SymbolOptions {
        lines: frames,
        inlines: frames && !options.no_inlines,
        source_files: false,
        ..options.symbols.clone()
    };
    Request {
        symbols,
        pass: PassOptions {
            stacks,
            filter: options.samples.clone(),
            unwind: stacks.then(|| options.symbols.clone()),
            ..options.pass.clone()
        },
        keep: Keep { stacks, threads: samples, cpus: samples, times: Times::each(samples) },
        statistics: needs.has(Needs::COUNTERS),
        marks: needs.has(Needs::SWITCHES),
        linked_addresses: false,
        without_names: !needs.has(Needs::NAMES),
        most_places: None,
    }
}

/// The mapping that a record tells.
fn map_row(entry: &Entry<'_>) -> Option<MapRow> {
    let Moment::Map(map) = &entry.moment else { return None };
    let offset = match entry.event.record().ok()? {
        (Record::Mmap(record), _) => Some(record.pgoff),
        (Record::Mmap2(record), _) => Some(record.pgoff),
        _ => None,
    };
    Some(MapRow {
        process: map.process,
        binary: map.binary?,
        start: map.start,
        end: map.end,
        offset: offset.filter(|_| map.process.is_some()),
        time_ns: map.time_ns,
    })
}
