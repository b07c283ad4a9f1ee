//! An event as JSON: its attr by the names of the ABI, and what the recording says of it beyond that.

use crate::json::Tree;
use perffile::EventDescription;
use perffile::wire::attr::{AttrFlags, EventAttr};
use perffile::wire::describe::Describe;
use perffile::wire::pass::Fields;
use serde_json::{Map, Value};

/// The event as a JSON object.
pub(super) fn json(event: &EventDescription) -> Value {
    let mut tree = Tree::from(Map::from_iter([("name".to_owned(), Value::from(event.name.as_str()))]));
    describe(&event.attr, &mut tree);
    let mut object = tree.finish();
    // Bytes of attrs newer than this reader; mostly there are none.
    if event.attr.tail.is_empty() {
        object.remove("tail");
    }
    if event.attr.reserved_2 == 0 {
        object.remove("reserved_2");
    }
    object.insert("sample_type_names".into(), event.attr.sample_type.names().into());
    object.insert("read_format_names".into(), event.attr.read_format.names().into());
    object.insert("flag_names".into(), flag_names(event.attr.flags).into());
    if let Some(unit) = &event.unit {
        object.insert("unit".into(), unit.as_str().into());
    }
    if let Some(scale) = event.scale {
        object.insert("scale".into(), scale.into());
    }
    object.insert("ids".into(), event.ids.clone().into());
    Value::Object(object)
}

fn describe(attr: &EventAttr, tree: &mut Tree) {
    let shape = Default::default();
    // Describing an attr cannot fail: it has no counts.
    let _ = attr.clone().fields(&mut Describe::new(tree, &shape, 0));
}

/// Names of the set flags; `precise_ip`, which has two bits, with its value.
pub(super) fn flag_names(flags: AttrFlags) -> Vec<String> {
    let mut names = flags.names();
    names.retain(|name| !name.starts_with("precise_ip"));
    if flags.precise_ip() > 0 {
        names.push(format!("precise_ip={}", flags.precise_ip()));
    }
    names
}
