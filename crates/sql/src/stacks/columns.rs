//! Columns of answers in the types that are worked with, whatever the files have.

use crate::error::{Error, Result};
use datafusion::arrow::array::{
    Array as _, ArrayRef, AsArray as _, BooleanArray, Int64Array, RecordBatch, StringArray,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int64Type};

/// The columns of some rows, taken from left to right.
pub(super) struct Columns<'r> {
    left: std::slice::Iter<'r, ArrayRef>,
}

impl Columns<'_> {
    pub(super) fn of(rows: &RecordBatch) -> Columns<'_> {
        Columns { left: rows.columns().iter() }
    }

    fn next(&mut self, kind: &DataType) -> Result<ArrayRef> {
        let column = self.left.next().ok_or_else(|| Error::said("an answer has too few columns"))?;
        Ok(cast(column, kind).map_err(datafusion::error::DataFusionError::from)?)
    }

    pub(super) fn numbers(&mut self) -> Result<Numeric> {
        Ok(Numeric(self.next(&DataType::Int64)?.as_primitive::<Int64Type>().clone()))
    }

    pub(super) fn texts(&mut self) -> Result<Texts> {
        Ok(Texts(self.next(&DataType::Utf8)?.as_string::<i32>().clone()))
    }

    pub(super) fn truths(&mut self) -> Result<BooleanArray> {
        Ok(self.next(&DataType::Boolean)?.as_boolean().clone())
    }

    /// Lists of numbers.
    pub(super) fn lists(&mut self) -> Result<Lists> {
        let kind = DataType::new_list(DataType::Int64, true);
        let lists = self.next(&kind)?;
        Ok(Lists(lists))
    }
}

pub(super) struct Numeric(Int64Array);

impl Numeric {
    pub(super) fn get(&self, row: usize) -> Option<i64> {
        (row < self.0.len() && self.0.is_valid(row)).then(|| self.0.value(row))
    }

    /// The bits of the number, 0 where there is none.
    pub(super) fn bits(&self, row: usize) -> u64 {
        self.get(row).unwrap_or_default().cast_unsigned()
    }
}

pub(super) struct Texts(StringArray);

impl Texts {
    pub(super) fn get(&self, row: usize) -> Option<&str> {
        (row < self.0.len() && self.0.is_valid(row)).then(|| self.0.value(row))
    }
}

pub(super) struct Lists(ArrayRef);

impl Lists {
    /// Appends the numbers of a list.
    pub(super) fn extend(&self, row: usize, into: &mut Vec<i64>) {
        let list = self.0.as_list::<i32>();
        if row < list.len() && list.is_valid(row) {
            into.extend(list.value(row).as_primitive::<Int64Type>().iter().flatten());
        }
    }
}
