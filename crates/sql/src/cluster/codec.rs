//! Plans as bytes. Scans of recordings and what makes their rows appear once are written here, all else by DataFusion and Ballista.

use super::Nobody;
use super::listed_exec::ListedExec;
use super::readings::Readings;
use crate::once_exec::{OnceExec, RowKey};
use crate::reading::Asked;
use crate::recording_exec::RecordingExec;
use crate::source::Opener;
use crate::store::Fetcher;
use ballista_core::serde::BallistaPhysicalExtensionCodec;
use datafusion::common::{internal_datafusion_err, internal_err};
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use prost::Message;
use readperf_profile::SampleFilter;
use readperf_tables::Table;
use std::any::Any;
use std::sync::Arc;

/// Writes and reads plans. What is read opens recordings by an [`Opener`].
#[derive(Debug)]
pub(super) struct Codec {
    ballista: BallistaPhysicalExtensionCodec,
    readings: Readings,
}

impl Codec {
    /// For a process that opens recordings, and fetches those that lie elsewhere.
    pub(super) fn new(opener: Arc<dyn Opener>, fetcher: Arc<Fetcher>) -> Codec {
        let readings = Readings::new(opener, fetcher);
        Codec { ballista: BallistaPhysicalExtensionCodec::default(), readings }
    }

    /// For a process that plans and opens nothing.
    pub(super) fn of_plans() -> Codec {
        Codec::new(Arc::new(Nobody), Arc::new(Fetcher::nowhere()))
    }
}

impl PhysicalExtensionCodec for Codec {
    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        bytes: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let any: &dyn Any = node.as_ref();
        let kind = if let Some(listed) = any.downcast_ref::<ListedExec>() {
            Kind::Scan(Box::new(ScanNode::of(&listed.scan)?))
        } else if let Some(once) = any.downcast_ref::<OnceExec>() {
            Kind::Once(OnceNode::of(once.key)?)
        } else {
            let mut inner = Vec::new();
            self.ballista.try_encode(node, &mut inner, converter)?;
            Kind::Ballista(inner)
        };
        Node { kind: Some(kind) }.encode(bytes).map_err(|error| internal_datafusion_err!("a plan: {error}"))
    }

    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let node = Node::decode(bytes).map_err(|error| internal_datafusion_err!("a plan: {error}"))?;
        match (node.kind, inputs) {
            (Some(Kind::Scan(scan)), [input]) => {
                Ok(Arc::new(ListedExec::new(scan.read(&self.readings)?, Arc::clone(input))))
            }
            (Some(Kind::Once(once)), [input]) => Ok(Arc::new(OnceExec::new(Arc::clone(input), once.key()?))),
            (Some(Kind::Ballista(inner)), _) => self.ballista.try_decode(&inner, inputs, context, converter),
            _ => internal_err!("a plan of another version of this program"),
        }
    }
}

#[derive(Clone, PartialEq, Message)]
struct Node {
    #[prost(oneof = "Kind", tags = "1, 2, 3")]
    kind: Option<Kind>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Kind {
    #[prost(message, boxed, tag = "1")]
    Scan(Box<ScanNode>),
    #[prost(message, tag = "2")]
    Once(OnceNode),
    #[prost(bytes, tag = "3")]
    Ballista(Vec<u8>),
}

/// A [`ListedExec`], with what all scans of its query ask for.
#[derive(Clone, PartialEq, Message)]
struct ScanNode {
    #[prost(message, required, tag = "1")]
    columns: ColumnsNode,
    #[prost(message, required, tag = "2")]
    samples: FilterNode,
    #[prost(uint64, optional, tag = "3")]
    limit: Option<u64>,
    #[prost(fixed64, tag = "4")]
    query: u64,
    #[prost(message, repeated, tag = "5")]
    all_columns: Vec<ColumnsNode>,
    #[prost(message, optional, tag = "6")]
    all_samples: Option<FilterNode>,
    #[prost(bool, tag = "7")]
    is_kept: bool,
}

#[derive(Clone, PartialEq, Message)]
struct ColumnsNode {
    #[prost(string, tag = "1")]
    table: String,
    #[prost(uint64, repeated, tag = "2")]
    columns: Vec<u64>,
}

#[derive(Clone, PartialEq, Message)]
struct FilterNode {
    #[prost(bytes = "vec", repeated, tag = "1")]
    comms: Vec<Vec<u8>>,
    #[prost(uint32, repeated, tag = "2")]
    pids: Vec<u32>,
    #[prost(uint32, repeated, tag = "3")]
    tids: Vec<u32>,
    #[prost(message, repeated, tag = "4")]
    cpus: Vec<RangeNode>,
    #[prost(message, repeated, tag = "5")]
    times_ns: Vec<RangeNode>,
    #[prost(string, repeated, tag = "6")]
    events: Vec<String>,
}

/// Both ends are in it.
#[derive(Clone, PartialEq, Message)]
struct RangeNode {
    #[prost(uint64, tag = "1")]
    start: u64,
    #[prost(uint64, tag = "2")]
    end: u64,
}

/// The key of a [`OnceExec`].
#[derive(Clone, PartialEq, Message)]
struct OnceNode {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint64, optional, tag = "2")]
    part: Option<u64>,
    #[prost(uint64, optional, tag = "3")]
    rest: Option<u64>,
}

