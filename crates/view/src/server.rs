//! The server: the page, its files, and what it asks for.

use crate::assets::asset;
use crate::guard::{Refusal, Token, check};
use crate::http::{guarded, response, text};
use crate::progress::Progress;
use crate::worker::{Answer, Asker, PAGE, Question};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Response, StatusCode};
use futures::{StreamExt, stream};
use std::convert::Infallible;
use std::net::TcpListener;
use std::time::Duration;

const JSON: &str = "application/json";
const HTML: &str = "text/html; charset=utf-8";

/// So long the page itself waits for the recording to be read; after that it comes without numbers, and tells how far reading is.
const PATIENCE: Duration = Duration::from_millis(1500);

/// What requests are answered from.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) token: Token,
    /// What the recording is called.
    pub(crate) name: String,
    pub(crate) asker: Asker,
    pub(crate) progress: Progress,
}

/// Answers requests until the listener fails.
pub(crate) fn serve(listener: TcpListener, site: Site) -> std::io::Result<()> {
    crate::http::serve(listener, Router::new().fallback(respond).with_state(site))
}

async fn respond(State(site): State<Site>, request: Request) -> Response<Body> {
    guarded(match check(request.method(), request.headers()) {
        Ok(()) => site.answer(request.uri().path(), request.uri().query().unwrap_or_default()).await,
        Err(refusal) => {
            let why = match refusal {
                Refusal::Method => "only GET",
                Refusal::Host | Refusal::Origin => "only from this machine, and from this page",
            };
            text(refusal.status(), why)
        }
    })
}

impl Site {
    async fn answer(&self, path: &str, query: &str) -> Response<Body> {
        // Without the token there is nothing, not even the difference between what is there and what is not.
        let Some(rest) = self.token.rest_of(path) else { return text(StatusCode::NOT_FOUND, "not found") };
        match rest.split_once('/') {
            None if rest.is_empty() => self.page(query),
            Some(("page", name)) => match asset(name) {
                Some(asset) => response(StatusCode::OK, asset.kind, asset.text.into_owned().into_bytes()),
                None => text(StatusCode::NOT_FOUND, "no such file"),
            },
            Some(("data", "progress")) => {
                response(StatusCode::OK, JSON, self.progress.to_json().into_bytes())
            }
            Some(("data", view)) if view != PAGE => self.data(view, query).await,
            _ => text(StatusCode::NOT_FOUND, "not found"),
        }
    }

    /// The page. All but the functions is sent at once: its scripts run, and ask, while the recording is still read.
    fn page(&self, query: &str) -> Response<Body> {
        let (asker, query) = (self.asker.clone(), query.to_owned());
        let rest = async move {
            let question = Question { view: PAGE.to_owned(), query };
            match tokio::time::timeout(PATIENCE, asker.ask(question)).await {
                Ok(Some(Answer::Made(rest))) => rest,
                _ => crate::page::rest("").into_bytes(),
            }
        };
        let begins = futures::future::ready(crate::page::served(&self.name).into_bytes());
        let parts = stream::once(begins).chain(stream::once(rest)).map(Ok::<_, Infallible>);
        response(StatusCode::OK, HTML, Body::from_stream(parts))
    }

    async fn data(&self, view: &str, query: &str) -> Response<Body> {
        let question = Question { view: view.to_owned(), query: query.to_owned() };
        match self.asker.ask(question).await {
            Some(Answer::Made(json)) => response(StatusCode::OK, JSON, json),
            Some(Answer::Wrong(why)) => text(StatusCode::BAD_REQUEST, &why),
            None => text(StatusCode::SERVICE_UNAVAILABLE, "the recording cannot be read"),
        }
    }
}
