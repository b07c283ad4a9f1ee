//! Every sample decoded in order of time, by linux-perf-data.

use crate::{Sums, private_memory};
use linux_perf_data::linux_perf_event_reader::EventRecord;
use linux_perf_data::{PerfFileReader, PerfFileRecord};
use std::error::Error;
use std::io::BufReader;

pub(crate) fn run(path: &str) -> Result<(), Box<dyn Error>> {
    let file = BufReader::new(std::fs::File::open(path)?);
    let PerfFileReader { mut perf_file, mut record_iter } = PerfFileReader::parse_file(file)?;
    let mut sums = Sums::default();
    while let Some(record) = record_iter.next_record(&mut perf_file)? {
        let PerfFileRecord::EventRecord { record, .. } = record else { continue };
        let EventRecord::Sample(sample) = record.parse()? else { continue };
        sums.add(
            sample.ip.unwrap_or(0),
            sample.pid.unwrap_or(0).cast_unsigned(),
            sample.tid.unwrap_or(0).cast_unsigned(),
            sample.timestamp.unwrap_or(0),
            sample.period.unwrap_or(0),
        );
        if let Some(chain) = sample.callchain {
            let mut sum = 0u64;
            for nr in 0..chain.len() {
                sum = sum.wrapping_add(chain.get(nr).unwrap_or(0));
            }
            sums.add_chain(chain.len() as u64, sum);
        }
    }
    println!("{sums:?}");
    eprintln!("private memory at the end {} KiB", private_memory::kib());
    Ok(())
}
