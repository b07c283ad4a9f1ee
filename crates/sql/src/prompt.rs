//! The prompt: lines with history and completion. A query ends with a semicolon, so that it may take several lines.

use crate::engine::Engine;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Editor, Helper};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// Words that queries begin with and are made of.
const WORDS: &[&str] = &[
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP BY",
    "ORDER BY",
    "LIMIT",
    "HAVING",
    "JOIN",
    "LEFT JOIN",
    "WITH",
    "DISTINCT",
    "AS",
    "AND",
    "OR",
    "NOT",
    "IN",
    "LIKE",
    "BETWEEN",
    "IS NULL",
    "DESC",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "OVER",
    "PARTITION BY",
    "UNION ALL",
    "DESCRIBE",
    "SHOW TABLES",
    "EXPLAIN",
    "EXPLAIN ANALYZE",
    "CREATE VIEW",
];

/// What was typed.
#[derive(Debug, PartialEq, Eq)]
pub enum Typed {
    /// Queries.
    Queries(String),
    /// The line was given up.
    Nothing,
    /// There is no more.
    End,
}

/// A prompt.
pub struct Prompt {
    editor: Editor<Names, FileHistory>,
    history: Option<PathBuf>,
}

impl std::fmt::Debug for Prompt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prompt").field("history", &self.history).finish_non_exhaustive()
    }
}

impl Prompt {
    /// A prompt that knows the names of an engine and keeps what is typed in a file.
    pub fn new(engine: &Engine, history: Option<&Path>) -> io::Result<Prompt> {
        let config =
            Config::builder().history_ignore_space(true).completion_type(CompletionType::List).build();
        let mut editor = Editor::with_config(config).map_err(io::Error::other)?;
        editor.set_helper(Some(Names::of(engine)));
        let history = history
            .filter(|path| path.parent().is_some_and(|folder| std::fs::create_dir_all(folder).is_ok()));
        if let Some(path) = history {
            // There is none the first time.
            let _ = editor.load_history(path);
        }
        Ok(Prompt { editor, history: history.map(Path::to_owned) })
    }

    /// What is typed next.
    pub fn ask(&mut self) -> io::Result<Typed> {
        let line = match self.editor.readline("readperf> ") {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => return Ok(Typed::Nothing),
            Err(ReadlineError::Eof) => return Ok(Typed::End),
            Err(error) => return Err(io::Error::other(error)),
        };
        match line.trim().trim_end_matches(';') {
            "" => return Ok(Typed::Nothing),
            "exit" | "quit" | "\\q" => return Ok(Typed::End),
            _ => (),
        }
        let is_new = self.editor.add_history_entry(line.as_str()).unwrap_or(false);
        if let Some(path) = self.history.as_ref().filter(|_| is_new) {
            // That it cannot be kept is no reason not to answer.
            let _ = self.editor.append_history(path);
        }
        Ok(Typed::Queries(line))
    }

    /// Learns the names of views that were created.
    pub fn learn(&mut self, engine: &Engine) {
        self.editor.set_helper(Some(Names::of(engine)));
    }
}

/// What can be completed.
#[derive(Debug)]
struct Names(BTreeSet<String>);

impl Names {
    fn of(engine: &Engine) -> Names {
        let tables = engine.table_names();
        let columns = tables.iter().flat_map(|table| engine.column_names(table)).collect::<Vec<_>>();
        let functions = engine.function_names().into_iter().map(|name| format!("{name}("));
        let words = WORDS.iter().map(|&word| word.to_owned());
        Names(words.chain(functions).chain(columns).chain(tables).collect())
    }

    /// Where the word before the cursor begins, and what it can become. Words of SQL stay as they are typed, large or small.
    fn completed(&self, line: &str, cursor: usize) -> (usize, Vec<String>) {
        let before = line.get(..cursor).unwrap_or(line);
        let is_end = |c: char| !c.is_alphanumeric() && c != '_';
        let begin = before.rfind(is_end).map_or(0, |at| {
            at + before.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
        });
        let word = before.get(begin..).unwrap_or_default();
        if word.is_empty() {
            return (cursor, Vec::new());
        }
        let is_small = word.chars().any(char::is_lowercase);
        let fits = |name: &&String| {
            name.len() >= word.len()
                && name.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
        };
        let names =
            self.0.iter().filter(fits).map(|name| if is_small { name.to_lowercase() } else { name.clone() });
        let names: BTreeSet<String> = names.collect();
        (begin, names.into_iter().collect())
    }
}

impl Completer for Names {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        cursor: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(self.completed(line, cursor))
    }
}

impl Validator for Names {
    fn validate(&self, typed: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let text = typed.input().trim();
        let is_whole = text.is_empty() || text.ends_with(';') || ["exit", "quit", "\\q"].contains(&text);
        Ok(if is_whole { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}

impl Hinter for Names {
    type Hint = String;
}

impl Highlighter for Names {}
impl Helper for Names {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_completed_as_they_are_typed() {
        let names = Names(["SELECT", "samples", "sum(", "stack_id"].map(str::to_owned).into());
        assert_eq!(names.completed("SEL", 3), (0, vec!["SELECT".to_owned()]));
        assert_eq!(names.completed("select su", 9), (7, vec!["sum(".to_owned()]));
        assert_eq!(names.completed("é.sta", 6), (3, vec!["stack_id".to_owned()]));
        assert_eq!(names.completed("a ", 2), (2, Vec::new()));
    }
}
