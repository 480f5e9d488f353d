//! The little of URLs that reading an index takes.

use ureq::http::Uri;

/// Resolves what a page at `base` links to. A fragment is dropped. A link to the page's own host
/// keeps the page's credentials, as pip does for private indexes.
pub(crate) fn join(base: &str, link: &str) -> String {
    let link = link.split('#').next().unwrap_or(link);
    let (scheme, rest) = base.split_once("://").unwrap_or(("https", base));
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    if let Some((link_scheme, link_rest)) = link.split_once("://") {
        let (link_authority, link_path) = link_rest.split_once('/').unwrap_or((link_rest, ""));
        let same = link_scheme == scheme && link_authority == without_credentials(authority);
        let authority = if same { authority } else { link_authority };
        return format!("{link_scheme}://{authority}/{link_path}");
    }
    if let Some(rest) = link.strip_prefix("//") {
        return format!("{scheme}://{rest}");
    }
    if let Some(path) = link.strip_prefix('/') {
        return format!("{scheme}://{authority}/{path}");
    }
    let path = path.split('?').next().unwrap_or(path);
    let mut segments: Vec<&str> = path.split('/').collect();
    segments.pop();
    for segment in link.split('/') {
        match segment {
            "." => {}
            ".." => drop(segments.pop()),
            other => segments.push(other),
        }
    }
    format!("{scheme}://{authority}/{}", segments.join("/"))
}

/// The decoded last part of a path, without query and fragment.
pub(crate) fn file_name(url: &str) -> String {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    percent_decode(path.rsplit('/').next().unwrap_or(path))
}

/// The URL without user name and password, and those two if there are any.
pub(crate) fn take_credentials(url: &str) -> (String, Option<(String, String)>) {
    let Some((scheme, rest)) = url.split_once("://") else {
        return (url.to_owned(), None);
    };
    let end = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let bare = format!("{scheme}://{}{path}", without_credentials(authority));
    let credentials = authority.rsplit_once('@').map(|(user, _)| {
        let (name, password) = user.split_once(':').unwrap_or((user, ""));
        (percent_decode(name), percent_decode(password))
    });
    (bare, credentials)
}

/// Whether this is an address that a GET request can be sent to.
pub(crate) fn is_http(url: &str) -> bool {
    let parsed = take_credentials(url).0.parse::<Uri>();
    parsed.is_ok_and(|uri| {
        matches!(uri.scheme_str(), Some("http" | "https"))
            && uri.host().is_some_and(|host| !host.is_empty())
    })
}

/// What may be shown of a text that should be a URL: all but what looks like credentials.
pub(crate) fn without_secrets(text: &str) -> String {
    let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
    match rest.rsplit_once('@') {
        None => text.to_owned(),
        Some((_, rest)) if scheme.is_empty() => format!("***@{rest}"),
        Some((_, rest)) => format!("{scheme}://***@{rest}"),
    }
}

fn without_credentials(authority: &str) -> &str {
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

fn percent_decode(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_resolve_against_their_page() {
        let check = |link: &str, expected: &str| {
            assert_eq!(join("https://u:p@index.example/simple/pkg/", link), expected, "{link}");
        };
        check("https://files.example/a.whl#sha256=0", "https://files.example/a.whl");
        check("https://index.example/a.whl", "https://u:p@index.example/a.whl");
        check("//files.example/a.whl", "https://files.example/a.whl");
        check("/files/a.whl", "https://u:p@index.example/files/a.whl");
        check("a.whl", "https://u:p@index.example/simple/pkg/a.whl");
        check("../../files/./a.whl", "https://u:p@index.example/files/a.whl");
    }

    #[test]
    fn names_are_decoded() {
        assert_eq!(file_name("../a%2Bb-1.whl?x=/y#z"), "a+b-1.whl");
        assert_eq!(file_name("100%.whl"), "100%.whl");
    }

    #[test]
    fn credentials_are_taken_out() {
        let (url, credentials) = take_credentials("https://me:p%40ss@index.example/simple/");
        assert_eq!(url, "https://index.example/simple/");
        assert_eq!(credentials, Some(("me".to_owned(), "p@ss".to_owned())));
        let plain = "https://index.example/@x";
        assert_eq!(take_credentials(plain), (plain.to_owned(), None));
    }

    #[test]
    fn only_addresses_of_servers_can_be_asked() {
        let check = |url: &str, expected: bool| assert_eq!(is_http(url), expected, "{url}");
        check("https://index.example/simple", true);
        check("http://me:p%40ss@127.0.0.1:8080/simple", true);
        check("HTTPS://index.example", true);
        for bad in ["", "index.example/simple", "file:///srv/index", "https://", "https:///simple"]
        {
            check(bad, false);
        }
        check("ftp://index.example/simple", false);
        check("http://two words/simple", false);
    }

    #[test]
    fn nothing_secret_is_shown() {
        assert_eq!(without_secrets("me:secret@index.example/x"), "***@index.example/x");
        assert_eq!(without_secrets("ftp://me:s@cret@index.example"), "ftp://***@index.example");
        assert_eq!(without_secrets("garbage"), "garbage");
    }
}
