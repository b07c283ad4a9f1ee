//! Tables and scans as bytes, so that plans can go from one process to another. Every process opens recordings by itself.

use crate::folder::Folder;
use crate::functions;
use crate::once_exec::{OnceExec, RowKey};
use crate::provider::RecordedTable;
use crate::reading::Reading;
use crate::recording_exec::RecordingExec;
use crate::source::{Opener, Sources};
use ballista_core::serde::{BallistaLogicalExtensionCodec, BallistaPhysicalExtensionCodec};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::common::{DataFusionError, TableReference, internal_datafusion_err, internal_err};
use datafusion::datasource::file_format::FileFormatFactory;
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{Extension, LogicalPlan, ScalarUDF};
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use prost::Message;
use readperf_profile::SampleFilter;
use readperf_tables::Table;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the bytes of our own nodes begin with.
const MARK: &[u8] = b"readperf ";

/// A table over its sources.
#[derive(Clone, PartialEq, Message)]
struct TableMessage {
    #[prost(string, tag = "1")]
    table: String,
    #[prost(bytes = "vec", repeated, tag = "2")]
    recordings: Vec<Vec<u8>>,
    #[prost(bytes = "vec", repeated, tag = "3")]
    folders: Vec<Vec<u8>>,
}

/// The files of a partition.
#[derive(Clone, PartialEq, Message)]
struct FilesMessage {
    #[prost(bytes = "vec", repeated, tag = "1")]
    files: Vec<Vec<u8>>,
}

/// From one number to another, both included.
#[derive(Clone, PartialEq, Message)]
struct RangeMessage {
    #[prost(uint64, tag = "1")]
    first: u64,
    #[prost(uint64, tag = "2")]
    last: u64,
}

/// Which samples a query needs.
#[derive(Clone, PartialEq, Message)]
struct SamplesMessage {
    #[prost(uint32, repeated, tag = "1")]
    pids: Vec<u32>,
    #[prost(uint32, repeated, tag = "2")]
    tids: Vec<u32>,
    #[prost(uint32, repeated, tag = "3")]
    cpus: Vec<u32>,
    #[prost(message, repeated, tag = "4")]
    times_ns: Vec<RangeMessage>,
    #[prost(string, repeated, tag = "5")]
    events: Vec<String>,
}

/// A node of a plan.
#[derive(Clone, PartialEq, Message)]
struct NodeMessage {
    #[prost(oneof = "Node", tags = "1, 2")]
    node: Option<Node>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Node {
    #[prost(message, tag = "1")]
    Scan(ScanMessage),
    #[prost(message, tag = "2")]
    Once(OnceMessage),
}

/// A scan over recordings.
#[derive(Clone, PartialEq, Message)]
struct ScanMessage {
    #[prost(string, tag = "1")]
    table: String,
    #[prost(uint64, repeated, tag = "2")]
    columns: Vec<u64>,
    #[prost(message, repeated, tag = "3")]
    partitions: Vec<FilesMessage>,
    #[prost(message, optional, tag = "4")]
    samples: Option<SamplesMessage>,
    #[prost(uint64, optional, tag = "5")]
    limit: Option<u64>,
}

/// Rows once.
#[derive(Clone, PartialEq, Message)]
struct OnceMessage {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint64, optional, tag = "2")]
    part: Option<u64>,
    #[prost(uint64, optional, tag = "3")]
    rest: Option<u64>,
}

/// The codec, for logical and for physical plans.
#[derive(Debug)]
pub(super) struct Codec {
    opener: Arc<dyn Opener>,
    logical: BallistaLogicalExtensionCodec,
    physical: BallistaPhysicalExtensionCodec,
}

impl Codec {
    pub(super) fn new(opener: Arc<dyn Opener>) -> Codec {
        Codec { opener, logical: BallistaLogicalExtensionCodec::default(), physical: BallistaPhysicalExtensionCodec::default() }
    }

    fn scan(&self, scan: ScanMessage) -> Result<RecordingExec> {
        let files: Vec<Vec<PathBuf>> = scan.partitions.into_iter().map(|files| paths(files.files)).collect();
        let all: Vec<PathBuf> = files.iter().flatten().cloned().collect();
        let reading = Arc::new(Reading::new(Arc::clone(&self.opener), &all));
        let columns = scan.columns.into_iter().map(index).collect::<Result<_>>()?;
        let limit = scan.limit.map(index).transpose()?;
        let samples = scan.samples.map(samples).unwrap_or_default();
        RecordingExec::new(reading, table(&scan.table)?, columns, files, samples, limit)
    }
}

impl LogicalExtensionCodec for Codec {
    fn try_decode(&self, bytes: &[u8], inputs: &[LogicalPlan], context: &TaskContext) -> Result<Extension> {
        self.logical.try_decode(bytes, inputs, context)
    }

    fn try_encode(&self, node: &Extension, bytes: &mut Vec<u8>) -> Result<()> {
        self.logical.try_encode(node, bytes)
    }

    fn try_decode_table_provider(
        &self,
        bytes: &[u8],
        name: &TableReference,
        schema: SchemaRef,
        context: &TaskContext,
    ) -> Result<Arc<dyn TableProvider>> {
        let Some(bytes) = bytes.strip_prefix(MARK) else {
            return self.logical.try_decode_table_provider(bytes, name, schema, context);
        };
        let message = TableMessage::decode(bytes).map_err(wrong)?;
        let sources = Sources { recordings: paths(message.recordings), folders: paths(message.folders) };
        let folders = sources.folders.iter().map(|path| Folder::open(path)).collect::<Result<Arc<[_]>>>()?;
        let opener = Arc::clone(&self.opener);
        Ok(Arc::new(RecordedTable::new(table(&message.table)?, Arc::new(sources), folders, opener)?))
    }

