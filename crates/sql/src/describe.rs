//! `SHOW TABLES` and `DESCRIBE`: what there is, with units and meaning.

use crate::views::VIEWS;
use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray};
use datafusion::arrow::datatypes::DataType;
use datafusion::error::Result;
use datafusion::prelude::SessionContext;
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::Statement as Sql;
use readperf_tables::Table;
use std::sync::Arc;

/// The answer to such a statement.
pub(crate) async fn answer(context: &SessionContext, statement: &Statement) -> Result<Option<RecordBatch>> {
    let Statement::Statement(statement) = statement else { return Ok(None) };
    match statement.as_ref() {
        Sql::ShowTables { .. } => Ok(Some(tables(context)?)),
        Sql::ExplainTable { table_name, .. } => {
            let name = table_name.to_string();
            let name = name.trim_matches('"');
            Ok(Some(columns(context, name).await?))
        }
        _ => Ok(None),
    }
}

/// The names of all tables and views, sorted.
pub(crate) fn names(context: &SessionContext) -> Vec<String> {
    let state = context.state();
    let settings = &state.config_options().catalog;
    let catalog = context.catalog(&settings.default_catalog);
    let schema = catalog.and_then(|catalog| catalog.schema(&settings.default_schema));
    let mut names = schema.map(|schema| schema.table_names()).unwrap_or_default();
    names.sort();
    names
}

/// Whether a table or view is one of those that there are from the start.
pub(crate) fn is_ours(name: &str) -> bool {
    Table::by_name(name).is_some() || VIEWS.iter().any(|view| view.name == name)
}

fn tables(context: &SessionContext) -> Result<RecordBatch> {
    let told = Table::ALL.iter().map(|table| (table.name().to_owned(), "table", table.meaning().to_owned()));
    let mut rows: Vec<(String, &str, String)> = told.collect();
    rows.extend(VIEWS.iter().map(|view| (view.name.to_owned(), "view", view.meaning())));
    let own = names(context).into_iter().filter(|name| !is_ours(name));
    rows.extend(own.map(|name| (name, "yours", String::new())));
    let column = |text: fn(&(String, &str, String)) -> String| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(rows.iter().map(text)))
    };
    Ok(RecordBatch::try_from_iter([
        ("table", column(|row| row.0.clone())),
        ("kind", column(|row| row.1.to_owned())),
        ("meaning", column(|row| row.2.clone())),
    ])?)
}

/// A column as it is told.
struct Told {
    name: String,
    kind: String,
    unit: Option<String>,
    meaning: Option<String>,
}

async fn columns(context: &SessionContext, table: &str) -> Result<RecordBatch> {
    let schema = context.table_provider(table).await?.schema();
    let known = Table::by_name(table);
    let view = VIEWS.iter().find(|view| view.name == table).map(|view| view.columns());
    let told = schema.fields().iter().map(|field| {
        let column =
            known.and_then(|known| known.columns().iter().find(|column| column.name == field.name()));
        let told = view.iter().flatten().find(|(name, ..)| name == field.name());
        let unit = column.and_then(|column| column.unit).or(told.and_then(|(_, unit, _)| *unit));
        let meaning = column.map(|column| column.meaning).or(told.map(|(_, _, meaning)| meaning.as_str()));
        Told {
            name: field.name().clone(),
            kind: column.map_or_else(|| type_name(field.data_type()), |column| column.data.sql().to_owned()),
            unit: unit.map(str::to_owned),
            meaning: meaning.map(str::to_owned),
        }
    });
    let told: Vec<Told> = told.collect();
    let column = |text: fn(&Told) -> Option<&str>| -> ArrayRef {
        Arc::new(told.iter().map(text).collect::<StringArray>())
    };
    Ok(RecordBatch::try_from_iter_with_nullable([
        ("column", column(|told| Some(&told.name)), false),
        ("type", column(|told| Some(&told.kind)), false),
        ("unit", column(|told| told.unit.as_deref()), true),
        ("meaning", column(|told| told.meaning.as_deref()), true),
    ])?)
}

/// A type in words of SQL, as the tables have them.
fn type_name(kind: &DataType) -> String {
    match kind {
        DataType::Int64 | DataType::UInt64 => "BIGINT".to_owned(),
        DataType::Int32 | DataType::UInt32 => "INT".to_owned(),
        DataType::Float64 => "DOUBLE".to_owned(),
        DataType::Boolean => "BOOLEAN".to_owned(),
        DataType::Utf8 | DataType::Utf8View | DataType::LargeUtf8 => "TEXT".to_owned(),
        DataType::Dictionary(_, value) => type_name(value),
        DataType::Timestamp(..) => "TIMESTAMP".to_owned(),
        DataType::List(item) => format!("{}[]", type_name(item.data_type())),
        other => other.to_string(),
    }
}
