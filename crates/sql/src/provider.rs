//! A table over all sources: recordings are read, exported folders are listed, and what they have in common is there once.

use crate::engine::Asking;
use crate::folder::{Folder, partition_type};
use crate::once_exec::{OnceExec, RowKey};
use crate::pushdown::sample_filter;
use crate::recording_exec::{RecordingExec, bare};
use crate::source::Sources;
use async_trait::async_trait;
use datafusion::arrow::datatypes::{Field, FieldRef, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::internal_err;
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{Column, Literal};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::union::UnionExec;
use datafusion::scalar::ScalarValue;
use readperf_tables::Table;
use std::path::PathBuf;
use std::sync::Arc;

/// A table over all sources.
#[derive(Debug)]
pub(crate) struct RecordedTable {
    pub(crate) table: Table,
    pub(crate) sources: Arc<Sources>,
    folders: Arc<[Folder]>,
    schema: SchemaRef,
}

impl RecordedTable {
    /// The table; its columns, and then the partitions that any folder has.
    pub(crate) fn new(table: Table, sources: Arc<Sources>, folders: Arc<[Folder]>) -> Result<RecordedTable> {
        let mut fields: Vec<FieldRef> = bare(&table.schema()).fields().to_vec();
        for folder in folders.iter() {
            for name in folder.partitions(table)? {
                if fields.iter().all(|field| *field.name() != name) {
                    fields.push(Arc::new(Field::new(name, partition_type(), true)));
                }
            }
        }
        Ok(RecordedTable { table, sources, folders, schema: Arc::new(Schema::new(fields)) })
    }

    /// The scan of all recordings.
    fn recordings(
        &self,
        state: &dyn Session,
        wanted: &[usize],
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(asking) = state.config().get_extension::<Asking>() else {
            return internal_err!("recordings are asked outside of a query");
        };
        let reading = Arc::clone(&asking.0);
        let own = self.table.columns().len();
        let columns: Vec<usize> = wanted.iter().copied().filter(|nr| *nr < own).collect();
        let files = groups(&self.sources.recordings, state.config().target_partitions());
        // Numbers of samples are those of all samples.
        let is_numbered =
            self.table.column_index("sample_no").is_some_and(|number| columns.contains(&number));
        let conditions = if is_numbered { &[] } else { filters };
        let samples = sample_filter(self.table, conditions);
        Ok(Arc::new(RecordingExec::new(reading, self.table, columns, files, samples, limit)?))
    }

    /// The columns that are wanted, in their order, of a scan that has some of them by name. What it has not is NULL.
    fn aligned(&self, scan: Arc<dyn ExecutionPlan>, wanted: &[usize]) -> Result<Arc<dyn ExecutionPlan>> {
        let there = scan.schema();
        let mut columns: Vec<(Arc<dyn PhysicalExpr>, String)> = Vec::new();
        for field in wanted.iter().filter_map(|nr| self.schema.fields().get(*nr)) {
            let expression: Arc<dyn PhysicalExpr> = match there.index_of(field.name()) {
                Ok(nr) => Arc::new(Column::new(field.name(), nr)),
                Err(_) => Arc::new(Literal::new(ScalarValue::try_from(field.data_type())?)),
            };
            columns.push((expression, field.name().clone()));
        }
        let is_same = there.fields().len() == columns.len()
            && columns.iter().zip(there.fields()).all(|((_, name), field)| name == field.name());
        if is_same {
            return Ok(scan);
        }
        Ok(Arc::new(ProjectionExec::try_new(columns, scan)?))
    }

    /// Which columns say what a row is, if several sources can have the row; added to the columns that are wanted.
    fn key(&self, wanted: &mut Vec<usize>) -> Option<RowKey> {
        if !self.table.is_shared() || self.sources.len() < 2 && self.sources.folders.is_empty() {
            return None;
        }
        let mut at = |name: &str| {
            let column = self.table.column_index(name)?;
            let known = wanted.iter().position(|nr| *nr == column);
            Some(known.unwrap_or_else(|| {
                wanted.push(column);
                wanted.len().saturating_sub(1)
            }))
        };
        let id = self.table.columns().first().map(|column| column.name)?;
        Some(RowKey { id: at(id)?, part: at("level"), rest: at(&format!("{id}_lo")) })
    }
}

#[async_trait]
impl TableProvider for RecordedTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let asked = projection.cloned().unwrap_or_else(|| (0..self.schema.fields().len()).collect());
        let mut wanted = asked.clone();
        let key = self.key(&mut wanted);
        let limit = limit.filter(|_| key.is_none());
        let mut scans: Vec<Arc<dyn ExecutionPlan>> = Vec::new();
        if !self.sources.recordings.is_empty() {
            scans.push(self.aligned(self.recordings(state, &wanted, filters, limit)?, &wanted)?);
        }
        for folder in self.folders.iter() {
            let Some(listing) = folder.table(self.table, state).await? else { continue };
            let schema = listing.schema();
            let names = wanted.iter().filter_map(|nr| Some(self.schema.fields().get(*nr)?.name()));
            let columns: Vec<usize> = names.filter_map(|name| schema.index_of(name).ok()).collect();
            let knows = |filter: &&Expr| {
                filter.column_refs().iter().all(|column| schema.index_of(column.name()).is_ok())
            };
            let filters: Vec<Expr> = filters.iter().filter(knows).cloned().collect();
            // With a limit it would take the files that the disk happens to name first.
            let scan = listing.scan(state, Some(&columns), &filters, None).await?;
            scans.push(self.aligned(scan, &wanted)?);
        }
        if scans.is_empty() {
            return Ok(Arc::new(EmptyExec::new(Arc::new(self.schema.project(&asked)?))));
        }
        let scan = UnionExec::try_new(scans)?;
        match key {
            Some(key) => self.aligned(Arc::new(OnceExec::new(scan, key)), &asked),
            None => Ok(scan),
        }
    }
}

/// Files in as many groups as work at once, neighbours together.
fn groups(files: &[PathBuf], most: usize) -> Vec<Vec<PathBuf>> {
    let size = files.len().div_ceil(most.max(1)).max(1);
    files.chunks(size).map(<[PathBuf]>::to_vec).collect()
}