impl ScanNode {
    fn of(scan: &RecordingExec) -> Result<ScanNode> {
        let asked = scan.reading().asked();
        let all = asked.scans.iter().map(|(table, columns)| ColumnsNode::of(*table, columns));
        Ok(ScanNode {
            columns: ColumnsNode::of(scan.table, &scan.columns)?,
            samples: FilterNode::of(&scan.samples),
            limit: scan.limit.map(wide).transpose()?,
            query: scan.reading().query(),
            all_columns: all.collect::<Result<_>>()?,
            all_samples: asked.samples.as_ref().map(FilterNode::of),
            is_kept: scan.reading().is_kept(),
        })
    }

    fn read(self, readings: &Readings) -> Result<RecordingExec> {
        let (table, columns) = self.columns.read()?;
        let scans = self.all_columns.into_iter().map(ColumnsNode::read).collect::<Result<_>>()?;
        let samples = self.all_samples.map(FilterNode::read).transpose()?;
        let reading = readings.of(self.query, Asked { scans, samples }, self.is_kept);
        let limit = self.limit.map(narrow).transpose()?;
        RecordingExec::planned(reading, table, columns, Vec::new(), self.samples.read()?, limit)
    }
}

impl ColumnsNode {
    fn of(table: Table, columns: &[usize]) -> Result<ColumnsNode> {
        let columns = columns.iter().map(|&column| wide(column)).collect::<Result<_>>()?;
        Ok(ColumnsNode { table: table.name().to_owned(), columns })
    }

    fn read(self) -> Result<(Table, Vec<usize>)> {
        let Some(table) = Table::by_name(&self.table) else {
            return internal_err!("a plan names the table {}, which is not here", self.table);
        };
        Ok((table, self.columns.into_iter().map(narrow).collect::<Result<_>>()?))
    }
}

impl FilterNode {
    fn of(filter: &SampleFilter) -> FilterNode {
        let SampleFilter { comms, pids, tids, cpus, times_ns, events } = filter;
        let cpus =
            cpus.iter().map(|cpus| RangeNode { start: (*cpus.start()).into(), end: (*cpus.end()).into() });
        let times = times_ns.iter().map(|times| RangeNode { start: *times.start(), end: *times.end() });
        FilterNode {
            comms: comms.iter().map(|comm| comm.to_vec()).collect(),
            pids: pids.clone(),
            tids: tids.clone(),
            cpus: cpus.collect(),
            times_ns: times.collect(),
            events: events.clone(),
        }
    }

    fn read(self) -> Result<SampleFilter> {
        let cpus = self.cpus.into_iter().map(|cpus| Ok(narrow(cpus.start)?..=narrow(cpus.end)?));
        Ok(SampleFilter {
            comms: self.comms.into_iter().map(Vec::into_boxed_slice).collect(),
            pids: self.pids,
            tids: self.tids,
            cpus: cpus.collect::<Result<_>>()?,
            times_ns: self.times_ns.into_iter().map(|times| times.start..=times.end).collect(),
            events: self.events,
        })
    }
}

