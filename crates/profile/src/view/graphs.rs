//! The call graphs of a histogram's rows, each made when it is asked for: nobody needs those of all rows at a time.

use super::column::compare;
use super::graph::{Graph, Grapher, Room};
use super::histogram::{Histogram, HistogramRow, Histograms};

/// Makes the call graphs of a histogram's rows. Where there is not room for all, the first that are asked for have them.
#[derive(Debug)]
pub struct Graphs<'h> {
    from: &'h Histograms<'h, 'h>,
    histogram: &'h Histogram,
    room: Room,
    /// How many graphs are not whole.
    cut: u64,
}

impl<'h> Graphs<'h> {
    /// Those of a histogram; `None` if they were not asked for.
    pub(super) fn new(from: &'h Histograms<'h, 'h>, histogram: &'h Histogram) -> Option<Graphs<'h>> {
        let room = Room::new(from.options.graph?, from.calls.nodes.len());
        Some(Graphs { from, histogram, room, cut: 0 })
    }

    /// The call graph of a row.
    pub fn graph(&mut self, row: &HistogramRow) -> Graph {
        let Histograms { calls, options, .. } = self.from;
        let Some(graph_options) = options.graph else { return Graph::default() };
        let sums = self.histogram.graph_sums.as_slice();
        let sums =
            sums.binary_search_by_key(&row.key.sample, |sums| sums.sample).ok().and_then(|at| sums.get(at));
        let Some(sums) = sums else { return Graph::default() };
        let whole = options.whole.get(self.histogram.event).copied().unwrap_or(0);
        let grapher = Grapher { calls, sums, options: graph_options, whole };
        let by_name = |a, b| compare(&self.from.facts, self.from.frame(a), self.from.frame(b));
        let graph = grapher.graph(row.key.place, options.children, &mut self.room, by_name);
        self.cut += u64::from(graph.left_out.count > 0);
        graph
    }

    /// How many of the graphs that were made are not whole.
    pub fn cut(&self) -> u64 {
        self.cut
    }
}
