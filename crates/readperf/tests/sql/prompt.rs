//! The prompt, in a terminal.

use crate::oracle::terminal::Terminal;
use crate::oracle::{fixture, scratch};
use std::path::Path;

/// Starts the prompt of a recording; what was typed is kept in this folder.
fn command(home: &Path) -> String {
    format!(
        "env HOME={0} XDG_CACHE_HOME={0} {1} sql {2}",
        home.display(),
        env!("CARGO_BIN_EXE_readperf"),
        fixture("main").display()
    )
}

#[test]
#[ignore = "live: tmux"]
fn the_prompt_completes_remembers_and_goes_on() {
    let dir = scratch();
    let terminal = Terminal::new("sql", (120, 40), dir.path());
    let command = command(dir.path());
    terminal.run(&command);
    terminal.wait("readperf>");
    // Two lines are one query; a name is completed.
    terminal.enter("SELECT count(*) AS n,");
    terminal.enter("count(DISTINCT tid) AS threads FROM thread_to\t;");
    terminal.wait("threads\n");
    terminal.enter("SELECT functio FROM samples;");
    terminal.wait("         ^");
    terminal.enter("CREATE VIEW quickly AS SELECT 574 AS hits;");
    terminal.enter("SELECT hits + 1 AS more FROM quick\t;");
    terminal.wait("575");
    terminal.enter("DESCRIBE thread_totals;");
    terminal.wait("Sum of their periods.");
    terminal.enter("exit");
    terminal.wait_for_shell();
    // What was typed is there the next time.
    terminal.run("clear");
    terminal.run(&command);
    terminal.wait("readperf>");
    terminal.keys(&["Up", "Up"]);
    terminal.wait("SELECT hits + 1 AS more FROM quickly;");
    // That line is given up, and the prompt goes on.
    terminal.keys(&["C-c"]);
    // The line editor gives up what it has read behind it, too.
    terminal.wait("FROM quickly;\nreadperf>");
    terminal.enter("SELECT 7 * 191 AS product;");
    terminal.wait("1337");
    terminal.enter("exit");
    terminal.wait_for_shell();
}

#[test]
#[ignore = "live: tmux"]
fn lines_typed_ahead_are_answered_one_after_the_other() {
    let dir = scratch();
    let terminal = Terminal::new("sql-ahead", (120, 40), dir.path());
    terminal.run(&command(dir.path()));
    terminal.wait("readperf>");
    // All of it is there to be read when the first line is.
    terminal.enter(
        "CREATE VIEW ahead AS SELECT 574 AS hits;\rSELECT hits + 1 AS more FROM ahead;\rSELECT 7 * 191 AS x;",
    );
    terminal.wait("575");
    terminal.wait("1337");
    terminal.enter("exit");
    terminal.wait_for_shell();
}
