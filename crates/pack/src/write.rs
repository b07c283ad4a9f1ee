//! An archive on its way out.

use crate::MANIFEST;
use crate::contents::{Content, Contents, Kind, Member};
use crate::layout;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use tar::{Builder, EntryType, Header};
use zstd::stream::write::Encoder;

/// Bytes that are handed on at once.
const PIECE: usize = 1 << 20;

impl Contents {
    /// Writes the archive, compressed with zstd at this level. `progress` is told how many bytes of the members are in it.
    ///
    /// # Errors
    /// What the operating system says, with the path of a file that cannot be read; a file that has become shorter since.
    pub fn write(&self, to: impl Write, level: i32, progress: impl FnMut(u64)) -> io::Result<()> {
        let frames = Frames { level, encoder: Some(encoder(to, level)?) };
        let mut writing = Writing { tar: Builder::new(frames), written: 0, progress };
        let manifest = serde_json::to_vec_pretty(&self.manifest())?;
        writing.file(Path::new(MANIFEST), manifest.len() as u64, 0, &manifest[..])?;
        let (recording, others): (Vec<_>, Vec<_>) =
            self.members.iter().partition(|member| member.kind == Kind::Recording);
        recording.into_iter().try_for_each(|member| writing.member(member))?;
        // Who reads no further than that knows that it is sound.
        writing.tar.get_mut().end_frame()?;
        others.into_iter().try_for_each(|member| writing.member(member))?;
        for (link, to) in &self.links {
            let mut header = header(EntryType::Symlink, 0, 0);
            writing.tar.append_link(&mut header, link, layout::relative(link, to))?;
        }
        let mut frames = writing.tar.into_inner()?;
        frames.encoder.take().map_or(Ok(()), |encoder| encoder.finish()?.flush())
    }
}

/// Frames of zstd, each with its checksum: what is damaged on the way is noticed.
struct Frames<W: Write> {
    level: i32,
    /// There is one between calls.
    encoder: Option<Encoder<'static, W>>,
}

fn encoder<W: Write>(to: W, level: i32) -> io::Result<Encoder<'static, W>> {
    let mut encoder = Encoder::new(to, level)?;
    encoder.include_checksum(true)?;
    Ok(encoder)
}

impl<W: Write> Frames<W> {
    /// Ends a frame and begins another.
    fn end_frame(&mut self) -> io::Result<()> {
        if let Some(ended) = self.encoder.take() {
            self.encoder = Some(encoder(ended.finish()?, self.level)?);
        }
        Ok(())
    }
}

impl<W: Write> Write for Frames<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.encoder.as_mut().map_or(Err(io::ErrorKind::BrokenPipe.into()), |encoder| encoder.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.encoder.as_mut().map_or(Ok(()), Encoder::flush)
    }
}

struct Writing<W: Write, P> {
    tar: Builder<W>,
    written: u64,
    progress: P,
}

impl<W: Write, P: FnMut(u64)> Writing<W, P> {
    fn member(&mut self, member: &Member) -> io::Result<()> {
        let of_file =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", member.from.display()));
        let size = member.bytes;
        match &member.content {
            Content::Bytes(bytes) => self.file(&member.path, size, member.modified, (**bytes).as_ref()),
            Content::File => {
                let file = File::open(&member.from).map_err(of_file)?;
                self.file(&member.path, size, member.modified, Whole { file, left: size }).map_err(of_file)
            }
        }
    }

    fn file(&mut self, path: &Path, size: u64, modified: u64, from: impl Read) -> io::Result<()> {
        let mut header = header(EntryType::Regular, size, modified);
        let from = Counted { from, written: &mut self.written, progress: &mut self.progress };
        self.tar.append_data(&mut header, path, io::BufReader::with_capacity(PIECE, from))
    }
}

/// The same for everybody: nothing of who packed it.
fn header(kind: EntryType, size: u64, modified: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(if kind == EntryType::Symlink { 0o777 } else { 0o644 });
    header.set_mtime(modified);
    header.set_uid(0);
    header.set_gid(0);
    header
}

/// As many bytes of a file as it had when its size was told; more may have been added since.
struct Whole {
    file: File,
    left: u64,
}

impl Read for Whole {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = (&mut self.file).take(self.left).read(into)?;
        self.left = self.left.saturating_sub(read as u64);
        if read == 0 && self.left > 0 && !into.is_empty() {
            return Err(io::Error::other("it has become shorter"));
        }
        Ok(read)
    }
}

struct Counted<'c, R, P> {
    from: R,
    written: &'c mut u64,
    progress: &'c mut P,
}

impl<R: Read, P: FnMut(u64)> Read for Counted<'_, R, P> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(into)?;
        *self.written = self.written.saturating_add(read as u64);
        (self.progress)(*self.written);
        Ok(read)
    }
}
