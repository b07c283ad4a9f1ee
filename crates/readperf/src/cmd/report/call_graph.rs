//! `--call-graph`: perf's words for how call graphs are made and shown.

use readperf::output::report::{GraphStyle, GraphValue, Shape};
use readperf::profile::view::graph::{GraphKey, GraphOptions, GraphOrder};

/// The least share of a branch if none is given, in percent; perf's own.
const PERCENT: f64 = 0.5;

/// What `--call-graph` says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CallGraph {
    /// Whether there is none.
    none: bool,
    shape: Option<Shape>,
    order: Option<GraphOrder>,
    key: GraphKey,
    percent: Option<f64>,
    most: usize,
    value: GraphValue,
}

impl CallGraph {
    /// `graph,0.5,caller`: words in any order; the first number is the least share in percent, the second the most
    /// entries of a row.
    pub(super) fn parse(text: &str) -> Result<CallGraph, String> {
        let mut graph = CallGraph::default();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            match word {
                "graph" => graph.shape = Some(Shape::Graph),
                "fractal" => graph.shape = Some(Shape::Fractal),
                "flat" => graph.shape = Some(Shape::Flat),
                "folded" => graph.shape = Some(Shape::Folded),
                "none" => graph.none = true,
                "caller" => graph.order = Some(GraphOrder::Caller),
                "callee" => graph.order = Some(GraphOrder::Callee),
                "function" => graph.key = GraphKey::Function,
                "address" => graph.key = GraphKey::Address,
                "srcline" => graph.key = GraphKey::SourceLine,
                "percent" => graph.value = GraphValue::Percent,
                "period" => graph.value = GraphValue::Period,
                "count" => graph.value = GraphValue::Count,
                "branch" => {
                    return Err(
                        "branch: branches are not added to call chains; -b shows them by themselves".into()
                    );
                }
                number => graph.number(number)?,
            }
        }
        Ok(graph)
    }

    /// Whether there is to be one.
    pub(super) fn is_wanted(self) -> bool {
        !self.none
    }

    fn number(&mut self, word: &str) -> Result<(), String> {
        let unknown = || {
            format!(
                "{word} is no word of a call graph: expected graph, fractal, flat, folded or none; caller or callee; \
                 function, address or srcline; percent, period or count; a least share in percent"
            )
        };
        let number: f64 = word.parse().map_err(|_| unknown())?;
        if !number.is_finite() || number < 0.0 {
            return Err(unknown());
        }
        match self.percent {
            None => self.percent = Some(number),
            Some(_) => self.most = word.parse().map_err(|_| unknown())?,
        }
        Ok(())
    }

    /// How graphs are made; `None` if there are to be none. In which order they go by default depends on whether rows
    /// count what they call.
    pub(super) fn options(&self, children: bool, inverted: bool) -> Option<GraphOptions> {
        let default = if children || inverted { GraphOrder::Caller } else { GraphOrder::Callee };
        let options = GraphOptions {
            order: self.order.unwrap_or(default),
            key: self.key,
            percent: self.percent.unwrap_or(PERCENT),
            of_parent: self.shape == Some(Shape::Fractal),
            // Of chains, these are counted and not their frames.
            most: match self.shape {
                Some(Shape::Flat | Shape::Folded) if self.most > 0 => usize::MAX,
                _ => self.most,
            },
        };
        (!self.none).then_some(options)
    }

    /// How graphs of this order are shown.
    pub(super) fn style(&self, order: GraphOrder) -> GraphStyle {
        let shape = self.shape.unwrap_or_default();
        GraphStyle { shape, order, value: self.value, most: self.most }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_any_order() {
        let graph = CallGraph::parse("fractal,2.5,10,callee,srcline,period").unwrap();
        let options = graph.options(true, false).unwrap();
        assert_eq!((options.order, options.key), (GraphOrder::Callee, GraphKey::SourceLine));
        assert!(options.of_parent && (options.percent - 2.5).abs() < 1e-9);
        let style = graph.style(options.order);
        assert_eq!((style.shape, style.most, style.value), (Shape::Fractal, 10, GraphValue::Period));
    }

    #[test]
    fn defaults_are_perfs() {
        let order =
            |children, inverted| CallGraph::parse("").unwrap().options(children, inverted).unwrap().order;
        assert_eq!(order(true, false), GraphOrder::Caller);
        assert_eq!(order(false, false), GraphOrder::Callee);
        assert_eq!(order(false, true), GraphOrder::Caller);
        assert_eq!(CallGraph::parse("none").unwrap().options(true, false), None);
    }

    #[test]
    fn what_is_no_call_graph() {
        for bad in ["perf.data", "-1", "caller,x", "0.5,1.5"] {
            assert!(CallGraph::parse(bad).is_err(), "{bad}");
        }
    }
}
