//! reqwest clients with the settings that paying needs.

use reqwest::redirect::Policy;

/// Returns reqwest's own builder with the settings that the layers rely on: no redirects, none of
/// reqwest's own retries, no `Referer`.
///
/// A client that follows redirects hands a signed payment to wherever the seller points, and a
/// client that retries by itself sends without being counted. Set everything else as you like;
/// TLS is chosen by cargo features.
///
/// ```
/// # fn main() -> Result<(), reqwest::Error> {
/// let client = paywait::client_builder().user_agent("agent/1").build()?;
/// # drop(client); Ok(()) }
/// ```
pub fn client_builder() -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .redirect(Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
}

/// Returns a client with the settings that the layers rely on, and reqwest's defaults else.
///
/// # Errors
///
/// Those of [`reqwest::ClientBuilder::build`]: a TLS backend or the system's resolver failed.
pub fn http_client() -> reqwest::Result<reqwest::Client> {
    client_builder().build()
}
