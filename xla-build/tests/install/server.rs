//! A package index with one file, on a port of this machine, with the faults that tests ask for.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

/// How the index page is written.
#[derive(Clone, Copy)]
pub(crate) enum Page {
    Json,
    Html,
    Status(u16),
}

/// How a request fails before it is looked at.
#[derive(Clone, Copy)]
pub(crate) enum Fault {
    No,
    Status(u16),
    /// The connection is reset.
    Reset,
}

/// What the server has and how it behaves.
#[derive(Clone)]
pub(crate) struct Content {
    pub(crate) page: Page,
    /// The name and the link of the listed file.
    pub(crate) name: String,
    pub(crate) link: String,
    pub(crate) body: Vec<u8>,
    /// Whether `Range` is understood.
    pub(crate) ranges: bool,
    /// What goes wrong with the requests to come, the index page's included, one after another.
    pub(crate) faults: Vec<Fault>,
    /// For each request of the file, how many bytes are sent before the connection breaks.
    pub(crate) cuts: Vec<usize>,
    /// Sends half of the file, and the rest when the gate opens.
    pub(crate) gate: Option<Arc<Gate>>,
}

/// Opens once. Waiting gives up after ten seconds, so that no test hangs.
#[derive(Default)]
pub(crate) struct Gate {
    open: Mutex<bool>,
    changed: Condvar,
}

impl Gate {
    pub(crate) fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.changed.notify_all();
    }

    fn wait(&self) {
        let guard = self.open.lock().unwrap();
        let _ = self.changed.wait_timeout_while(guard, Duration::from_secs(10), |open| !*open);
    }
}

/// Stops when dropped.
pub(crate) struct Server {
    address: SocketAddr,
    state: Arc<State>,
}

struct State {
    content: Mutex<Content>,
    log: Mutex<Vec<String>>,
    stop: AtomicBool,
}

impl Server {
    pub(crate) fn start(content: Content) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State {
            content: Mutex::new(content),
            log: Mutex::default(),
            stop: AtomicBool::new(false),
        });
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if shared.stop.load(Ordering::Relaxed) {
                    break;
                }
                let shared = Arc::clone(&shared);
                thread::spawn(move || serve(stream, &shared));
            }
        });
        Server { address, state }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut Content)) {
        change(&mut self.state.content.lock().unwrap());
    }

    /// Every request so far: `<path>`, and the value of `Range` if there was one.
    pub(crate) fn log(&self) -> Vec<String> {
        self.state.log.lock().unwrap().clone()
    }

    /// The requests of the file itself.
    pub(crate) fn downloads(&self) -> Vec<String> {
        self.log().into_iter().filter(|line| line.starts_with("/files/")).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.state.stop.store(true, Ordering::Relaxed);
        // Wakes the listener; when it is gone already there is nothing to wake.
        let _ = TcpStream::connect(self.address);
    }
}

struct Request {
    target: String,
    range: Option<usize>,
    authorization: Option<String>,
}

fn read(reader: &mut impl BufRead) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|n| *n > 0)?;
    let mut words = line.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut request = Request { target, range: None, authorization: None };
    if method == "CONNECT" {
        request.target.insert_str(0, "CONNECT ");
    }
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim().split_once(": ") else { return Some(request) };
        match name.to_ascii_lowercase().as_str() {
            "range" => {
                let start = value.strip_prefix("bytes=")?.strip_suffix('-')?;
                request.range = Some(start.parse().ok()?);
            }
            "authorization" => request.authorization = Some(value.to_owned()),
            _ => {}
        }
    }
}

