//! Who may talk to the view: those who know its token, from its own pages.
//!
//! A page of some other site can send requests to an address of this machine, and can give its own name that address (DNS
//! rebinding). It does not know the token; it has another `Origin`; and its name is in `Host`. Each of these alone is refused.

use std::net::IpAddr;

use axum::http::{HeaderMap, HeaderValue, header};

/// The policy of all that is sent: pages run what comes from here alone, and load nothing from anywhere else.
pub(crate) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
     img-src 'self' blob: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// What a request has to be.
#[derive(Debug, Clone)]
pub(crate) struct Guard {
    token: String,
    /// Names of this machine, beside `localhost` and addresses.
    hosts: Vec<String>,
}

impl Guard {
    /// With a token of 128 random bits.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub(crate) fn new(hosts: Vec<String>) -> Result<Self, getrandom::Error> {
        let mut bits = [0; 16];
        getrandom::fill(&mut bits)?;
        let token = bits.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { token, hosts: hosts.iter().map(|host| host.to_ascii_lowercase()).collect() })
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Whether it is the token, which takes as long to say whichever it is.
    pub(crate) fn knows(&self, token: &str) -> bool {
        let differences = token.bytes().zip(self.token.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
        token.len() == self.token.len() && differences == 0
    }

    /// Whether a request was meant for this machine: for an address, which no other name can stand for, or a name of its own.
    pub(crate) fn is_for_us(&self, headers: &HeaderMap) -> bool {
        let Some(host) = only(headers, &header::HOST) else { return false };
        let name = name_of(host).to_ascii_lowercase();
        let address = name.trim_start_matches('[').trim_end_matches(']');
        name == "localhost" || address.parse::<IpAddr>().is_ok() || self.hosts.contains(&name)
    }

    /// Whether a request comes from a page of the view, or from no page at all.
    pub(crate) fn is_from_us(headers: &HeaderMap) -> bool {
        if !headers.contains_key(header::ORIGIN) {
            return true;
        }
        let origin = only(headers, &header::ORIGIN).and_then(|origin| origin.split_once("://"));
        origin.is_some_and(|(scheme, host)| {
            matches!(scheme, "http" | "https") && only(headers, &header::HOST) == Some(host)
        })
    }
}

/// The value of a header that is there once.
fn only<'a>(headers: &'a HeaderMap, name: &header::HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next().map(HeaderValue::to_str)?.ok()?;
    values.next().is_none().then_some(value)
}

/// A host without its port.
fn name_of(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(all: &[(header::HeaderName, &str)]) -> HeaderMap {
        all.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect()
    }

    #[test]
    fn names_of_others_are_refused() {
        let guard = Guard::new(vec!["Rack7".to_owned()]).unwrap();
        let is_for_us = |host: &str| guard.is_for_us(&headers(&[(header::HOST, host)]));
        for ours in
            ["localhost", "localhost:8080", "127.0.0.1:1", "[::1]:80", "[::1]", "10.0.0.7:80", "rack7:9"]
        {
            assert!(is_for_us(ours), "{ours}");
        }
        for other in ["evil.example", "localhost.evil.example:80", "127.0.0.1.evil.example", "rack7.evil", ""]
        {
            assert!(!is_for_us(other), "{other}");
        }
        assert!(!guard.is_for_us(&HeaderMap::new()));
        let mut two = headers(&[(header::HOST, "localhost")]);
        two.append(header::HOST, "evil.example".parse().unwrap());
        assert!(!guard.is_for_us(&two));
    }

    #[test]
    fn pages_of_others_are_refused() {
        let from = |origin: &str| {
            Guard::is_from_us(&headers(&[(header::HOST, "localhost:80"), (header::ORIGIN, origin)]))
        };
        assert!(from("http://localhost:80"));
        for other in [
            "http://localhost:81",
            "http://evil.example",
            "null",
            "file://",
            "http://localhost:80.evil.example",
        ] {
            assert!(!from(other), "{other}");
        }
        assert!(Guard::is_from_us(&headers(&[(header::HOST, "localhost:80")])), "no page");
    }

    #[test]
    fn tokens_are_random_and_whole() {
        let [a, b] = [(), ()].map(|()| Guard::new(Vec::new()).unwrap());
        assert_ne!(a.token(), b.token());
        assert!(a.knows(a.token()));
        for wrong in ["", &a.token()[1..], &format!("{}0", a.token()), b.token()] {
            assert!(!a.knows(wrong), "{wrong}");
        }
    }
}
