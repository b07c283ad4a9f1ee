//! `readperf view --in`: the export of a recording, served to a viewer of others.

use super::{View, listen};
use crate::cmd::export::{export, tell_left_out, wanted_by};
use crate::out::Output;
use crate::outcome::{Outcome, say, tell, wrong_usage};
use crate::profile_options::ProfileOptions;
use crate::suggestion::hint;
use readperf::output::export::{ExportOptions, Writing, by_name};
use readperf_view::{Served, Token, VIEWERS, Viewer, origin_of, serve_export};

/// The viewer with this name.
pub(super) fn viewer(name: &str) -> Result<Viewer, String> {
    let names = || VIEWERS.iter().map(|viewer| viewer.name);
    VIEWERS.into_iter().find(|viewer| viewer.name == name).ok_or_else(|| {
        let known: Vec<&str> = names().collect();
        format!("no viewer is called that{}; there are {}", hint(name, names()), known.join(", "))
    })
}

/// Where a viewer is.
pub(super) fn page(address: &str) -> Result<String, String> {
    origin_of(address).map(|_| address.to_owned()).ok_or_else(|| "expected https://…".to_owned())
}

impl View {
    /// Serves the export, and opens the viewer on it.
    pub(super) fn in_viewer(&self, viewer: Viewer) -> anyhow::Result<Outcome> {
        if let Some(only) = viewer.port.filter(|only| self.port != 0 && self.port != *only) {
            wrong_usage(&format!("the page of {} may fetch from port {only} only", viewer.name));
        }
        // Exports have no such filters.
        if let Some(option) = self.filters.given().next() {
            wrong_usage(&format!("{option} is not for --in"));
        }
        let page = self.viewer_page.as_deref().unwrap_or(viewer.page);
        let origin = origin_of(page).unwrap_or(page);
        let (listener, at) = listen(viewer.port.unwrap_or(self.port))?;
        let file = self.exported(viewer)?;
        let token = Token::random()?;
        self.open(&viewer.address(page, &at, &token))?;
        serve_export(Served { listener, token, viewer, origin, file })?;
        Ok(Outcome::default())
    }

    /// The export that a viewer reads.
    fn exported(&self, viewer: Viewer) -> anyhow::Result<Vec<u8>> {
        let format = by_name(viewer.name);
        let Some((format, Writing::Profile(write))) = format.map(|format| (format, format.write)) else {
            anyhow::bail!("there is no export for {}", viewer.name);
        };
        let options = ProfileOptions {
            samples: self.samples.clone(),
            names: self.names.clone(),
            symbols: self.symbols.clone(),
            output: Output::standard(),
        };
        let recording = self.input.open()?;
        let selection = options.selection(&self.stacks);
        let analysis = options.analyse(&self.input, &recording, &wanted_by(format), &selection)?;
        let no_options = ExportOptions::default();
        let new = export(&analysis, &no_options);
        if new.event().is_none() {
            say(&format!("{}: no samples", self.input.name()));
        }
        tell_left_out(&self.input, format, &new);
        tell(&self.input.name(), &analysis.issues);
        let mut file = Vec::new();
        write(&new, &mut file)?;
        Ok(file)
    }
}
