//! The choice of fields, and what is said of a wrong one.

use crate::outcome::wrong_usage;
use crate::suggestion::hint;
use readperf::output::script::{ChoiceError, FieldChoice};

/// What several choices make of the usual fields; a wrong one ends the program.
pub(super) fn choose(choices: &[String]) -> FieldChoice {
    let mut fields = FieldChoice::default();
    for choice in choices {
        if let Err(error) = fields.choose(choice) {
            wrong_usage(&describe(choice, &error));
        }
    }
    fields
}

fn describe(choice: &str, error: &ChoiceError) -> String {
    match error {
        ChoiceError::UnknownField(name) => {
            let names: Vec<&str> = FieldChoice::names().collect();
            format!(
                "no field is called {name:?}{}; there are: {}",
                hint(name, names.iter().copied()),
                names.join(", ")
            )
        }
        ChoiceError::UnknownPrefix(name) => {
            let names: Vec<&str> = FieldChoice::prefixes().collect();
            format!("no kind of event is called {name:?}; there are: {}", names.join(", "))
        }
        ChoiceError::NotShown(name, why) => format!("the field {name} is not shown: {why}"),
        ChoiceError::Invalid { prefix, field } => format!("{prefix} events have no field {field}"),
        ChoiceError::Mixed => {
            format!("{choice}: +name and -name change the usual fields, plain names replace them: use one")
        }
    }
}
