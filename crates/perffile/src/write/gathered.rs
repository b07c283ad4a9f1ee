//! What a recording says of itself as a whole, gathered while its records are read: for recordings that are made of it.

use super::edit::Unchanged;
use super::head::Head;
use super::told::{Told, is_told_by_file};
use crate::error::Result;
use crate::event::Event;
use crate::issue::Issues;
use crate::metadata::{Container, Metadata};
use crate::wire::endian::ByteOrder;
use crate::wire::feature::bit;
use crate::wire::record::kind;

/// Gathers the [`Head`] of a recording that is read, for recordings that are made of its records.
#[derive(Debug)]
pub struct Gathered {
    told: Told,
    is_pipe: bool,
    /// Of a pipe: whether no record has come yet but those that are about the recording as a whole.
    is_beginning: bool,
}

impl Gathered {
    /// Before the first record of a recording.
    pub fn new(from: &Metadata) -> Gathered {
        let is_pipe = from.container == Container::Pipe;
        Gathered { told: Told::default(), is_pipe, is_beginning: is_pipe }
    }

    /// Takes a record that is no record of a file: one that a file has a table or a section for, and one that only holds
    /// compressed ones. Says whether it was one.
    pub fn takes(&mut self, event: &Event<'_>) -> bool {
        let number = event.head().kind;
        if matches!(event.schema().dialect().decoded_as(number), kind::COMPRESSED | kind::COMPRESSED2) {
            return !event.was_compressed();
        }
        if !self.is_pipe {
            return false;
        }
        if is_told_by_file(event, self.is_beginning) {
            self.told.learn(event);
            return true;
        }
        self.is_beginning = false;
        false
    }

    /// What the recording says, now that all of its records were read, in this byte order, and what of it cannot be said. How its
    /// records were packed, and where in it AUX traces lie, is not part of it.
    ///
    /// # Errors
    /// A feature that cannot be written.
    pub fn head(mut self, from: &Metadata, order: ByteOrder) -> Result<(Head, Issues)> {
        let (mut head, mut left_out) = (Head::new(order), Issues::default());
        self.told.put(from, &mut head, &mut Unchanged, &mut left_out)?;
        for packing in [bit::COMPRESSED, bit::DIR_FORMAT, bit::AUXTRACE] {
            head.features.remove(packing);
        }
        Ok((head, left_out))
    }
}
