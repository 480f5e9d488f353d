//! Asks a package index where a pinned wheel is.
//!
//! Two forms of the "simple" page are understood: JSON, and the older HTML that mirrors serve.
//! Nothing but the address is taken from it; what the index says of hashes decides nothing.

use serde_json::Value;

use crate::error::{Code, Error, Result};
use crate::http::Fetch;
use crate::url;

const JSON: &str = "application/vnd.pypi.simple.v1+json";
const ACCEPT: &str = "application/vnd.pypi.simple.v1+json, text/html;q=0.5";

/// The page of a package with many nightly builds is several megabytes; more than this is no page.
const LONGEST_PAGE: u64 = 256 << 20;

impl Fetch<'_> {
    /// The address of the row's wheel.
    pub(crate) fn locate(&self) -> Result<String> {
        let page = self.page()?;
        let mut response = self.get(&page, &[("accept", ACCEPT.to_owned())])?;
        let status = response.status().as_u16();
        if status != 200 {
            return Err(self.refused(&page, status));
        }
        let kind = response.headers().get("content-type").and_then(|v| v.to_str().ok());
        let is_json =
            kind.is_some_and(|k| k.starts_with(JSON) || k.starts_with("application/json"));
        let body = response.body_mut().with_config().limit(LONGEST_PAGE).read_to_string();
        let (shown, _) = url::take_credentials(&page);
        let text = body.map_err(|e| {
            Error::new(Code::Http, format!("the index page {shown} broke off; try again"))
                .because(e)
        })?;
        let links = if is_json { links_in_json(&text) } else { links_in_html(&text) };
        let wheel = self.row.wheel;
        let link = links.into_iter().find(|(name, _)| name == wheel).ok_or_else(|| {
            let message = format!(
                "the index page {shown} does not list {wheel}; use another index, or put that \
                 file (sha256 {}) at {} by hand",
                self.row.sha256,
                self.settings.by_hand(self.row).display()
            );
            Error::new(Code::NotInIndex, message)
        })?;
        Ok(url::join(&page, &link.1))
    }

    fn page(&self) -> Result<String> {
        let row = self.row;
        let index = match &self.settings.index {
            Some(index) => self.checked(index)?.trim_end_matches('/').to_owned(),
            None => format!("https://{}.org/simple", row.registry.to_lowercase()),
        };
        Ok(format!("{index}/{}/", row.package))
    }

    /// Refuses an address that nobody could be asked at: the network is not to blame then.
    fn checked<'i>(&self, index: &'i str) -> Result<&'i str> {
        let index = index.trim();
        if url::is_http(index) {
            return Ok(index);
        }
        let source = self.settings.index_source.as_deref().unwrap_or("the package index");
        let message = format!(
            "{source} is set to `{}`; expected the address of a package index, which starts with \
             https:// or http://. Correct or remove it, or put {} (sha256 {}) at {} by hand",
            url::without_secrets(index),
            self.row.wheel,
            self.row.sha256,
            self.settings.by_hand(self.row).display()
        );
        Err(Error::new(Code::BadSetting, message))
    }
}

/// File names and links of a page in JSON; nothing when it is not of the expected shape.
fn links_in_json(text: &str) -> Vec<(String, String)> {
    let page: Value = serde_json::from_str(text).unwrap_or_default();
    let files = page["files"].as_array().map(Vec::as_slice).unwrap_or_default();
    let link = |file: &Value| {
        Some((file["filename"].as_str()?.to_owned(), file["url"].as_str()?.to_owned()))
    };
    files.iter().filter_map(link).collect()
}

/// File names and links of a page in HTML. A name is the last part of its link, as the format
/// demands, so the text between the tags is of no interest.
fn links_in_html(text: &str) -> Vec<(String, String)> {
    let mut links = Vec::new();
    for tag in text.split('<').filter(|t| t.starts_with("a ") || t.starts_with("a\n")) {
        let Some(start) = tag.find("href=") else {
            continue;
        };
        let value = &tag[start + "href=".len()..];
        let link = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => value[1..].split(quote).next(),
            _ => value.split([' ', '>']).next(),
        };
        let link = link.unwrap_or_default().replace("&amp;", "&");
        links.push((url::file_name(&link), link));
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_links_in_all_quotings() {
        let page = "<!DOCTYPE html><body><a href=\"../a-1.whl#sha256=00\" data-x>a-1.whl</a>\n\
                    <a data-y='1' href='https://f.example/b-1.whl?k=1&amp;l=2'>b</a>\
                    <a href=c%2B1-1.whl>c</a><abbr href=\"no.whl\">";
        let expected = [
            ("a-1.whl", "../a-1.whl#sha256=00"),
            ("b-1.whl", "https://f.example/b-1.whl?k=1&l=2"),
            ("c+1-1.whl", "c%2B1-1.whl"),
        ];
        let expected: Vec<_> =
            expected.into_iter().map(|(n, l)| (n.to_owned(), l.to_owned())).collect();
        assert_eq!(links_in_html(page), expected);
    }

    #[test]
    fn json_of_another_shape_lists_nothing() {
        assert!(links_in_json("[1]").is_empty());
        assert!(links_in_json("<html>").is_empty());
    }
}
