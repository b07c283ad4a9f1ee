//! What is called along one way only: steps that look at a frame of the flame graph and at what is above it.

use crate::explorer::Explorer;
use crate::flame::{Flame, Label};
use crate::state::Step;
use readperf_profile::view::flame_tree::NodeIndex;
use readperf_profile::{FunctionId, Functions, Transform};
use std::collections::BTreeSet;

impl Explorer<'_> {
    /// The steps that look at the samples of a frame of the flame graph, with stacks that begin with it. The graph has to be that of one
    /// recording, from the roots: functions of another one have other numbers.
    pub fn steps_below(&self, node: NodeIndex) -> Vec<Step> {
        let flame = self.flame();
        let path = flame.path(node);
        let label = |node: &NodeIndex| flame.level(*node).and_then(|level| flame.label(level));
        let comm = path
            .first()
            .and_then(|first| if let Some(Label::Comm(comm)) = label(first) { Some(comm) } else { None });
        let path = path.get(usize::from(comm.is_some())..).unwrap_or_default();
        let functions = self.functions_at(flame, path);
        let comm = comm.map(|comm| Step::comm(self.session().comm(comm)));
        let stacks = (!functions.is_empty()).then_some(Step::Stacks(Transform::Subtree(functions)));
        comm.into_iter().chain(stacks).collect()
    }

    /// The functions of each of these frames: all that are called so.
    fn functions_at(&self, flame: &Flame, path: &[NodeIndex]) -> Vec<Functions> {
        let mut found: Vec<BTreeSet<FunctionId>> = path.iter().map(|_| BTreeSet::new()).collect();
        let labels: Vec<Option<u32>> =
            path.iter().map(|node| flame.level(*node).map(|level| level.label)).collect();
        let profile = &self.now.ground.profile;
        for address in profile.addresses().ids() {
            // Both go from the outermost.
            for (level, called) in profile.levels_at(address).rev().zip(flame.levels_at(address)) {
                for (label, functions) in labels.iter().zip(&mut found) {
                    if *label == Some(called.label) {
                        functions.insert(level.function);
                    }
                }
            }
        }
        found.into_iter().map(Functions::These).collect()
    }
}
