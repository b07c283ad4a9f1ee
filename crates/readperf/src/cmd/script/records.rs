//! Records that are shown besides samples: the flags.

use clap::Args;
use perffile::wire::record::kind;

/// Records that are shown besides samples.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "More records")]
pub(super) struct ShownRecords {
    /// Threads that come, go, or get a name
    #[arg(long)]
    show_task_events: bool,

    /// Mappings
    #[arg(long)]
    show_mmap_events: bool,

    /// Context switches
    #[arg(long)]
    show_switch_events: bool,

    /// Losses
    #[arg(long)]
    show_lost_events: bool,

    /// Ends of rounds
    #[arg(long)]
    show_round_events: bool,

    /// Namespaces of threads
    #[arg(long)]
    show_namespace_events: bool,

    /// Cgroups
    #[arg(long)]
    show_cgroup_events: bool,

    /// Code that the kernel generates, and BPF programs
    #[arg(long)]
    show_bpf_events: bool,

    /// Changes of the kernel's code
    #[arg(long)]
    show_text_poke_events: bool,
}

impl ShownRecords {
    /// Types of these records.
    pub(super) fn kinds(&self) -> Vec<u32> {
        let choices: [(bool, &[u32]); 9] = [
            (self.show_task_events, &[kind::COMM, kind::FORK, kind::EXIT]),
            (self.show_mmap_events, &[kind::MMAP, kind::MMAP2]),
            (self.show_switch_events, &[kind::SWITCH, kind::SWITCH_CPU_WIDE]),
            (self.show_lost_events, &[kind::LOST]),
            (self.show_round_events, &[kind::FINISHED_ROUND]),
            (self.show_namespace_events, &[kind::NAMESPACES]),
            (self.show_cgroup_events, &[kind::CGROUP]),
            (self.show_bpf_events, &[kind::KSYMBOL, kind::BPF_EVENT]),
            (self.show_text_poke_events, &[kind::TEXT_POKE]),
        ];
        choices.iter().filter(|(shown, _)| *shown).flat_map(|(_, kinds)| kinds.iter().copied()).collect()
    }
}
