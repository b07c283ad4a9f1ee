//! A column's declaration: name, meaning, unit, and how a row's value is found. Its type follows from the last.

use crate::made::Made;
use crate::needs::Needs;
use crate::schema::{Column, ColumnType, Table};
use crate::words::Words;
use arrow_array::builder::{
    BooleanBuilder, ListBuilder, MapBuilder, MapFieldNames, PrimitiveBuilder, StringBuilder,
};
use arrow_array::types::{ArrowPrimitiveType, Float64Type, Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{ArrayRef, DictionaryArray, RecordBatch, RecordBatchOptions, StringArray};
use arrow_schema::ArrowError;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// How the value of a row is found. `None` is NULL.
pub(crate) enum Value<R> {
    Int64(fn(&Made, &R) -> Option<i64>),
    Int32(fn(&Made, &R) -> Option<i32>),
    Float64(fn(&Made, &R) -> Option<f64>),
    Boolean(fn(&Made, &R) -> Option<bool>),
    Timestamp(fn(&Made, &R) -> Option<i64>),
    Text(for<'m> fn(&'m Made, &'m R) -> Option<Cow<'m, str>>),
    /// Text by its number in a list that all batches share.
    Word(fn(&Made) -> &Words, fn(&Made, &R) -> Option<usize>),
    Int64List(fn(&Made, &R, &mut Vec<i64>)),
    TextList(fn(&Made, &R) -> Vec<String>),
    TextMap(for<'m> fn(&'m Made, &'m R) -> &'m [(String, String)]),
}

/// A column of a table whose rows are `R`.
pub(crate) struct Field<R> {
    column: Column,
    needs: Needs,
    value: Value<R>,
}

impl<R> Field<R> {
    /// A column that every row has a value of.
    pub(crate) const fn new(name: &'static str, meaning: &'static str, value: Value<R>) -> Field<R> {
        let data = match &value {
            Value::Int64(_) => ColumnType::Int64,
            Value::Int32(_) => ColumnType::Int32,
            Value::Float64(_) => ColumnType::Float64,
            Value::Boolean(_) => ColumnType::Boolean,
            Value::Timestamp(_) => ColumnType::Timestamp,
            Value::Text(_) => ColumnType::Text,
            Value::Word(..) => ColumnType::Word,
            Value::Int64List(_) => ColumnType::Int64List,
            Value::TextList(_) => ColumnType::TextList,
            Value::TextMap(_) => ColumnType::TextMap,
        };
        let column = Column { name, data, optional: false, unit: None, meaning };
        Field { column, needs: Needs::NOTHING, value }
    }

    /// The same, but rows can be without a value.
    pub(crate) const fn optional(mut self) -> Field<R> {
        self.column.optional = true;
        self
    }

    /// The same, in this unit.
    pub(crate) const fn unit(mut self, unit: &'static str) -> Field<R> {
        self.column.unit = Some(unit);
        self
    }

    /// The same, which needs more than its table.
    pub(crate) const fn needs(mut self, needs: Needs) -> Field<R> {
        self.needs = needs;
        self
    }

    fn array(&self, made: &Made, rows: &[R]) -> Result<ArrayRef, ArrowError> {
        Ok(match &self.value {
            Value::Int64(value) => numbers::<Int64Type, R>(rows, |row| value(made, row)),
            Value::Int32(value) => numbers::<Int32Type, R>(rows, |row| value(made, row)),
            Value::Float64(value) => numbers::<Float64Type, R>(rows, |row| value(made, row)),
            Value::Timestamp(value) => {
                let mut builder = PrimitiveBuilder::<TimestampMicrosecondType>::with_capacity(rows.len())
                    .with_timezone("UTC");
                rows.iter().for_each(|row| builder.append_option(value(made, row)));
                Arc::new(builder.finish())
            }
            Value::Boolean(value) => {
                let mut builder = BooleanBuilder::with_capacity(rows.len());
                rows.iter().for_each(|row| builder.append_option(value(made, row)));
                Arc::new(builder.finish())
            }
            Value::Text(value) => Arc::new(rows.iter().map(|row| value(made, row)).collect::<StringArray>()),
            Value::Word(words, number) => {
                let words = words(made);
                let keys = rows.iter().map(|row| words.key(number(made, row)?)).collect();
                Arc::new(DictionaryArray::<Int32Type>::try_new(keys, words.values())?)
            }
            Value::Int64List(value) => {
                let mut builder = ListBuilder::new(PrimitiveBuilder::<Int64Type>::new());
                let mut list = Vec::new();
                for row in rows {
                    list.clear();
                    value(made, row, &mut list);
                    builder.values().append_slice(&list);
                    builder.append(true);
                }
                Arc::new(builder.finish())
            }
            Value::TextList(value) => {
                let mut builder = ListBuilder::new(StringBuilder::new());
                for row in rows {
                    value(made, row).iter().for_each(|text| builder.values().append_value(text));
                    builder.append(true);
                }
                Arc::new(builder.finish())
            }
            Value::TextMap(value) => {
                let names =
                    MapFieldNames { entry: "entries".into(), key: "key".into(), value: "value".into() };
                let mut builder = MapBuilder::new(Some(names), StringBuilder::new(), StringBuilder::new());
                for row in rows {
                    for (key, text) in value(made, row) {
                        builder.keys().append_value(key);
                        builder.values().append_value(text);
                    }
                    builder.append(true)?;
                }
                Arc::new(builder.finish())
            }
        })
    }
}

fn numbers<T: ArrowPrimitiveType, R>(rows: &[R], value: impl Fn(&R) -> Option<T::Native>) -> ArrayRef {
    let mut builder = PrimitiveBuilder::<T>::with_capacity(rows.len());
    rows.iter().for_each(|row| builder.append_option(value(row)));
    Arc::new(builder.finish())
}

/// A table: what a row of it is, and its columns.
pub(crate) struct Definition<R: 'static> {
    /// What one row is.
    pub(crate) meaning: &'static str,
    /// What has to be made so that its rows are known.
    pub(crate) needs: Needs,
    /// How many rows there are.
    pub(crate) len: fn(&Made) -> usize,
    /// Some of the rows.
    pub(crate) rows: fn(&Made, Range<usize>) -> Vec<R>,
    /// Its columns.
    pub(crate) fields: &'static [Field<R>],
}

