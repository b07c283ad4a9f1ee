//! The tables of a thread: stacks as a tree of frames, frames as places in functions, functions, symbols and binaries.
//!
//! The processed format wants each thread to have its own; only the texts and the binaries are shared.

use super::categories::Category;
use super::libraries::Shared;
use crate::export::Export;
use crate::export::json::JsonWriter;
use crate::text::{decoded, printable};
use readperf_profile::{AddressId, Apart, FrameId, FrameTable, FunctionId, SampleRow, StackId};
use readperf_session::BinaryId;
use rustc_hash::FxHashMap;

/// A frame.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// Address in the binary; `None` where there is no binary.
    address: Option<u64>,
    /// How deep it is inlined: 0 for the real function.
    depth: u32,
    category: Category,
    function: u32,
    symbol: Option<u32>,
    line: u32,
}

/// A function.
#[derive(Clone, Copy, Debug)]
struct Func {
    name: u32,
    resource: Option<u32>,
    file: Option<u32>,
}

/// The symbol that covers an address.
#[derive(Clone, Copy, Debug)]
struct Symbol {
    library: u32,
    address: u64,
    name: u32,
    /// In bytes; 0 if not known.
    size: u64,
}

/// Numbers by index, of which few are set at a time.
#[derive(Debug, Default)]
struct Numbers {
    list: Vec<u32>,
    set: Vec<u32>,
}

/// Stands for none.
const UNSET: u32 = u32::MAX;

/// Marks an address with several frames: how many it has is asked for these alone.
const SEVERAL: u32 = 1 << 31;

impl Numbers {
    fn new(len: usize) -> Self {
        Numbers { list: vec![UNSET; len], set: Vec::new() }
    }

    fn get(&self, index: usize) -> Option<u32> {
        self.list.get(index).copied().filter(|number| *number != UNSET)
    }

    fn set(&mut self, index: usize, number: u32) {
        if let (Some(place), Ok(index)) = (self.list.get_mut(index), u32::try_from(index)) {
            *place = number;
            self.set.push(index);
        }
    }

    fn clear(&mut self) {
        for index in self.set.drain(..) {
            if let Some(place) = self.list.get_mut(index as usize) {
                *place = UNSET;
            }
        }
    }
}

/// The tables of the thread at hand.
#[derive(Debug)]
pub(super) struct Tables<'x> {
    export: Export<'x>,
    /// Stacks of the profile by number: the stack here whose innermost frame is theirs.
    of_stack: Numbers,
    /// Places that are a whole stack.
    of_lone_place: FxHashMap<AddressId, u32>,
    /// Frames that are words of ours, by their text.
    of_label: FxHashMap<String, u32>,
    /// Stacks that end without a CPU, by the stack below and why.
    of_off_cpu: FxHashMap<(u32, &'static str), u32>,
    /// The stack below all others, if any.
    root: Option<u32>,
    /// Addresses by number: their outermost frame, with [`SEVERAL`] if others follow.
    of_address: Numbers,
    /// A function has one file in this format.
    unique_frames: FrameTable,
    /// Frames of the profile by number: the function here.
    of_frame: Numbers,
    of_symbol: FxHashMap<FunctionId, u32>,
    of_resource: FxHashMap<BinaryId, u32>,
    /// Frame and caller of each stack.
    stacks: Vec<(u32, Option<u32>)>,
    frames: Vec<Frame>,
    functions: Vec<Func>,
    symbols: Vec<Symbol>,
    /// Library and name.
    resources: Vec<(u32, u32)>,
    pending: Vec<StackId>,
}

impl<'x> Tables<'x> {
    pub(super) fn new(export: Export<'x>) -> Self {
        let unique_frames = export.frame_table(Apart { files: true, ..Apart::default() });
        Tables {
            export,
            of_stack: Numbers::new(export.profile.stacks().nodes().len()),
            of_lone_place: FxHashMap::default(),
            of_label: FxHashMap::default(),
            of_off_cpu: FxHashMap::default(),
            root: None,
            of_address: Numbers::new(export.profile.addresses().len()),
            of_frame: Numbers::new(unique_frames.frames().len()),
            unique_frames,
            of_symbol: FxHashMap::default(),
            of_resource: FxHashMap::default(),
            stacks: Vec::new(),
            frames: Vec::new(),
            functions: Vec::new(),
            symbols: Vec::new(),
            resources: Vec::new(),
            pending: Vec::new(),
        }
    }

    /// Empties the tables for the next thread.
    pub(super) fn clear(&mut self) {
        self.of_stack.clear();
        self.of_lone_place.clear();
        self.of_label.clear();
        self.of_off_cpu.clear();
        self.root = None;
        self.of_address.clear();
        self.of_frame.clear();
        self.of_symbol.clear();
        self.of_resource.clear();
        self.stacks.clear();
        self.frames.clear();
        self.functions.clear();
        self.symbols.clear();
        self.resources.clear();
    }

