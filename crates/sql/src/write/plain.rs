//! Columns whose values are lists or structs, as text: CSV and tables have one cell for them.

use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use std::sync::Arc;

/// How values are said.
pub(super) fn options() -> FormatOptions<'static> {
    FormatOptions::new().with_display_error(false)
}

/// The columns, those with nested values as text.
pub(super) fn flat_schema(schema: &Schema) -> SchemaRef {
    let field = |field: &Arc<Field>| match field.data_type() {
        kind if is_nested(kind) => Field::new(field.name(), DataType::Utf8, true),
        _ => field.as_ref().clone(),
    };
    Arc::new(Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>()))
}

/// The rows under such columns.
pub(super) fn flat(schema: &SchemaRef, rows: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let columns = rows
        .columns()
        .iter()
        .map(|column| if is_nested(column.data_type()) { as_text(column) } else { Ok(Arc::clone(column)) });
    RecordBatch::try_new(Arc::clone(schema), columns.collect::<Result<_, _>>()?)
}

fn is_nested(kind: &DataType) -> bool {
    kind.is_nested()
        || matches!(kind, DataType::Binary | DataType::LargeBinary | DataType::FixedSizeBinary(_))
}

fn as_text(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let options = options();
    let formatter = ArrayFormatter::try_new(column.as_ref(), &options)?;
    let cell = |row| column.is_valid(row).then(|| formatter.value(row).try_to_string()).transpose();
    let cells: StringArray =
        (0..column.len()).map(cell).collect::<Result<Vec<_>, _>>()?.into_iter().collect();
    Ok(Arc::new(cells))
}
