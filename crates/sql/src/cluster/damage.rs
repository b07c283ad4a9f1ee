//! What was wrong with recordings that executors read: a question of its own, when all others are answered. Executors hand on rows and
//! errors, nothing else.

use crate::engine::Engine;
use crate::error::{Error, Result};
use datafusion::arrow::array::{AsArray as _, RecordBatch};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::common::internal_datafusion_err;
use std::collections::HashMap;
use std::path::PathBuf;

const QUESTION: &str = "SELECT profile_id, profile_id_lo, source, damaged, issues FROM profiles";

/// A recording of which something could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// Where it was read from.
    pub recording: String,
    /// What is wrong with it, each with the name of its kind before it.
    pub issues: Vec<String>,
}

impl Engine {
    /// What executors found damaged of the recordings, sorted by name; nothing where there are none, none was asked, or this process read them itself.
    ///
    /// # Errors
    /// A recording that is there twice, under two names or in a folder, too: answers counted it twice. What else may go wrong with
    /// a question.
    pub fn damaged(&self) -> Result<Vec<Damaged>> {
        if !self.has_asked_cluster() || self.sources.recordings.is_empty() {
            return Ok(Vec::new());
        }
        let mut found = Found { seen: HashMap::new(), damaged: Vec::new() };
        for question in self.statements(QUESTION)? {
            for rows in self.ask(question)? {
                found.rows(&rows?, &self.sources.recordings)?;
            }
        }
        found.damaged.sort_by(|one, other| one.recording.cmp(&other.recording));
        Ok(found.damaged)
    }
}

/// What has been found so far.
struct Found {
    /// Where recordings lie, by both halves of their ids.
    seen: HashMap<(i64, i64), String>,
    damaged: Vec<Damaged>,
}

impl Found {
    fn rows(&mut self, rows: &RecordBatch, recordings: &[PathBuf]) -> Result<()> {
        let [id, rest, source, damaged, issues] = rows.columns() else {
            return Err(internal_datafusion_err!("{QUESTION}: {} columns", rows.num_columns()).into());
        };
        let (id, rest) = (id.as_primitive::<Int64Type>(), rest.as_primitive::<Int64Type>());
        let (source, damaged, issues) =
            (source.as_string::<i32>(), damaged.as_boolean(), issues.as_list::<i32>());
        for row in 0..rows.num_rows() {
            let recording = source.value(row).to_owned();
            if let Some(other) = self.seen.insert((id.value(row), rest.value(row)), recording.clone()) {
                return Err(Error::said(format!(
                    "{recording}: the same recording as {other}: it was counted twice"
                )));
            }
            // Those of folders told it when they were exported.
            let is_read = recordings.iter().any(|path| path.to_string_lossy() == recording);
            if is_read && damaged.value(row) {
                let issues = issues.value(row);
                let issues = issues.as_string::<i32>().iter().flatten().map(str::to_owned).collect();
                self.damaged.push(Damaged { recording, issues });
            }
        }
        Ok(())
    }
}
