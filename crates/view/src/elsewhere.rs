//! Viewers of others, on the web: they fetch an export from here, and only they may.

use crate::guard::{Refusal, Token, asked_host};
use crate::http::{self, guarded};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, HeaderName, HeaderValue, ORIGIN, VARY,
};
use axum::http::{HeaderMap, Method, Response, StatusCode};
use std::net::TcpListener;
use std::sync::Arc;

/// A viewer that opens what it is given the address of.
#[derive(Clone, Copy, Debug)]
pub struct Viewer {
    /// What users call it; also the name of the format that it reads.
    pub name: &'static str,
    /// Its page.
    pub page: &'static str,
    /// What the served file is called: viewers tell formats by endings.
    file: &'static str,
    /// The only local port that its page may fetch from, if it has such a rule.
    pub port: Option<u16>,
    /// What follows the page's own address to open something: before the address of the file.
    before: &'static str,
    /// Whether that is to be encoded.
    encoded: bool,
}

/// The viewers that are known.
pub const VIEWERS: [Viewer; 3] = [
    Viewer {
        name: "firefox",
        page: "https://profiler.firefox.com/",
        file: "profile.json.gz",
        port: None,
        before: "from-url/",
        encoded: true,
    },
    Viewer {
        name: "speedscope",
        page: "https://www.speedscope.app/",
        file: "profile.speedscope.json",
        port: None,
        before: "#profileURL=",
        encoded: true,
    },
    // The policy of its page names this port, where its own trace processor listens, and no other.
    Viewer {
        name: "perfetto",
        page: "https://ui.perfetto.dev/",
        file: "profile.perfetto-trace",
        port: Some(9001),
        before: "#!/?url=",
        encoded: false,
    },
];

impl Viewer {
    /// The address that opens the file in the viewer; `page` is where the viewer is, `at` (as `127.0.0.1:9001`) where the file is served.
    pub fn address(&self, page: &str, at: &str, token: &Token) -> String {
        let file = format!("http://{at}/{}/{}", token.as_str(), self.file);
        let is_document = page.ends_with('/') || page.ends_with(".html");
        let slash = if is_document { "" } else { "/" };
        match self.encoded {
            true => {
                let encoded: String = form_urlencoded::byte_serialize(file.as_bytes()).collect();
                format!("{page}{slash}{}{encoded}", self.before)
            }
            false => format!("{page}{slash}{}{file}", self.before),
        }
    }
}

/// The origin of a page on the web, as browsers tell it: scheme, host and port. `None` if the address is of no such page.
pub fn origin_of(page: &str) -> Option<&str> {
    let (scheme, rest) = page.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next().filter(|host| !host.is_empty() && !host.contains('@'))?;
    let end = scheme.len() + 3 + host.len();
    matches!(scheme, "http" | "https").then(|| page.get(..end)).flatten()
}

/// What is served to a viewer.
#[derive(Debug)]
pub struct Served<'s> {
    /// Where requests come in.
    pub listener: TcpListener,
    /// The secret part of the address.
    pub token: Token,
    /// Which viewer.
    pub viewer: Viewer,
    /// The origin of its page.
    pub origin: &'s str,
    /// The export.
    pub file: Vec<u8>,
}

/// Serves an export to a viewer until the listener fails.
///
/// # Errors
/// If it fails.
pub fn serve_export(served: Served<'_>) -> std::io::Result<()> {
    let Served { listener, token, viewer, origin, file } = served;
    let shelf = Shelf { token, name: viewer.file, origin: origin.into(), file: file.into() };
    http::serve(listener, Router::new().fallback(respond).with_state(shelf))
}

/// What requests are answered from.
#[derive(Clone, Debug)]
struct Shelf {
    token: Token,
    name: &'static str,
    origin: Arc<str>,
    file: Bytes,
}

async fn respond(State(shelf): State<Shelf>, request: Request) -> Response<Body> {
    guarded(shelf.answer(request.method(), request.headers(), request.uri().path()))
}

impl Shelf {
    fn answer(&self, method: &Method, headers: &HeaderMap, path: &str) -> Response<Body> {
        if self.token.rest_of(path) != Some(self.name) {
            return status(StatusCode::NOT_FOUND);
        }
        if let Err(refusal) = self.check(method, headers) {
            return status(refusal.status());
        }
        // Browsers ask first whether a page on the web may fetch from a private address.
        let is_question = method == Method::OPTIONS;
        let mut response = match is_question {
            true => status(StatusCode::NO_CONTENT),
            false => http::response(StatusCode::OK, "application/octet-stream", self.file.clone()),
        };
        let answered = response.headers_mut();
        if let Ok(origin) = HeaderValue::from_str(&self.origin) {
            answered.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        }
        answered.insert(VARY, HeaderValue::from_static("Origin"));
        if is_question {
            answered.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, HEAD"));
            answered.insert(PRIVATE_NETWORK, HeaderValue::from_static("true"));
        }
        response
    }

    /// Whether it is the viewer that asks, or somebody who knows the address and is no page.
    fn check(&self, method: &Method, headers: &HeaderMap) -> Result<(), Refusal> {
        asked_host((method, headers), &[Method::GET, Method::HEAD, Method::OPTIONS])?;
        match headers.get(ORIGIN).map(|origin| origin.to_str().unwrap_or_default()) {
            Some(origin) if origin == &*self.origin => Ok(()),
            None if method != Method::OPTIONS => Ok(()),
            _ => Err(Refusal::Origin),
        }
    }
}

const PRIVATE_NETWORK: HeaderName = HeaderName::from_static("access-control-allow-private-network");

/// A status and nothing else.
fn status(status: StatusCode) -> Response<Body> {
    http::text(status, status.canonical_reason().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_what_browsers_tell() {
        for (page, origin) in [
            ("https://profiler.firefox.com/", Some("https://profiler.firefox.com")),
            ("http://localhost:8000/index.html#x", Some("http://localhost:8000")),
            ("https://ui.perfetto.dev", Some("https://ui.perfetto.dev")),
            ("ftp://example.com/", None),
            ("example.com", None),
            ("https:///x", None),
            ("https://a@b/", None),
        ] {
            assert_eq!(origin_of(page), origin, "{page}");
        }
    }

    #[test]
    fn addresses_are_those_that_viewers_take() {
        let token = Token::random().unwrap();
        let own = token.as_str();
        let [firefox, speedscope, perfetto] =
            VIEWERS.map(|viewer| viewer.address(viewer.page, "127.0.0.1:9001", &token));
        let encoded = format!("http%3A%2F%2F127.0.0.1%3A9001%2F{own}%2Fprofile");
        assert_eq!(firefox, format!("https://profiler.firefox.com/from-url/{encoded}.json.gz"));
        assert_eq!(speedscope, format!("https://www.speedscope.app/#profileURL={encoded}.speedscope.json"));
        assert_eq!(
            perfetto,
            format!("https://ui.perfetto.dev/#!/?url=http://127.0.0.1:9001/{own}/profile.perfetto-trace")
        );
        let copy = VIEWERS[1].address("http://localhost:8000/copy", "127.0.0.1:1", &token);
        assert!(copy.starts_with("http://localhost:8000/copy/#profileURL="), "{copy}");
    }
}
