//! What goes wrong with a store, in a sentence. What stores answer is not handed on: some repeat what the request was signed with.

use super::address::Address;
use datafusion::error::DataFusionError;
use object_store::Error;
use std::fmt::{self, Display, Formatter};

/// What is wrong with a place in an object store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Told(pub(crate) String);

impl Display for Told {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Told {}

impl Told {
    /// What an error of a store says about an address.
    pub(super) fn of(error: &Error, address: &Address) -> Told {
        let text = error.to_string();
        let code = between(&text, "<Code>", "</Code>");
        let in_words = match (error, code) {
            (_, Some("NoSuchBucket")) => {
                return Told(format!("s3://{}: there is no such bucket", address.bucket));
            }
            (Error::NotFound { .. }, _) => "nothing is there".to_owned(),
            (Error::PermissionDenied { .. } | Error::Unauthenticated { .. }, code) => format!(
                "refused{}: the credentials in the environment do not allow it",
                code.map(|code| format!(" ({code})")).unwrap_or_default()
            ),
            (_, Some(code)) => format!("the store answers {code}"),
            (error, None) => match between(&text, "status code: ", ":") {
                Some(status) => format!("the store answers {status}"),
                None => innermost(error),
            },
        };
        Told(format!("{address}: {in_words}"))
    }

    /// The sentence that a bucket says already; what breaks off on the way is told here.
    pub(super) fn by(error: &Error, address: &Address) -> Told {
        let told = std::error::Error::source(error).and_then(|source| source.downcast_ref::<Told>());
        told.cloned().unwrap_or_else(|| Told::of(error, address))
    }

    /// The error that a store hands on.
    pub(super) fn into_error(self, of: &Error) -> Error {
        match of {
            // Whoever asks may go on to look elsewhere.
            Error::NotFound { path, .. } => Error::NotFound { path: path.clone(), source: Box::new(self) },
            _ => Error::from(self),
        }
    }
}

impl From<Told> for Error {
    fn from(told: Told) -> Error {
        Error::Generic { store: "S3", source: Box::new(told) }
    }
}

impl From<Told> for DataFusionError {
    fn from(told: Told) -> DataFusionError {
        DataFusionError::External(Box::new(told))
    }
}

fn between<'t>(text: &'t str, start: &str, end: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(start)?;
    Some(rest.split_once(end)?.0)
}

/// What the system says, if it says anything, else what stands at the end of the chain of causes.
fn innermost(error: &Error) -> String {
    let mut cause: &(dyn std::error::Error + 'static) = error;
    loop {
        if let Some(system) =
            cause.downcast_ref::<std::io::Error>().filter(|error| error.raw_os_error().is_some())
        {
            return format!("the store does not answer: {system}");
        }
        match cause.source() {
            Some(next) => cause = next,
            None => return format!("the store does not answer: {cause}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn told(error: &Error) -> String {
        Told::of(error, &Address::of(Path::new("s3://b/x.data")).unwrap().unwrap()).0
    }

    fn generic(text: &str) -> Error {
        Error::Generic { store: "S3", source: text.into() }
    }

    #[test]
    fn answers_are_not_repeated() {
        let body = "Server returned non-2xx status code: 403 Forbidden: <Error><Code>InvalidAccessKeyId</Code><AWSAccessKeyId>AKIA</AWSAccessKeyId></Error>";
        let refused = Error::PermissionDenied { path: "x.data".to_owned(), source: body.into() };
        assert_eq!(
            told(&refused),
            "s3://b/x.data: refused (InvalidAccessKeyId): the credentials in the environment do not allow it"
        );
        assert_eq!(told(&generic(body)), "s3://b/x.data: the store answers InvalidAccessKeyId");
        let busy = generic("Server returned non-2xx status code: 503 Service Unavailable: AKIA");
        assert_eq!(told(&busy), "s3://b/x.data: the store answers 503 Service Unavailable");
    }

    #[test]
    fn what_is_missing_is_told_apart() {
        let missing = |body: &str| Error::NotFound { path: "x.data".to_owned(), source: body.into() };
        assert_eq!(told(&missing("404")), "s3://b/x.data: nothing is there");
        assert_eq!(told(&missing("<Code>NoSuchBucket</Code>")), "s3://b: there is no such bucket");
    }

    #[test]
    fn what_the_system_says_is_said() {
        let away = std::io::Error::from_raw_os_error(111);
        let error = Error::Generic { store: "S3", source: Box::new(away) };
        assert_eq!(
            told(&error),
            "s3://b/x.data: the store does not answer: Connection refused (os error 111)"
        );
    }
}