    fn try_encode_table_provider(
        &self,
        name: &TableReference,
        provider: Arc<dyn TableProvider>,
        bytes: &mut Vec<u8>,
    ) -> Result<()> {
        let any: &dyn std::any::Any = provider.as_ref();
        let Some(recorded) = any.downcast_ref::<RecordedTable>() else {
            return self.logical.try_encode_table_provider(name, provider, bytes);
        };
        let message = TableMessage {
            table: recorded.table.name().to_owned(),
            recordings: raw(&recorded.sources.recordings),
            folders: raw(&recorded.sources.folders),
        };
        bytes.extend(MARK);
        message.encode(bytes).map_err(|error| internal_datafusion_err!("{error}"))
    }

    fn try_decode_file_format(&self, bytes: &[u8], context: &TaskContext) -> Result<Arc<dyn FileFormatFactory>> {
        self.logical.try_decode_file_format(bytes, context)
    }

    fn try_encode_file_format(&self, bytes: &mut Vec<u8>, format: Arc<dyn FileFormatFactory>) -> Result<()> {
        self.logical.try_encode_file_format(bytes, format)
    }

    fn try_decode_udf(&self, name: &str, bytes: &[u8]) -> Result<Arc<ScalarUDF>> {
        functions::by_name(name).map_or_else(|| self.logical.try_decode_udf(name, bytes), Ok)
    }
}

impl PhysicalExtensionCodec for Codec {
    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(bytes) = bytes.strip_prefix(MARK) else {
            return self.physical.try_decode(bytes, inputs, context, converter);
        };
        match (NodeMessage::decode(bytes).map_err(wrong)?.node, inputs) {
            (Some(Node::Scan(scan)), []) => Ok(Arc::new(self.scan(scan)?)),
            (Some(Node::Once(once)), [input]) => {
                let key = RowKey {
                    id: index(once.id)?,
                    part: once.part.map(index).transpose()?,
                    rest: once.rest.map(index).transpose()?,
                };
                Ok(Arc::new(OnceExec::new(Arc::clone(input), key)))
            }
            (node, inputs) => internal_err!("{node:?} with {} inputs", inputs.len()),
        }
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        bytes: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let any: &dyn std::any::Any = node.as_ref();
        let message = if let Some(scan) = any.downcast_ref::<RecordingExec>() {
            Node::Scan(ScanMessage {
                table: scan.table.name().to_owned(),
                columns: scan.columns.iter().map(|column| *column as u64).collect(),
                partitions: scan.files.iter().map(|files| FilesMessage { files: raw(files) }).collect(),
                samples: Some(samples_message(&scan.samples)?),
                limit: scan.limit.map(|limit| limit as u64),
            })
        } else if let Some(OnceExec { key: RowKey { id, part, rest }, .. }) = any.downcast_ref::<OnceExec>() {
            let number = |column: &usize| *column as u64;
            Node::Once(OnceMessage { id: number(id), part: part.as_ref().map(number), rest: rest.as_ref().map(number) })
        } else {
            return self.physical.try_encode(node, bytes, converter);
        };
        bytes.extend(MARK);
        NodeMessage { node: Some(message) }.encode(bytes).map_err(|error| internal_datafusion_err!("{error}"))
    }

    fn try_decode_udf(&self, name: &str, bytes: &[u8]) -> Result<Arc<ScalarUDF>> {
        functions::by_name(name).map_or_else(|| self.physical.try_decode_udf(name, bytes), Ok)
    }
}

fn wrong(error: prost::DecodeError) -> DataFusionError {
    internal_datafusion_err!("a part of a plan cannot be read: {error}")
}

fn table(name: &str) -> Result<Table> {
    Table::by_name(name).ok_or_else(|| internal_datafusion_err!("another version of readperf: there is no table {name}"))
}

fn index(number: u64) -> Result<usize> {
    usize::try_from(number).map_err(|error| internal_datafusion_err!("{error}"))
}

fn paths(raw: Vec<Vec<u8>>) -> Vec<PathBuf> {
    raw.into_iter().map(|path| PathBuf::from(OsString::from_vec(path))).collect()
}

/// Paths from the root, as the other process may be elsewhere.
fn raw(paths: &[PathBuf]) -> Vec<Vec<u8>> {
    let whole = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
    paths.iter().map(|path| Path::as_os_str(&whole(path)).as_bytes().to_vec()).collect()
}

fn samples(message: SamplesMessage) -> SampleFilter {
    SampleFilter {
        comms: Vec::new(),
        pids: message.pids,
        tids: message.tids,
        cpus: message.cpus.into_iter().map(|cpu| cpu..=cpu).collect(),
        times_ns: message.times_ns.into_iter().map(|time| time.first..=time.last).collect(),
        events: message.events,
    }
}

fn samples_message(samples: &SampleFilter) -> Result<SamplesMessage> {
    let SampleFilter { comms, pids, tids, cpus, times_ns, events } = samples;
    if !comms.is_empty() || cpus.iter().any(|range| range.start() != range.end()) {
        return internal_err!("no condition of a query gives such a filter");
    }
    Ok(SamplesMessage {
        pids: pids.clone(),
        tids: tids.clone(),
        cpus: cpus.iter().map(|range| *range.start()).collect(),
        times_ns: times_ns.iter().map(|time| RangeMessage { first: *time.start(), last: *time.end() }).collect(),
        events: events.clone(),
    })
}
