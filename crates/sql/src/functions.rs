//! Functions of a value: `hex`, `demangle`.

use datafusion::arrow::array::{ArrayRef, AsArray as _, StringArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarUDF, Volatility, create_udf};
use datafusion::prelude::SessionContext;
use readperf_symbols::Demangle;
use std::sync::Arc;

/// Makes the functions known.
pub(crate) fn register(context: &SessionContext) {
    functions().into_iter().for_each(|function| context.register_udf(function));
}

fn functions() -> [ScalarUDF; 2] {
    let text = DataType::Utf8;
    [
        create_udf("hex", vec![DataType::Int64], text.clone(), Volatility::Immutable, Arc::new(hex)),
        create_udf("demangle", vec![text.clone()], text, Volatility::Immutable, Arc::new(demangle)),
    ]
}

/// The bits of a number as `0x…`: addresses are numbers with a sign in the tables.
fn hex(arguments: &[ColumnarValue]) -> Result<ColumnarValue> {
    texts(arguments, &DataType::Int64, |column, row| {
        format!("{:#x}", column.as_primitive::<Int64Type>().value(row))
    })
}

/// A linkage name as it stands in the source; any other text as it is.
fn demangle(arguments: &[ColumnarValue]) -> Result<ColumnarValue> {
    texts(arguments, &DataType::Utf8, |column, row| {
        readperf_symbols::demangle(column.as_string::<i32>().value(row), Demangle::Full).into_owned()
    })
}

/// A text for each value that is not NULL.
fn texts(
    arguments: &[ColumnarValue],
    kind: &DataType,
    text: impl Fn(&ArrayRef, usize) -> String,
) -> Result<ColumnarValue> {
    let arrays = ColumnarValue::values_to_arrays(arguments)?;
    let columns = arrays.first().map(|column| cast(column, kind)).transpose()?;
    let column = columns.unwrap_or_else(|| Arc::new(StringArray::new_null(0)));
    let texts = (0..column.len()).map(|row| column.is_valid(row).then(|| text(&column, row)));
    Ok(ColumnarValue::Array(Arc::new(texts.collect::<StringArray>())))
}
