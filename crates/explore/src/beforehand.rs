//! What is asked for first, made before it is asked for.

use crate::explorer::Explorer;
use readperf_profile::both;

impl Explorer<'_> {
    /// Makes the rows and the flame graph of what is looked at: for a viewer that shows both at once. Most of the work is to find the ways
    /// that samples go into them. A comparison has tables of its own.
    pub fn make_first(&self) {
        if self.base.is_some() {
            return;
        }
        let (ground, session, state) = (&*self.now.ground, self.session(), self.state());
        both(state.rows.threads, || drop(ground.flame(session, state.event)), || drop(self.rows()));
        self.flame();
    }
}
