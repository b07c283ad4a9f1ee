//! Who is answered: only who knows the address, from a page of this machine.
//!
//! A page of somebody else that is open in the same browser may send requests to 127.0.0.1, and may point a name of its own at
//! it (DNS rebinding). So the address has a random token, requests must be to a name of this machine, and those that a page
//! makes must come from this page.

use axum::http::header::{HOST, HeaderName, HeaderValue, ORIGIN};
use axum::http::{HeaderMap, Method, StatusCode};
use std::fmt;

/// Bytes of a token.
const TOKEN_BYTES: usize = 16;

/// The secret part of the address.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// A new one, from the system's source of random bytes.
    ///
    /// # Errors
    /// If the system gives none.
    pub fn random() -> std::io::Result<Token> {
        let mut bytes = [0; TOKEN_BYTES];
        getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
        Ok(Token(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// As it stands in the address.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the token. How long it takes does not tell how much of it is right.
    fn is(&self, given: &str) -> bool {
        let differs = self.0.bytes().zip(given.bytes()).fold(0, |all, (own, given)| all | (own ^ given));
        differs == 0 && self.0.len() == given.len()
    }

    /// The rest of a path that begins with the token.
    pub(crate) fn rest_of<'p>(&self, path: &'p str) -> Option<&'p str> {
        let (first, rest) = path.strip_prefix('/')?.split_once('/')?;
        self.is(first).then_some(rest)
    }
}

/// A token is not for logs.
impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(…)")
    }
}

/// Why a request is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It is not to a name of this machine.
    Host,
    /// A page from elsewhere made it.
    Origin,
    /// It asks for something to be changed, of which there is nothing.
    Method,
}

impl Refusal {
    /// How it is told.
    pub(crate) fn status(self) -> StatusCode {
        match self {
            Refusal::Method => StatusCode::METHOD_NOT_ALLOWED,
            Refusal::Host | Refusal::Origin => StatusCode::FORBIDDEN,
        }
    }
}

/// Whether a request asks for something by one of some methods, under a name of this machine; which name. The port may be any: people
/// forward it through ssh.
pub(crate) fn asked_host<'h>(
    (method, headers): (&Method, &'h HeaderMap),
    methods: &[Method],
) -> Result<&'h str, Refusal> {
    if !methods.contains(method) {
        return Err(Refusal::Method);
    }
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    host.filter(|host| is_local(host)).ok_or(Refusal::Host)
}

/// Whether a request for the page, or of it, may be answered, if its path is right.
pub(crate) fn check(method: &Method, headers: &HeaderMap) -> Result<(), Refusal> {
    let host = asked_host((method, headers), &[Method::GET, Method::HEAD])?;
    // Browsers tell the origin of what pages fetch from other origins, and say `same-origin` of what they fetch from their own.
    if let Some(origin) = headers.get(ORIGIN) {
        let own = |origin: &str| origin.strip_prefix("http://").is_some_and(|origin| origin == host);
        if !origin.to_str().is_ok_and(own) {
            return Err(Refusal::Origin);
        }
    }
    match headers.get("sec-fetch-site").map(HeaderValue::as_bytes) {
        None | Some(b"same-origin" | b"none") => Ok(()),
        // Who follows a link to the page has its token.
        Some(_) if headers.get("sec-fetch-mode").map(HeaderValue::as_bytes) == Some(b"navigate") => Ok(()),
        Some(_) => Err(Refusal::Origin),
    }
}

/// Whether a `Host` is this machine.
fn is_local(host: &str) -> bool {
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) => (name, Some(port)),
        None => (host, None),
    };
    let is_number = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    matches!(name, "127.0.0.1" | "localhost") && port.is_none_or(is_number)
}

/// What a page may do: show what comes from this server. Nothing in it runs that is not a file of the page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Headers of every answer.
pub(crate) const HEADERS: [(HeaderName, &str); 6] = [
    (HeaderName::from_static("content-security-policy"), POLICY),
    (HeaderName::from_static("x-content-type-options"), "nosniff"),
    (HeaderName::from_static("referrer-policy"), "no-referrer"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cache-control"), "no-store"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(headers: &[(&'static str, &'static str)]) -> Result<(), Refusal> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, HeaderValue::from_static(value));
        }
        check(&Method::GET, &map)
    }

    #[test]
    fn only_names_of_this_machine() {
        for host in ["127.0.0.1", "127.0.0.1:80", "localhost:9000", "localhost"] {
            assert_eq!(asked(&[("host", host)]), Ok(()), "{host}");
        }
        for host in [
            "",
            "example.com",
            "127.0.0.1.example.com",
            "localhost.example.com:80",
            "127.0.0.1:",
            "[::1]:80",
            "0.0.0.0",
        ] {
            assert_eq!(asked(&[("host", host)]), Err(Refusal::Host), "{host}");
        }
        assert_eq!(asked(&[]), Err(Refusal::Host));
    }

    #[test]
    fn only_from_its_own_page() {
        let own = ("host", "localhost:9000");
        assert_eq!(asked(&[own, ("origin", "http://localhost:9000")]), Ok(()));
        for origin in ["http://localhost:9001", "https://localhost:9000", "http://example.com", "null"] {
            assert_eq!(asked(&[own, ("origin", origin)]), Err(Refusal::Origin), "{origin}");
        }
        assert_eq!(asked(&[own, ("sec-fetch-site", "same-origin")]), Ok(()));
        assert_eq!(asked(&[own, ("sec-fetch-site", "cross-site")]), Err(Refusal::Origin));
        let link = [own, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")];
        assert_eq!(asked(&link), Ok(()));
    }

    #[test]
    fn nothing_is_changed() {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_static("localhost"));
        assert_eq!(check(&Method::POST, &headers), Err(Refusal::Method));
        assert_eq!(check(&Method::HEAD, &headers), Ok(()));
    }

    #[test]
    fn a_token_is_whole_or_wrong() {
        let (token, other) = (Token::random().unwrap(), Token::random().unwrap());
        assert_eq!(token.as_str().len(), 2 * TOKEN_BYTES);
        assert_ne!(token.as_str(), other.as_str());
        assert_eq!(token.rest_of(&format!("/{}/data/flame", token.as_str())), Some("data/flame"));
        assert_eq!(token.rest_of(&format!("/{}/", token.as_str())), Some(""));
        for path in
            ["/", "", "//", "/data/flame", &format!("/{}", token.as_str()), &format!("/{}x/", token.as_str())]
        {
            assert_eq!(token.rest_of(path), None, "{path}");
        }
        assert_eq!(token.rest_of(&format!("/{}/", &token.as_str()[1..])), None);
        assert_eq!(token.rest_of(&format!("/{}/", other.as_str())), None);
        assert_eq!(format!("{token:?}"), "Token(…)");
    }
}
