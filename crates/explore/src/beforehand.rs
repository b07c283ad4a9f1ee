//! What is asked for first, made before it is asked for.

use crate::explorer::Explorer;
use std::thread;

impl Explorer<'_> {
    /// Makes the rows and the flame graph of what is looked at: for a viewer that shows both at once. Most of the work is to find the ways
    /// that samples go into them; where the machine can, it goes on beside each other. A comparison has tables of its own.
    pub fn make_first(&self) {
        if self.base.is_some() {
            return;
        }
        let (ground, session, event) = (&*self.now.ground, self.session(), self.state().event);
        let _ = thread::scope(|scope| {
            // If the system has no thread for it, the flame graph is made from the start below.
            let beside = thread::Builder::new().spawn_scoped(scope, || ground.flame(session, event));
            self.rows();
            beside.map(|beside| beside.join().is_ok())
        });
        self.flame();
    }
}
