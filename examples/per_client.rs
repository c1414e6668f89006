//! A server that limits each API key: a line with the key in, a line with `200` or `429` out. It serves three clients.
//!
//! `cargo run --example per_client`

use slidegate::{Decision, Limiter, Quota};
use std::{
    error::Error,
    io::{self, BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::Arc,
    thread,
    time::Duration,
};

const PATIENCE: Duration = Duration::from_secs(1);

/// The answer to a line with this key.
fn answer(limits: &Limiter<str>, key: &str) -> String {
    match limits.check(key) {
        Decision::Allowed(allowed) => format!("200 {} left", allowed.remaining()),
        Decision::Refused(refused) => format!("429 retry after {} ms", refused.retry_after().as_millis() + 1),
        Decision::Full(_) => "503 too many clients".into(),
        Decision::Never(_) => unreachable!("every line costs 1"),
    }
}

/// Serves a connection until its peer closes it, is silent for too long, or sends a line that is too long.
fn serve(limits: &Limiter<str>, peer: TcpStream) -> io::Result<()> {
    peer.set_read_timeout(Some(PATIENCE))?;
    let mut lines = BufReader::new(&peer);
    let mut line = String::new();
    while lines.by_ref().take(64).read_line(&mut line)? > 0 {
        let Some(key) = line.strip_suffix('\n') else {
            return (&peer).write_all(b"400 a key has at most 63 bytes\n");
        };
        (&peer).write_all(format!("{}\n", answer(limits, key.trim())).as_bytes())?;
        line.clear();
    }
    Ok(())
}

/// Accepts connections for ever, each with a thread of its own.
fn listen(limits: &Arc<Limiter<str>>, listener: &TcpListener) -> io::Result<()> {
    for peer in listener.incoming() {
        let (limits, peer) = (Arc::clone(limits), peer?);
        thread::spawn(move || serve(&limits, peer).unwrap_or_else(|error| eprintln!("a connection broke: {error}")));
    }
    Ok(())
}

/// A client that sends its key so many times; what it is answered first and last.
fn ask(server: SocketAddr, key: &str, times: u32) -> io::Result<String> {
    let stream = TcpStream::connect(server)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut answers = BufReader::new(&stream).lines();
    let mut next = || {
        (&stream).write_all(format!("{key}\n").as_bytes())?;
        answers.next().unwrap_or_else(|| Err(io::ErrorKind::UnexpectedEof.into()))
    };
    let first = next()?;
    let last = (1..times).try_fold(first.clone(), |_, _| next())?;
    Ok(format!("{key} asked {times} times: {first} … {last}"))
}

fn main() -> Result<(), Box<dyn Error>> {
    // 10,000 keys at most are remembered: a flood of invented ones fills this, and pushes out nobody.
    let limits = Limiter::<str>::counter(Quota::per_minute(20)).max_clients(10_000).max_bytes(1 << 20).build()?;
    let limits = Arc::new(limits);
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let server = listener.local_addr()?;
    // Ends with the process.
    thread::spawn({
        let limits = Arc::clone(&limits);
        move || listen(&limits, &listener).unwrap_or_else(|error| eprintln!("no more connections: {error}"))
    });
    let clients =
        [("ada", 5), ("grace", 21), ("ada", 20)].map(|(key, times)| thread::spawn(move || ask(server, key, times)));
    for client in clients {
        println!("{}", client.join().map_err(|_| "a client panicked")??);
    }
    println!("{} keys remembered in {} bytes", limits.tracked(), limits.bytes_in_use());
    Ok(())
}