/// A table, whatever its rows are.
pub(crate) trait AnyTable: Sync {
    fn meaning(&self) -> &'static str;
    fn columns(&self) -> Vec<Column>;
    /// What has to be made for some of the columns, or for all.
    fn needs(&self, columns: Option<&[usize]>) -> Needs;
    fn len(&self, made: &Made) -> usize;
    /// Some of the columns of some of the rows.
    fn batch(
        &self,
        table: Table,
        made: &Made,
        columns: &[usize],
        rows: Range<usize>,
    ) -> Result<RecordBatch, ArrowError>;
}

impl<R> AnyTable for Definition<R> {
    fn meaning(&self) -> &'static str {
        self.meaning
    }

    fn columns(&self) -> Vec<Column> {
        self.fields.iter().map(|field| field.column).collect()
    }

    fn needs(&self, columns: Option<&[usize]>) -> Needs {
        let is_wanted = |nr: usize| columns.is_none_or(|columns| columns.contains(&nr));
        let wanted = self.fields.iter().enumerate().filter(|(nr, _)| is_wanted(*nr));
        wanted.fold(self.needs, |needs, (_, field)| needs | field.needs)
    }

    fn len(&self, made: &Made) -> usize {
        (self.len)(made)
    }

    fn batch(
        &self,
        table: Table,
        made: &Made,
        columns: &[usize],
        rows: Range<usize>,
    ) -> Result<RecordBatch, ArrowError> {
        let rows = (self.rows)(made, rows);
        let fields = columns.iter().filter_map(|nr| self.fields.get(*nr));
        let arrays = fields.map(|field| field.array(made, &rows)).collect::<Result<_, _>>()?;
        let schema = Arc::new(table.schema().project(columns)?);
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        RecordBatch::try_new_with_options(schema, arrays, &options)
    }
}
