//! A frame of the flame graph, and what is above it, as a step.

use super::Answers;
use super::flame::frame_below;
use readperf_explore::{State, Step};
use readperf_profile::{Functions, Transform};
use std::collections::{BTreeSet, VecDeque};

/// Most that are remembered.
const MOST: usize = 8;

/// What frames were, by the state in whose graph they are and the way to them: every question asks for them again.
#[derive(Debug, Default)]
pub(super) struct Known(VecDeque<(State, String, Vec<Step>)>);

/// The steps that look at the frame of a state's flame graph to which a way leads; behind it may stand what it is called.
pub(super) fn steps(answers: &mut Answers<'_, '_>, state: &State, way: &str) -> Result<Vec<Step>, String> {
    let way = way.split_once(' ').map_or(way, |(way, _)| way);
    if answers.explorer.total_before().is_some() {
        return Err("subtree: not of two recordings".to_owned());
    }
    // Whatever is turned around, a way begins with a root.
    let state = State { reversed: false, ..state.clone() };
    if let Some((.., steps)) = answers.subtrees.0.iter().find(|(of, to, _)| *of == state && to == way) {
        return Ok(steps.clone());
    }
    if state.event >= answers.explorer.whole().events().len() {
        return Ok(Vec::new());
    }
    answers.explorer.go(state.clone());
    let steps = match frame_below(answers, "subtree", way)? {
        (frame, true) => answers.explorer.steps_below(frame),
        // There is no such way in what is chosen.
        (_, false) => vec![Step::Stacks(Transform::Subtree(vec![Functions::These(BTreeSet::new())]))],
    };
    answers.subtrees.0.push_front((state, way.to_owned(), steps.clone()));
    answers.subtrees.0.truncate(MOST);
    Ok(steps)
}