/// Answers one request; after `CONNECT`, as a proxy that leads to itself, one more.
fn serve(stream: TcpStream, state: &State) {
    let _ = stream.set_read_timeout(Some(Duration::from_secs(10)));
    let Ok(copy) = stream.try_clone() else { return };
    let mut reader = BufReader::new(copy);
    let mut stream = stream;
    if let Some(Fault::Reset) = next_fault(state, |fault| matches!(fault, Fault::Reset)) {
        state.log.lock().unwrap().push("reset".to_owned());
        // Closing with unread input resets the connection.
        let _ = stream.peek(&mut [0]);
        return;
    }
    while let Some(request) = read(&mut reader) {
        let mut line = request.target.clone();
        for extra in [request.range.map(|r| r.to_string()), request.authorization.clone()] {
            line.extend(extra.map(|e| format!(" {e}")));
        }
        state.log.lock().unwrap().push(line);
        if request.target.starts_with("CONNECT ") {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
            continue;
        }
        let mut content = state.content.lock().unwrap().clone();
        let fault = next_fault(state, |_| true);
        if let Some(Fault::Status(status)) = fault {
            content.page = Page::Status(status);
        }
        let _ = match request.target.starts_with("/files/")
            && !matches!(fault, Some(Fault::Status(_)))
        {
            true => send_file(&mut stream, &request, &content, state),
            false => send_page(&mut stream, &content),
        };
        let _ = stream.shutdown(std::net::Shutdown::Write);
        // Closing with unread input would reset the connection and lose what was sent.
        let _ = reader.read(&mut [0; 64]);
        return;
    }
}

fn send_page(stream: &mut TcpStream, content: &Content) -> std::io::Result<()> {
    let Content { name, link, .. } = content;
    let (status, kind, text) = match content.page {
        Page::Json => (
            200,
            "application/vnd.pypi.simple.v1+json",
            // A wrong hash: the index's opinion must not matter.
            format!(
                r#"{{"files": [{{"filename": "other.whl", "url": "/files/other.whl"}},
                {{"filename": "{name}", "url": "{link}", "hashes": {{"sha256": "00"}}}}]}}"#
            ),
        ),
        Page::Html => (
            200,
            "text/html",
            format!(
                "<a href=\"/files/other.whl\">other</a>\n<a href=\"{link}#sha256=00\">{name}</a>"
            ),
        ),
        Page::Status(status) => (status, "text/plain", "no".to_owned()),
    };
    write!(
        stream,
        "HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{text}",
        text.len()
    )
}

/// Takes the next fault if it is of the right kind.
fn next_fault(state: &State, kind: impl FnOnce(Fault) -> bool) -> Option<Fault> {
    let faults = &mut state.content.lock().unwrap().faults;
    let next = faults.first().copied()?;
    kind(next).then(|| faults.remove(0))
}

/// In a function of its own so that the lock is not held while the file is sent.
fn next_cut(state: &State) -> Option<usize> {
    let cuts = &mut state.content.lock().unwrap().cuts;
    (!cuts.is_empty()).then(|| cuts.remove(0))
}

fn send_file(
    stream: &mut TcpStream,
    request: &Request,
    content: &Content,
    state: &State,
) -> std::io::Result<()> {
    let total = content.body.len();
    let start = request.range.filter(|_| content.ranges).unwrap_or(0);
    if start >= total {
        let head = "HTTP/1.1 416 X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        return stream.write_all(head.as_bytes());
    }
    let status = if start > 0 { 206 } else { 200 };
    write!(stream, "HTTP/1.1 {status} X\r\nContent-Length: {}\r\n", total - start)?;
    if start > 0 {
        write!(stream, "Content-Range: bytes {start}-{}/{total}\r\n", total - 1)?;
    }
    write!(stream, "Connection: close\r\n\r\n")?;
    let cut = next_cut(state);
    let body = &content.body[start..];
    match (cut, &content.gate) {
        (Some(cut), _) => stream.write_all(&body[..cut]),
        (None, None) => stream.write_all(body),
        (None, Some(gate)) => {
            let (first, second) = body.split_at(body.len() / 2);
            stream.write_all(first)?;
            stream.flush()?;
            gate.wait();
            stream.write_all(second)
        }
    }
}
