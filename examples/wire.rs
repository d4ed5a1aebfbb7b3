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

fn print(side: char, name: &str, fields: &HeaderMap) {
    let Some(field) = fields.get(name) else {
        return;
    };
    let decoded = STANDARD.decode(field).ok();
    let object = decoded.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    match object {
        Some(mut object) => {
            cut_signature(&mut object);
            eprintln!("{side} {name}: {object:#}");
        }
        None if side == '<' => {
            eprintln!("{side} {name}: {}", field.to_str().unwrap_or("(not text)"));
        }
        None => eprintln!("{side} {name}: (not decoded)"),
    }
}

/// Whoever reads a signature can cash it.
fn cut_signature(object: &mut Value) {
    let Some(signature) = object.pointer_mut("/payload/signature") else {
        return;
    };
    let text = signature.as_str().unwrap_or_default();
    let start = text.get(..6).unwrap_or_default();
    *signature = format!("{start}… ({} characters)", text.len()).into();
}