    /// The stack of a row.
    pub(super) fn stack(&mut self, row: &SampleRow, shared: &mut Shared) -> Option<u32> {
        if row.stack == StackId::EMPTY {
            if let Some(known) = self.of_lone_place.get(&row.address) {
                return Some(*known);
            }
            let stack = self.push_place(self.root, row.address, shared)?;
            self.of_lone_place.insert(row.address, stack);
            return Some(stack);
        }
        // Down to what is known, then up again.
        self.pending.clear();
        let (mut here, mut caller) = (row.stack, self.root);
        while let Some(index) = here.index() {
            if let Some(known) = self.of_stack.get(index) {
                caller = Some(known);
                break;
            }
            self.pending.push(here);
            here = self.export.profile.stacks().node(here).map_or(StackId::EMPTY, |node| node.parent);
        }
        while let Some(next) = self.pending.pop() {
            let node = self.export.profile.stacks().node(next)?;
            caller = self.push_place(caller, node.address, shared);
            if let (Some(index), Some(stack)) = (next.index(), caller) {
                self.of_stack.set(index, stack);
            }
        }
        caller
    }

    /// A stack that is another one and the frames of a place on top; the real function is the outermost of these.
    fn push_place(&mut self, caller: Option<u32>, address: AddressId, shared: &mut Shared) -> Option<u32> {
        let known = self.of_address.get(address.index());
        let marked = known.unwrap_or_else(|| self.push_frames(address, shared));
        let (first, mut caller) = (marked & !SEVERAL, caller);
        let count = if marked == first { 1 } else { self.frames_at(address) };
        for frame in first..first.saturating_add(count) {
            caller = Some(self.push_stack(frame, caller));
        }
        caller
    }

    fn frames_at(&self, address: AddressId) -> u32 {
        number(self.export.profile.names().frames_at(address).len())
    }

    /// From here on, stacks begin with a frame of this text.
    pub(super) fn begin_below(&mut self, text: &str, shared: &mut Shared) {
        self.of_stack.clear();
        self.of_lone_place.clear();
        let frame = self.label(text, Category::Other, shared);
        self.root = Some(self.push_stack(frame, None));
    }

    /// The stack of a row, and a frame on top that says why the thread had no CPU there.
    pub(super) fn off_cpu_stack(
        &mut self,
        row: &SampleRow,
        why: &'static str,
        shared: &mut Shared,
    ) -> Option<u32> {
        let stack = self.stack(row, shared)?;
        if let Some(known) = self.of_off_cpu.get(&(stack, why)) {
            return Some(*known);
        }
        let frame = self.label(&format!("[off CPU: {why}]"), Category::OffCpu, shared);
        let top = self.push_stack(frame, Some(stack));
        self.of_off_cpu.insert((stack, why), top);
        Some(top)
    }

    /// A frame that is a word of ours: no code has it.
    fn label(&mut self, text: &str, category: Category, shared: &mut Shared) -> u32 {
        if let Some(known) = self.of_label.get(text) {
            return *known;
        }
        let function = number(self.functions.len());
        self.functions.push(Func { name: shared.strings.number(text), resource: None, file: None });
        let frame = number(self.frames.len());
        self.frames.push(Frame { address: None, depth: 0, category, function, symbol: None, line: 0 });
        self.of_label.insert(text.to_owned(), frame);
        frame
    }

    fn push_stack(&mut self, frame: u32, caller: Option<u32>) -> u32 {
        self.stacks.push((frame, caller));
        number(self.stacks.len()).saturating_sub(1)
    }

    /// Adds the frames of an address; says which is the outermost, [marked](SEVERAL) if there are others.
    fn push_frames(&mut self, address: AddressId, shared: &mut Shared) -> u32 {
        let first = number(self.frames.len());
        let export = self.export;
        let code = export.profile.addresses().get(address);
        let binary = code.and_then(|code| code.binary);
        let relative = code.and_then(|code| Some(shared.images.relative(code.binary?, code.address)));
        let category = Category::of(export.kind(address));
        let real = export.profile.names().piece_at(address);
        let symbol = binary.zip(real).and_then(|(binary, real)| self.symbol(binary, real, shared));
        // The outermost comes first.
        for ((nr, level), depth) in export.levels_at(address).enumerate().rev().zip(0u32..) {
            let Some(unique) = self.unique_frames.at(address).get(nr).copied() else { continue };
            let function = self.function(unique, binary, shared);
            self.frames.push(Frame {
                address: relative,
                depth,
                category,
                function,
                symbol,
                line: level.line,
            });
        }
        let is_one = self.frames.len() - first as usize == 1;
        let marked = if is_one { first } else { first | SEVERAL };
        self.of_address.set(address.index(), marked);
        marked
    }

