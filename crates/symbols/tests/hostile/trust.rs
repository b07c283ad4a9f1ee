//! Files in places where everyone may write.

use super::{allocation, name_at, options};
use readperf_symbols::{AddressBatch, Reason, Subject, resolve};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

/// A perf map in `/tmp`, under a number that no process can have, which goes with this value.
struct Map(PathBuf);

impl Drop for Map {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[test]
fn a_map_that_everyone_may_write_is_not_believed() {
    let _alone = allocation::alone();
    let pid = 4_200_000_000 + std::process::id();
    let map = Map(PathBuf::from(format!("/tmp/perf-{pid}.map")));
    fs::write(&map.0, "1000 100 planted\n").unwrap();
    let ask = |mode: u32| {
        fs::set_permissions(&map.0, Permissions::from_mode(mode)).unwrap();
        let subject = Subject::Generated { pid, inner_pid: None, dump: None, generation: 0 };
        resolve(&options(), vec![AddressBatch::new(subject, vec![0x1010])]).pop().unwrap()
    };
    // The user's own group and that of root are no others.
    for mode in [0o644, 0o600, 0o664] {
        assert_eq!(name_at(&ask(mode), 0), "planted", "{mode:o}");
    }
    for mode in [0o646, 0o666, 0o777] {
        let reason = ask(mode).batch_reason.unwrap();
        assert_eq!(reason, Reason::OthersMayWrite { path: map.0.clone(), mode });
        assert!(reason.to_string().contains(&format!("may be written by others (mode {mode:04o})")));
        assert!(reason.remedy().unwrap().contains("chmod go-w"));
    }
}
