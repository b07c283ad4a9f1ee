//! Where the call frame information that a runtime dumped belongs.

use super::JitDump;

/// The call frame information of a piece of code: `.eh_frame`, at the addresses at which it tells of the code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallFrames<'d> {
    /// The section.
    pub(crate) eh_frame: &'d [u8],
    /// Its address.
    pub(crate) address: u64,
    /// What tells it from others in the file.
    pub(crate) key: usize,
    /// Where the code is.
    pub(crate) start: u64,
    /// First address behind the code.
    pub(crate) end: u64,
    /// Where the code is for the section.
    pub(crate) loaded_at: u64,
}

impl JitDump {
    /// The call frame information of the code with this number, if it was dumped.
    ///
    /// Addresses in the section are distances from where it lies, mostly. That is not told: it is where `perf inject` puts it in
    /// the files it makes, behind the code at the next multiple of eight. Runtimes reckon with that, wherever they have it
    /// themselves. A header with an absolute address says otherwise. Code that was moved keeps the distances.
    pub(crate) fn call_frames(&self, number: usize) -> Option<CallFrames<'_>> {
        let function = self.functions.get(number)?;
        let unwinding = function.unwinding.as_ref()?;
        let layer = self.layers.layers().get(number)?;
        let (eh_frame, _) = self.unwinding(number)?;
        let behind = || function.loaded_at.checked_add(function.loaded_size.checked_next_multiple_of(8)?);
        Some(CallFrames {
            eh_frame,
            address: unwinding.eh_frame_at.or_else(behind)?,
            key: unwinding.data.start,
            start: layer.start,
            end: layer.end,
            loaded_at: function.loaded_at,
        })
    }

    /// Whether numbers in the file have the most significant byte first.
    pub(crate) fn is_big_endian(&self) -> bool {
        self.header.is_big_endian
    }
}
