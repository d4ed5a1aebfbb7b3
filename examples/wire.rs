//! A layer that prints the payment headers of each exchange, decoded, and the signature cut short.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::HeaderMap;
use reqwest::{Request, Response};
use reqwest_middleware::{Middleware, Next, Result};
use serde_json::Value;

/// Prints what goes over the wire; attach it innermost.
pub(crate) struct Wire;

#[async_trait::async_trait]
impl Middleware for Wire {
    async fn handle(
        &self,
        request: Request,
        extensions: &mut http::Extensions,
        next: Next<'_>,
    ) -> Result<Response> {
        eprintln!("> {} {}", request.method(), request.url().path());
        print('>', "payment-signature", request.headers());
        let response = next.run(request, extensions).await?;
        eprintln!("< {}", response.status());
        for name in ["payment-required", "payment-response", "retry-after"] {
            print('<', name, response.headers());
        }
        Ok(response)
    }
}

fn print(side: char, name: &str, headers: &HeaderMap) {
    let Some(field) = headers.get(name) else {
        return;
    };
    let decoded = STANDARD.decode(field).ok();
    let object = decoded.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    let Some(mut object) = object else {
        eprintln!("{side} {name}: {}", field.to_str().unwrap_or("(not text)"));
        return;
    };
    // whoever reads a signature can cash it
    if let Some(signature) = object.pointer_mut("/payload/signature") {
        let whole = signature.as_str().unwrap_or_default();
        let start = whole.get(..6).unwrap_or_default();
        *signature = Value::from(format!("{start}… ({} characters)", whole.len()));
    }
    eprintln!("{side} {name}: {object:#}");
}
