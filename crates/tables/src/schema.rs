//! Which tables there are, and of which columns.

use crate::field::AnyTable;
use crate::tables;
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef, TimeUnit};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

/// Version of the schema. It grows when a column goes or changes its meaning; new columns and tables do not change it.
pub const SCHEMA_VERSION: u32 = 1;

/// Declares the tables: name, module with the definition, meaning.
macro_rules! tables {
    ($( $(#[$meta:meta])* $variant:ident $module:ident, )*) => {
        /// A table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Table { $( $(#[$meta])* $variant, )* }

        impl Table {
            /// Every table, in the order of the reference.
            pub const ALL: &[Table] = &[$( Table::$variant, )*];

            /// Its name in SQL and the name of its folder.
            pub fn name(self) -> &'static str {
                match self { $( Table::$variant => stringify!($module), )* }
            }

            pub(crate) fn definition(self) -> &'static dyn AnyTable {
                match self { $( Table::$variant => &tables::$module::TABLE, )* }
            }
        }
    };
}

tables! {
    /// The recordings.
    Profiles profiles,
    /// The events of each recording.
    Events events,
    /// The samples.
    Samples samples,
    /// The stacks of samples.
    Stacks stacks,
    /// The places in code.
    Frames frames,
    /// The functions and lines at each place, inlined functions too.
    FrameLevels frame_levels,
    /// The functions.
    Symbols symbols,
    /// The files and other things that have code.
    Binaries binaries,
    /// What was mapped.
    Mappings mappings,
    /// The threads.
    Threads threads,
    /// The context switches.
    Switches switches,
    /// Values of counters.
    Counters counters,
    /// The fields of tracepoints.
    TraceFields trace_fields,
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// 64-bit number. What is unsigned where it was recorded, as addresses and ids are, has its bits here.
    Int64,
    /// 32-bit number.
    Int32,
    /// Floating point.
    Float64,
    /// True or false.
    Boolean,
    /// Text.
    Text,
    /// Text of which many rows have the same: in a dictionary.
    Word,
    /// A moment, in microseconds since 1970, UTC.
    Timestamp,
    /// Numbers.
    Int64List,
    /// Texts.
    TextList,
    /// Texts by name.
    TextMap,
}

impl ColumnType {
    /// The type in Arrow.
    pub fn arrow(self) -> DataType {
        let list = |item| DataType::List(Arc::new(Field::new("item", item, true)));
        match self {
            ColumnType::Int64 => DataType::Int64,
            ColumnType::Int32 => DataType::Int32,
            ColumnType::Float64 => DataType::Float64,
            ColumnType::Boolean => DataType::Boolean,
            ColumnType::Text => DataType::Utf8,
            ColumnType::Word => DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
            ColumnType::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            ColumnType::Int64List => list(DataType::Int64),
            ColumnType::TextList => list(DataType::Utf8),
            ColumnType::TextMap => {
                let entry = Fields::from(vec![
                    Field::new("key", DataType::Utf8, false),
                    Field::new("value", DataType::Utf8, true),
                ]);
                DataType::Map(Arc::new(Field::new("entries", DataType::Struct(entry), false)), false)
            }
        }
    }

    /// The type in words of SQL.
    pub fn sql(self) -> &'static str {
        match self {
            ColumnType::Int64 => "BIGINT",
            ColumnType::Int32 => "INT",
            ColumnType::Float64 => "DOUBLE",
            ColumnType::Boolean => "BOOLEAN",
            ColumnType::Text | ColumnType::Word => "TEXT",
            ColumnType::Timestamp => "TIMESTAMP",
            ColumnType::Int64List => "BIGINT[]",
            ColumnType::TextList => "TEXT[]",
            ColumnType::TextMap => "MAP(TEXT, TEXT)",
        }
    }
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sql())
    }
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub data: ColumnType,
    /// Whether a row can be without a value: NULL is what was not recorded or is not known.
    pub optional: bool,
    /// The unit of its numbers, if they have one: `ns`, `bytes`.
    pub unit: Option<&'static str>,
    /// What it says.
    pub meaning: &'static str,
}

impl Column {
    /// The field in Arrow, with unit and meaning in its metadata.
    fn arrow(&self) -> Field {
        let unit = self.unit.map(|unit| ("unit".to_owned(), unit.to_owned()));
        let meaning = ("meaning".to_owned(), self.meaning.to_owned());
        let metadata: HashMap<String, String> = unit.into_iter().chain([meaning]).collect();
        Field::new(self.name, self.data.arrow(), self.optional).with_metadata(metadata)
    }
}

/// The columns and Arrow schemas, made once.
static MADE: LazyLock<Vec<(Vec<Column>, SchemaRef)>> = LazyLock::new(|| {
    let made = |table: &Table| {
        let columns = table.definition().columns();
        let fields: Vec<Field> = columns.iter().map(Column::arrow).collect();
        let metadata = [
            ("readperf.schema".to_owned(), SCHEMA_VERSION.to_string()),
            ("readperf.table".to_owned(), table.name().to_owned()),
        ];
        (columns, Arc::new(Schema::new(fields).with_metadata(metadata.into_iter().collect())))
    };
    Table::ALL.iter().map(made).collect()
});

impl Table {
    /// What one row of it is, and how it is put together with others.
    pub fn meaning(self) -> &'static str {
        self.definition().meaning()
    }

    /// Its columns, in order.
    pub fn columns(self) -> &'static [Column] {
        MADE.get(self as usize).map_or(&[], |(columns, _)| columns)
    }

    /// Its schema in Arrow. Metadata of fields: `unit`, `meaning`.
    pub fn schema(self) -> SchemaRef {
        MADE.get(self as usize).map_or_else(|| Arc::new(Schema::empty()), |(_, schema)| Arc::clone(schema))
    }

    /// The number of a column.
    pub fn column_index(self, name: &str) -> Option<usize> {
        self.columns().iter().position(|column| column.name == name)
    }

    /// The table with this name, if there is one.
    pub fn by_name(name: &str) -> Option<Table> {
        Table::ALL.iter().copied().find(|table| table.name() == name)
    }

    /// Whether its rows say the same in every recording that has them, and hold no `profile_id`: of rows with one id one is enough.
    pub fn is_shared(self) -> bool {
        self.column_index("profile_id").is_none()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
