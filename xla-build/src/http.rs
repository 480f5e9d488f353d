//! GET requests, with the system's certificates and proxies.

use std::io;
use std::thread;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use ureq::tls::{RootCerts, TlsConfig};

use crate::error::{Code, Error, Result};
use crate::manifest::Row;
use crate::settings::{Proxy, Settings};
use crate::url;

/// How often something is tried that fails in a way that often passes by itself.
pub(crate) const TRIES: u32 = 3;

/// Waits after the given number of failures in a row: a moment, then a longer one.
pub(crate) fn pause(failures: u32) {
    thread::sleep(Duration::from_millis(300) * 3_u32.pow(failures.saturating_sub(1)));
}

pub(crate) type Response = ureq::http::Response<ureq::Body>;

/// What it takes to ask for a row's wheel, and to say where to put it when nobody answers.
pub(crate) struct Fetch<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) row: &'a Row,
    agent: ureq::Agent,
}

impl<'a> Fetch<'a> {
    pub(crate) fn new(settings: &'a Settings, row: &'a Row) -> Result<Fetch<'a>> {
        let certificates = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
        let mut config = ureq::Agent::config_builder()
            .tls_config(certificates)
            .http_status_as_error(false)
            .user_agent(concat!("xla-build/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(Some(Duration::from_secs(30)))
            // Time without a byte, not for the whole: a slow line may take hours.
            .timeout_per_read(Some(Duration::from_secs(60)));
        config = match &settings.proxy {
            Proxy::FromEnvironment => config,
            Proxy::Direct => config.proxy(None),
            Proxy::Url(proxy) => {
                let proxy = ureq::Proxy::new(proxy).map_err(|e| {
                    Error::new(Code::Http, format!("cannot use the proxy {proxy}")).because(e)
                })?;
                config.proxy(Some(proxy))
            }
        };
        Ok(Fetch { settings, row, agent: config.build().into() })
    }

    /// Asks for a URL with some headers. Blocks until the answer's headers are there. Asks again
    /// where the server fails or drops the connection, a few times.
    pub(crate) fn get(&self, url: &str, headers: &[(&str, String)]) -> Result<Response> {
        let mut failures = 0;
        loop {
            let answer = self.ask(url, headers);
            let may_pass = match &answer {
                Ok(response) => response.status().is_server_error(),
                Err(error) => is_broken(error),
            };
            failures += 1;
            if !may_pass || failures == TRIES {
                return answer.map_err(|e| self.unreachable(&url::take_credentials(url).0, e));
            }
            pause(failures);
        }
    }

    fn ask(&self, url: &str, headers: &[(&str, String)]) -> Result<Response, ureq::Error> {
        let (bare, credentials) = url::take_credentials(url);
        let mut request = self.agent.get(&bare);
        if let Some((name, password)) = credentials {
            let token = BASE64_STANDARD.encode(format!("{name}:{password}"));
            request = request.header("authorization", format!("Basic {token}"));
        }
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        request.call()
    }

    /// An answer other than the file.
    pub(crate) fn refused(&self, url: &str, status: u16) -> Error {
        let (bare, _) = url::take_credentials(url);
        let row = self.row;
        let advice = match status {
            401 | 403 | 407 => "check the index's and the proxy's credentials",
            404 | 410 => "check the index that pip and uv are set to use",
            _ => "try again later",
        };
        let message = format!(
            "{bare} answered with status {status}{}, expected {}; {advice}, or put the file at {} \
             by hand",
            if status >= 500 { format!(" {TRIES} times") } else { String::new() },
            row.wheel,
            self.settings.by_hand(row).display()
        );
        Error::new(Code::Http, message)
    }

    fn unreachable(&self, url: &str, cause: ureq::Error) -> Error {
        let row = self.row;
        let message = format!(
            "cannot reach {url} for {}; check the network (HTTPS_PROXY names a proxy, \
             SSL_CERT_FILE more certificates), or put that file (sha256 {}) at {} by hand and run \
             this again",
            row.wheel,
            row.sha256,
            self.settings.by_hand(row).display()
        );
        Error::new(Code::Offline, message).because(cause)
    }
}

/// Whether a server was there and let go of the connection.
fn is_broken(error: &ureq::Error) -> bool {
    use io::ErrorKind as Kind;
    let ureq::Error::Io(error) = error else { return false };
    matches!(
        error.kind(),
        Kind::ConnectionReset | Kind::ConnectionAborted | Kind::BrokenPipe | Kind::UnexpectedEof
    )
}
