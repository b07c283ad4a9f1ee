//! `--jit`: files of generated code, made of what runtimes dumped.

use crate::outcome::say;
use anyhow::Context as _;
use perffile::Recording;
use readperf::symbols::{IMAGE_CODE_OFFSET, Options};
use readperf::{DumpedCode, dumped_code};
use readperf_edit::{AddedMapping, Dump};
use readperf_files::WholeFolder;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

/// The folder with the files.
pub(super) struct Images {
    folder: WholeFolder,
    name: String,
}

impl Images {
    /// Puts it in its place.
    pub(super) fn publish(self) -> anyhow::Result<()> {
        self.folder.publish().context(self.name)
    }
}

/// What was made, and what could not be.
#[derive(Default)]
struct Tally {
    files: u64,
    without_frames: u64,
    without_lines: u64,
    left_out: u64,
}

/// Makes the files in a folder that is to be at `folder`, or beside the output; says what is told of them in the recording.
pub(super) fn made(
    recording: &Recording,
    output: &Path,
    folder: Option<&Path>,
) -> anyhow::Result<(Vec<Dump>, Images)> {
    if recording.is_stream() {
        anyhow::bail!(
            "--jit reads a recording twice, and a stream can be read only once: write it to a file first"
        );
    }
    let options = Options { file_loader: readperf::mapped_files(Vec::new()), ..Options::default() };
    let (mut usable, mut useless) = (Vec::new(), Vec::new());
    for dump in dumped_code(recording, &options)? {
        match dump {
            Ok(dump) => usable.push(dump),
            Err(why) => useless.push(why),
        }
    }
    if usable.is_empty() {
        let why =
            if useless.is_empty() { "no process has mapped one".to_owned() } else { useless.join("; ") };
        anyhow::bail!("--jit: there is no jitdump file that can be used: {why}");
    }
    if !recording.metadata().schema.has_time() {
        anyhow::bail!("--jit: the records of mappings have no time in this recording");
    }
    useless.iter().for_each(|why| say(&format!("not used: {why}")));

    let place = match folder {
        Some(folder) => folder.to_owned(),
        None if output.as_os_str() == "-" => anyhow::bail!("--jit needs a folder with -o -: give --jit=DIR"),
        None => beside(output),
    };
    let name = place.display().to_string();
    let folder = WholeFolder::create(&place).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => anyhow::anyhow!(
            "{name}: it is there already, maybe with the files of another recording: remove it, or give --jit=DIR"
        ),
        _ => anyhow::Error::new(error).context(name.clone()),
    })?;
    let images = Images { folder, name };
    let place = whole_path(&place)?;
    let mut tally = Tally::default();
    let mut dumps = Vec::new();
    for code in &usable {
        let unused = code.dump.unused(&[]);
        if !unused.is_empty() {
            say(&format!(
                "not all of {} is used: {}",
                String::from_utf8_lossy(&code.name),
                unused.join(", ")
            ));
        }
        dumps.push(Dump {
            pid: code.pid,
            name: code.name.clone(),
            mappings: mappings(code, &images, &place, &mut tally)?,
        });
    }
    say(&told(&tally, &images.name));
    Ok((dumps, images))
}

/// Writes the files of a dump; says where each is mapped. Code that was moved is mapped from the same file.
fn mappings(
    code: &DumpedCode,
    images: &Images,
    place: &Path,
    tally: &mut Tally,
) -> anyhow::Result<Vec<AddedMapping>> {
    let mut files: Vec<Option<Box<[u8]>>> = Vec::new();
    let mut mappings = Vec::new();
    for number in 0..code.dump.len() {
        let origin = code.dump.origin(number);
        let file = match files.get(origin) {
            Some(file) => file.clone(),
            None => write(code, number, images, place, tally)?,
        };
        let function = code.dump.function(number);
        let size = function.map_or(0, |function| function.end.saturating_sub(function.start));
        files.push(file.clone());
        let start = code.dump.function(number).map(|function| function.start);
        let (Some(file), Some(start), Some(time_ns)) = (file, start, code.time_ns(number)) else {
            tally.left_out += 1;
            continue;
        };
        if size == 0 {
            tally.left_out += 1;
            continue;
        }
        mappings.push(AddedMapping { time_ns, start, size, offset: IMAGE_CODE_OFFSET, file });
    }
    Ok(mappings)
}

/// Writes a file; `None` if there is nothing to write.
fn write(
    code: &DumpedCode,
    number: usize,
    images: &Images,
    place: &Path,
    tally: &mut Tally,
) -> anyhow::Result<Option<Box<[u8]>>> {
    let Some(image) = code.image(number) else { return Ok(None) };
    let name = format!("jitted-{}-{}.so", code.pid, tally.files);
    fs::write(images.folder.path().join(&name), &image.bytes).with_context(|| images.name.clone())?;
    tally.files += 1;
    tally.without_frames += u64::from(image.lacks_call_frames);
    tally.without_lines += u64::from(image.lacks_lines);
    Ok(Some(place.join(name).into_os_string().into_vec().into()))
}

fn told(tally: &Tally, folder: &str) -> String {
    let Tally { files, without_frames, without_lines, left_out } = tally;
    let mut line = format!("{folder}: {files} files of generated code");
    if *without_frames > 0 {
        line.push_str(&format!(
            "; {without_frames} without call frame information, which is for absolute addresses or for code that was not dumped"
        ));
    }
    if *without_lines > 0 {
        line.push_str(&format!("; {without_lines} without source lines, which could not be read"));
    }
    if *left_out > 0 {
        line.push_str(&format!(
            "; {left_out} pieces of code of no length, or of an unknown machine, were left out"
        ));
    }
    line
}

/// `OUT.jit`.
fn beside(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(".jit");
    PathBuf::from(name)
}

/// The path that is recorded: whoever reads the recording may be in another folder.
fn whole_path(place: &Path) -> anyhow::Result<PathBuf> {
    let parent = place.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
    let parent = parent.canonicalize().with_context(|| place.display().to_string())?;
    Ok(parent.join(place.file_name().unwrap_or_default()))
}