impl OnceNode {
    fn of(RowKey { id, part, rest }: RowKey) -> Result<OnceNode> {
        Ok(OnceNode { id: wide(id)?, part: part.map(wide).transpose()?, rest: rest.map(wide).transpose()? })
    }

    fn key(&self) -> Result<RowKey> {
        Ok(RowKey {
            id: narrow(self.id)?,
            part: self.part.map(narrow).transpose()?,
            rest: self.rest.map(narrow).transpose()?,
        })
    }
}

fn wide(number: usize) -> Result<u64> {
    u64::try_from(number).map_err(|_| internal_datafusion_err!("{number} in a plan is too large"))
}

fn narrow<T: TryFrom<u64>>(number: u64) -> Result<T> {
    T::try_from(number).map_err(|_| internal_datafusion_err!("{number} in a plan is too large"))
}

#[cfg(test)]
mod tests {
    use super::super::listed_exec::listed;
    use super::*;
    use crate::reading::Reading;
    use ballista_scheduler::state::task_builder::restrict_plan_to_partitions;
    use datafusion::physical_plan::{ExecutionPlanProperties as _, displayable};
    use datafusion_proto::physical_plan::{AsExecutionPlan as _, DefaultPhysicalProtoConverter};
    use datafusion_proto::protobuf::PhysicalPlanNode;
    use std::path::PathBuf;

    /// A scan of two recordings, in two partitions.
    fn scan() -> Arc<dyn ExecutionPlan> {
        let reading = Arc::new(Reading::new(
            Arc::new(Nobody),
            Arc::new(Fetcher::nowhere()),
            Arc::default(),
            0,
            Arc::default(),
        ));
        let samples = SampleFilter {
            comms: vec![b"a b".to_vec().into()],
            pids: vec![1, 2],
            tids: vec![3],
            cpus: vec![4..=5],
            times_ns: vec![6..=u64::MAX],
            events: vec!["cycles:u".to_owned()],
        };
        let files = vec![vec![PathBuf::from("/one.data")], vec![PathBuf::from("/two.data")]];
        let scan =
            RecordingExec::new(reading, Table::Stacks, vec![0, 1, 2], files, samples, Some(7)).unwrap();
        let key = RowKey { id: 0, part: None, rest: Some(1) };
        listed(Arc::new(OnceExec::new(Arc::new(scan), key))).unwrap()
    }

    fn shown(plan: &Arc<dyn ExecutionPlan>) -> String {
        displayable(plan.as_ref()).indent(true).to_string()
    }

    #[test]
    fn plans_are_read_as_they_were_written() {
        let (codec, plan) = (Codec::of_plans(), scan());
        let node = PhysicalPlanNode::try_from_physical_plan(Arc::clone(&plan), &codec).unwrap();
        let read = node.try_into_physical_plan(&TaskContext::default(), &codec).unwrap();
        assert_eq!(shown(&read), shown(&plan));
        assert!(shown(&read).contains("limit=7"), "{}", shown(&read));
        let again = PhysicalPlanNode::try_from_physical_plan(read, &codec).unwrap();
        assert_eq!(again, node);
    }

    // Each task would count all recordings, else.
    #[test]
    fn a_task_gets_the_recordings_of_its_partitions_alone() {
        let plan = scan();
        assert_eq!(plan.output_partitioning().partition_count(), 2);
        let part = restrict_plan_to_partitions(plan, &[1]).unwrap();
        assert_eq!(part.output_partitioning().partition_count(), 1);
    }

    #[test]
    fn bytes_that_are_no_plan_are_an_error() {
        let codec = Codec::of_plans();
        let converter = DefaultPhysicalProtoConverter {};
        for bytes in [&b""[..], b"\xff", b"\x0a\x00", b"\x12\x00", b"\x1a\x01\xff"] {
            assert!(codec.try_decode(bytes, &[], &TaskContext::default(), &converter).is_err(), "{bytes:?}");
        }
    }
}
