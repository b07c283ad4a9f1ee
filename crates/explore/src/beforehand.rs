//! What is asked for first, made before it is asked for.

use crate::explorer::Explorer;
use crate::ground::Telling;
use readperf_profile::both;

impl Explorer<'_> {
    /// Makes the flame graph of what is looked at, for a viewer that shows it first. Rows, for which as much has to be worked out, would only
    /// take processors from it. A comparison has a graph of its own.
    pub fn make_first(&self) {
        if self.base.is_some() {
            return;
        }
        let (ground, session) = (&*self.now.ground, self.session());
        let names = || drop(ground.flame_names(session));
        let groups = || {
            ground.groups(Telling::default());
        };
        both(self.state().rows.threads, names, groups);
        self.flame();
    }
}