    fn function(&mut self, id: FrameId, binary: Option<BinaryId>, shared: &mut Shared) -> u32 {
        if let Some(known) = self.of_frame.get(id.index()) {
            return known;
        }
        let index = number(self.functions.len());
        self.of_frame.set(id.index(), index);
        let unique = self.unique_frames.frames().get(id.index());
        let level = unique.map(|unique| unique.first);
        let function = level.and_then(|level| self.export.profile.function(level.function));
        let label = unique.map(|unique| self.export.label(unique)).unwrap_or_default();
        let name = shared.strings.number(&printable(&label));
        let file = level.and_then(|level| level.file).and_then(|file| self.export.profile.names().file(file));
        let file = file.or(function.and_then(|function| function.source_file()));
        let file = file.map(|file| shared.strings.number(&printable(file)));
        let resource = binary.and_then(|binary| self.resource(binary, shared));
        self.functions.push(Func { name, resource, file });
        index
    }

    fn symbol(&mut self, binary: BinaryId, function: FunctionId, shared: &mut Shared) -> Option<u32> {
        if let Some(known) = self.of_symbol.get(&function) {
            return Some(*known);
        }
        let description = self.export.profile.function(function)?;
        let name = shared.strings.number(&printable(description.name()?));
        let library = shared.library(&self.export, binary)?;
        let address = shared.images.relative(binary, description.address);
        let index = number(self.symbols.len());
        self.symbols.push(Symbol { library, address, name, size: description.size() });
        self.of_symbol.insert(function, index);
        Some(index)
    }

    fn resource(&mut self, binary: BinaryId, shared: &mut Shared) -> Option<u32> {
        if let Some(known) = self.of_resource.get(&binary) {
            return Some(*known);
        }
        let library = shared.library(&self.export, binary)?;
        let short_name = &self.export.session.binary(binary)?.short_name;
        let name = shared.strings.number(&printable(&decoded(short_name)));
        let index = number(self.resources.len());
        self.resources.push((library, name));
        self.of_resource.insert(binary, index);
        Some(index)
    }

    /// Writes the tables, as fields of the thread.
    pub(super) fn write(&self, json: &mut JsonWriter<'_>) {
        json.key("stackTable").object(|json| {
            json.list("frame", self.stacks.iter().map(|(frame, _)| frame));
            json.list("prefix", self.stacks.iter().map(|(_, caller)| caller));
            json.field("length", self.stacks.len());
        });
        json.key("frameTable").object(|json| self.write_frames(json));
        json.key("funcTable").object(|json| {
            let all = |json: &mut JsonWriter<'_>, key: &str, value: Option<bool>| {
                json.list(key, self.functions.iter().map(|_| value));
            };
            json.list("name", self.functions.iter().map(|function| function.name));
            all(json, "isJS", Some(false));
            all(json, "relevantForJS", Some(false));
            let resource = |function: &Func| function.resource.map_or(-1, i64::from);
            json.list("resource", self.functions.iter().map(resource));
            json.list("fileName", self.functions.iter().map(|function| function.file));
            all(json, "lineNumber", None);
            all(json, "columnNumber", None);
            json.field("length", self.functions.len());
        });
        json.key("resourceTable").object(|json| {
            json.list("lib", self.resources.iter().map(|(library, _)| library));
            json.list("name", self.resources.iter().map(|(_, name)| name));
            json.list("host", self.resources.iter().map(|_| None::<u32>));
            // 1 is the kind of a library.
            json.list("type", self.resources.iter().map(|_| 1));
            json.field("length", self.resources.len());
        });
        json.key("nativeSymbols").object(|json| {
            json.list("libIndex", self.symbols.iter().map(|symbol| symbol.library));
            json.list("address", self.symbols.iter().map(|symbol| symbol.address));
            json.list("name", self.symbols.iter().map(|symbol| symbol.name));
            let size = |symbol: &Symbol| (symbol.size > 0).then_some(symbol.size);
            json.list("functionSize", self.symbols.iter().map(size));
            json.field("length", self.symbols.len());
        });
    }

    fn write_frames(&self, json: &mut JsonWriter<'_>) {
        let frames = || self.frames.iter();
        json.key("address").array(|json| {
            frames().for_each(|frame| match frame.address {
                Some(address) => json.value(address),
                None => json.value(-1),
            });
        });
        json.list("inlineDepth", frames().map(|frame| frame.depth));
        json.list("category", frames().map(|frame| frame.category.index()));
        json.list("subcategory", frames().map(|_| 0));
        json.list("func", frames().map(|frame| frame.function));
        json.list("nativeSymbol", frames().map(|frame| frame.symbol));
        json.list("innerWindowID", frames().map(|_| 0));
        json.list("line", frames().map(|frame| (frame.line > 0).then_some(frame.line)));
        json.list("column", frames().map(|_| None::<u32>));
        json.field("length", self.frames.len());
    }
}

/// Memory is at its end long before the numbers are.
fn number(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
