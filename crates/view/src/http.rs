//! What both servers do: requests in one thread, answers with the headers that every answer has.

use crate::guard::HEADERS;
use axum::Router;
use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Response, StatusCode};
use std::net::TcpListener;

const TEXT: &str = "text/plain; charset=utf-8";

/// Answers requests until the listener fails.
pub(crate) fn serve(listener: TcpListener, router: Router) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        listener.set_nonblocking(true)?;
        axum::serve(tokio::net::TcpListener::from_std(listener)?, router).await
    })
}

/// An answer as it is sent.
pub(crate) fn guarded(mut response: Response<Body>) -> Response<Body> {
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// A line of text.
pub(crate) fn text(status: StatusCode, text: &str) -> Response<Body> {
    response(status, TEXT, text.as_bytes().to_vec())
}

/// Some bytes of a kind.
pub(crate) fn response(status: StatusCode, kind: &'static str, body: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
