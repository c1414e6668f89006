//! Threads that are stopped for ever, wherever they are inside a check, hold up nobody.
//!
//! A signal stops a worker at whatever instruction it has reached, and its handler returns only when the round is over.
//! What the others are answered meanwhile is what they are answered without it. Keys in all, and rounds:
//!
//! ```text
//! SLIDEGATE_FLOOD=50000000 SLIDEGATE_ROUNDS=200 cargo test --release -p slidegate --test parked -- --nocapture
//! ```
#![cfg(unix)]

mod clients;
mod model;
mod random;
mod segment;

use clients::{Clients, Counters, Windows, quota};
use random::Random;
use slidegate::{Decision, Nanos, WhenFull};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    io,
    mem::MaybeUninit,
    os::{fd::AsRawFd, unix::thread::JoinHandleExt},
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    ptr::null_mut,
    sync::{
        Arc, Barrier, Mutex, PoisonError,
        atomic::{
            AtomicBool, AtomicI32, AtomicU64, AtomicUsize,
            Ordering::{Relaxed, SeqCst},
            compiler_fence,
        },
        mpsc::{RecvTimeoutError, sync_channel},
    },
    thread::{self, JoinHandle, LocalKey},
    time::{Duration, Instant},
};

/// Threads that are stopped in a round.
const STOPPED_THREADS: usize = 4;

/// Threads that go on beside them.
const FLOODING: usize = 2;

/// These, and the one that starts them.
const GOING_ON: usize = FLOODING + 1;

/// What the test itself allocates in a round, and the records of its threads: less than an array.
const OTHER_BYTES: usize = 16 << 10;

const LIMIT: u64 = 100_000;
const WINDOW: u64 = 60_000_000_000;

/// A client that has used up its limit.
const SPENT: u64 = u64::MAX;
/// One client for each thread that floods, with room all the time.
const ROOMY: [u64; FLOODING] = [u64::MAX - 1, u64::MAX - 2];

/// How long anything may take before it counts as held up.
const DEADLINE: Duration = Duration::from_secs(60);

thread_local! {
    static CHECKING: AtomicBool = const { AtomicBool::new(false) };
    static ALLOCATING: AtomicBool = const { AtomicBool::new(false) };
}

/// Runs `body` under a mark that the signal handler of this thread reads.
fn marked<R>(mark: &'static LocalKey<AtomicBool>, body: impl FnOnce() -> R) -> R {
    mark.with(|mark| mark.store(true, Relaxed));
    // A handler runs in this very thread, so only the compiler must keep the order.
    compiler_fence(SeqCst);
    let result = body();
    compiler_fence(SeqCst);
    mark.with(|mark| mark.store(false, Relaxed));
    result
}

/// Bytes allocated and not freed, and the most there ever were.
static BYTES: AtomicUsize = AtomicUsize::new(0);
static MOST_BYTES: AtomicUsize = AtomicUsize::new(0);

/// The system allocator, counted. It may hold a lock, so nobody is stopped inside it.
struct Counting;

// SAFETY: all of it is the system allocator's.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        marked(&ALLOCATING, || {
            let bytes = BYTES.fetch_add(layout.size(), SeqCst) + layout.size();
            MOST_BYTES.fetch_max(bytes, SeqCst);
            // SAFETY: the caller's promise is passed on.
            unsafe { System.alloc(layout) }
        })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        marked(&ALLOCATING, || {
            BYTES.fetch_sub(layout.size(), SeqCst);
            // SAFETY: as above; it came from the system allocator.
            unsafe { System.dealloc(memory, layout) };
        });
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The threads that are stopped now.
static STOPPED: AtomicUsize = AtomicUsize::new(0);

/// A pipe to which nobody writes: who reads from it stands still until its other end is closed.
static GATE: AtomicI32 = AtomicI32::new(-1);

/// Stops its thread, if that is inside a check and not inside the allocator.
extern "C" fn stop(_signal: libc::c_int) {
    if CHECKING.with(|mark| mark.load(Relaxed)) && !ALLOCATING.with(|mark| mark.load(Relaxed)) {
        STOPPED.fetch_add(1, SeqCst);
        let mut byte = MaybeUninit::<u8>::uninit();
        // SAFETY: there is room for the one byte, and `read` may be called in a handler.
        unsafe { libc::read(GATE.load(SeqCst), byte.as_mut_ptr().cast(), 1) };
    }
}

fn handle_signals() {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: all zeros is an action: the default one, that masks nothing.
    let action = unsafe { action.assume_init_mut() };
    action.sa_sigaction = stop as extern "C" fn(libc::c_int) as libc::sighandler_t;
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: the handler calls nothing but `read`, and its thread-locals need no initialisation.
    let result = unsafe { libc::sigaction(libc::SIGUSR1, action, null_mut()) };
    assert_eq!(result, 0, "{}", io::Error::last_os_error());
}

/// What this test asks of a limiter beyond the others.
trait Stoppable: Clients + Send + 'static {
    /// For how long something of a client may be remembered.
    const LIFE: u64;

    /// Makes a check by a handle, and holds the handle while `body` runs.
    fn holding_a_handle(&self, key: u64, body: impl FnOnce());

    fn with_room_for(max_clients: usize) -> Self {
        Self::build(quota(LIMIT, WINDOW), max_clients, WhenFull::Refuse)
    }

    fn capacity(&self) -> usize {
        self.sizes().0
    }

    fn bytes_in_use(&self) -> usize {
        self.sizes().1
    }

    fn max_bytes(&self) -> usize {
        self.sizes().2
    }
}

macro_rules! stoppable {
    ($clients:ty, $windows:expr) => {
        impl Stoppable for $clients {
            const LIFE: u64 = $windows * WINDOW;

            fn holding_a_handle(&self, key: u64, body: impl FnOnce()) {
                let handle = self.limiter.handle();
                assert!(handle.client(&key).at(Nanos::ZERO).check().is_allowed());
                body();
            }
        }
    };
}
stoppable!(Counters, 2);
stoppable!(Windows, 1);

/// A limiter under a flood of keys, each of them new.
struct Flooded<L> {
    limiter: L,
    next_key: AtomicU64,
}

impl<L: Stoppable> Flooded<L> {
    fn new(max_clients: usize) -> Flooded<L> {
        Flooded { limiter: L::with_room_for(max_clients), next_key: AtomicU64::new(0) }
    }

    fn new_key(&self) -> u64 {
        self.next_key.fetch_add(1, SeqCst)
    }

    /// How far apart the readings of two keys are: the table is full when the first clients are out of date, so that it is
    /// moved all the time, and its arrays are of any size.
    fn step(&self) -> u64 {
        L::LIFE / self.limiter.capacity() as u64
    }

    /// Checks new clients until this thread has been stopped, the `nth` of its round.
    fn hammer(&self, nth: usize) {
        // Nobody is to be stopped in its first check: it leaves a destructor with the C library, which locks.
        let _ = self.limiter.check(SPENT, 0, 1);
        while STOPPED.load(SeqCst) < nth {
            let key = self.new_key();
            let _ = marked(&CHECKING, || self.limiter.check(key, key * self.step(), 1));
        }
    }

    /// The reading of the latest key.
    fn latest(&self) -> u64 {
        self.next_key.load(SeqCst) * self.step()
    }

    /// An instant at which nothing is remembered of the keys so far.
    fn quiet_instant(&self) -> u64 {
        (self.latest() / WINDOW + 1) * WINDOW + L::LIFE + WINDOW / 2
    }

    /// Fills the room that is left, by two threads; how many clients there are then.
    ///
    /// The arrays are those in which threads were stopped, with what these have claimed there and do not use.
    fn fill_up(&self) -> usize {
        let now = self.latest();
        in_threads(FLOODING, |_| {
            for _ in 0..2 * self.limiter.capacity() {
                let _ = self.limiter.check(self.new_key(), now, 1);
            }
        });
        self.limiter.tracked_at(now)
    }

    /// Fills the table with the clients of one instant, by two threads; how many new ones it accepted.
    fn fill(&self, now: u64, most_bytes: usize) -> usize {
        assert!(self.limiter.check(SPENT, now, LIMIT).is_allowed());
        ROOMY.iter().for_each(|&roomy| assert!(self.limiter.check(roomy, now, 1).is_allowed()));
        let accepted = in_threads(FLOODING, |nth| self.flood(now, ROOMY[nth], most_bytes));
        accepted.iter().sum::<usize>() + ROOMY.len() + 1
    }

    /// Twice as many new clients as there is room for.
    fn flood(&self, now: u64, roomy: u64, most_bytes: usize) -> usize {
        let mut random = Random::new(now ^ roomy);
        let (mut accepted, mut left) = (0, LIMIT - 1);
        for nth in 0..2 * self.limiter.capacity() {
            // Half of them come with a reading that is a little late.
            let reading = now - u64::from(random.one_in(2));
            accepted += usize::from(self.limiter.check(self.new_key(), reading, 1).is_allowed());
            if nth.is_multiple_of(64) {
                left -= 1;
                let decision = self.limiter.check(roomy, now, 1);
                assert_eq!((decision.is_allowed(), decision.remaining()), (true, left), "a client with room");
                let decision = self.limiter.check(SPENT, now, 1);
                assert!(matches!(decision, Decision::Refused(_)), "{decision:?} for a client at its limit");
                let bytes = self.limiter.bytes_in_use();
                assert!(bytes <= most_bytes, "{bytes} bytes in use, {most_bytes} may be");
            }
        }
        accepted
    }
}

/// Waits for an event.
fn wait_until(what: &str, mut happened: impl FnMut() -> bool) {
    let start = Instant::now();
    while !happened() {
        assert!(start.elapsed() < DEADLINE, "{what}: not within {DEADLINE:?}");
        thread::yield_now();
    }
}

/// What `body` gives. In a thread of its own, so that the test fails and does not hang where `body` is held up.
fn in_time<R: Send + 'static>(body: impl FnOnce() -> R + Send + 'static) -> R {
    let (sender, receiver) = sync_channel(1);
    let thread = thread::spawn(move || sender.send(body()));
    let result = receiver.recv_timeout(DEADLINE);
    assert!(!matches!(result, Err(RecvTimeoutError::Timeout)), "held up for {DEADLINE:?}");
    // Joined in any case: only then its record is another thread's to take.
    match thread.join() {
        Ok(_) => result.expect("it was sent"),
        Err(panic) => resume_unwind(panic),
    }
}

/// What `body` gives in each of so many threads. A scope does not wait until they have given back their records, a join
/// does.
fn in_threads<R: Send>(threads: usize, body: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let body = &body;
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|nth| scope.spawn(move || body(nth))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

/// Has so many threads make a move, in tables of their own: that frees what their records kept and nobody reads.
fn free_kept<L: Stoppable>(threads: usize) {
    let all_have_a_record = Barrier::new(threads);
    in_threads(threads, |_| {
        let limiter = L::with_room_for(1);
        let _ = limiter.check(0, 0, 1);
        all_have_a_record.wait();
        // More than fit the first array.
        (1..9).for_each(|key| assert!(limiter.check(key, 0, 1).is_allowed()));
    });
}

/// Starts a worker and stops it inside a check, the `nth` of its round.
fn stopped_worker<L: Stoppable>(flooded: &Arc<Flooded<L>>, nth: usize, random: &mut Random) -> JoinHandle<()> {
    let worker = thread::spawn({
        let flooded = Arc::clone(flooded);
        move || flooded.hammer(nth)
    });
    let is_stopped = || STOPPED.load(SeqCst) == nth;
    let checks = || flooded.next_key.load(SeqCst);
    // Up to one life of the table, so that its arrays are of any size.
    let mut until = checks() + random.between(1, flooded.limiter.capacity() as u64);
    while !is_stopped() {
        // Where the signal came between two checks or in the allocator it was for nothing.
        wait_until("a worker goes on or is stopped", || is_stopped() || checks() >= until);
        until = checks() + 1;
        // SAFETY: the thread was not joined.
        let result = unsafe { libc::pthread_kill(worker.as_pthread_t() as libc::pthread_t, libc::SIGUSR1) };
        assert_eq!(result, 0);
    }
    worker
}

/// Fills a table for so many lives of its clients, two at least.
fn fill_repeatedly<L: Stoppable>(flooded: &Arc<Flooded<L>>, keys: u64, most_bytes: usize) {
    let capacity = flooded.limiter.capacity();
    let first = flooded.quiet_instant();
    for life in 0..keys.div_ceil(2 * FLOODING as u64 * capacity as u64).max(2) {
        let flooded = Arc::clone(flooded);
        let accepted = in_time(move || flooded.fill(first + life * L::LIFE, most_bytes));
        assert_eq!(accepted, capacity, "new clients in life {life}");
    }
}

/// The bytes of a full table, beyond those of the table, that somebody reads or builds.
fn bytes_held<L: Stoppable>(flooded: &Flooded<L>) -> usize {
    free_kept::<L>(GOING_ON);
    flooded.limiter.bytes_in_use() - flooded.limiter.max_bytes()
}

/// Stops threads in their checks and fills the table beside them, time and again; the bytes that the stopped hold.
fn round<L: Stoppable>(max_clients: usize, keys: u64, random: &mut Random) -> usize {
    let bytes_before = BYTES.load(SeqCst);
    MOST_BYTES.store(bytes_before, SeqCst);
    let flooded = Arc::new(Flooded::<L>::new(max_clients));
    let (array, max_bytes) = (L::with_room_for(1).max_bytes(), flooded.limiter.max_bytes());
    // One after the other, so each stopped thread keeps what it reads and what it builds. Who goes on keeps that, too, and
    // what the others were reading at its last move.
    let most_held = 2 * STOPPED_THREADS * array;
    let most_bytes = max_bytes + most_held + (2 + GOING_ON) * GOING_ON * array;

    STOPPED.store(0, SeqCst);
    let (gate, opener) = io::pipe().expect("a pipe");
    GATE.store(gate.as_raw_fd(), SeqCst);
    let workers: Vec<_> = (1..=STOPPED_THREADS).map(|nth| stopped_worker(&flooded, nth, random)).collect();
    let tracked = in_time({
        let flooded = Arc::clone(&flooded);
        move || flooded.fill_up()
    });
    assert_eq!(tracked, flooded.limiter.capacity(), "clients in the arrays with stopped threads");
    fill_repeatedly(&flooded, keys, most_bytes);
    let held = bytes_held(&flooded);
    assert!(held <= most_held, "{held} bytes held, {most_held} may be");
    let bytes = MOST_BYTES.load(SeqCst) - bytes_before;
    assert!(bytes <= most_bytes + OTHER_BYTES, "{bytes} bytes allocated, {most_bytes} may be");
    assert_eq!(STOPPED.load(SeqCst), STOPPED_THREADS, "they stood still all the time");

    // What the stopped do after that is late, and costs nobody anything.
    drop(opener);
    for worker in workers {
        wait_until("a worker ends", || worker.is_finished());
        worker.join().expect("no worker panics");
    }
    fill_repeatedly(&flooded, 0, most_bytes);
    free_kept::<L>(STOPPED_THREADS + GOING_ON);
    assert_eq!(flooded.limiter.bytes_in_use(), max_bytes, "a full table");
    drop(flooded);
    let left = BYTES.load(SeqCst).saturating_sub(bytes_before);
    assert!(left <= OTHER_BYTES, "{left} bytes are left behind");
    println!("{max_clients} clients: {bytes} bytes most, {max_bytes} of a full table, {held} held by the stopped");
    held
}

/// The same without stopped threads.
fn held_by_nobody<L: Stoppable>() -> usize {
    let flooded = Arc::new(Flooded::<L>::new(5_000));
    let array = L::with_room_for(1).max_bytes();
    fill_repeatedly(&flooded, 0, flooded.limiter.max_bytes() + (2 + GOING_ON) * GOING_ON * array);
    bytes_held(&flooded)
}

/// Threads that hold a handle and do nothing keep nobody out, and keep nothing.
fn idle_handles<L: Stoppable>() {
    const IDLE: usize = 10;
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let flooded = Arc::new(Flooded::<L>::new(5_000));
    let array = L::with_room_for(1).max_bytes();
    let (all_hold, over) = (Barrier::new(IDLE + 1), Barrier::new(IDLE + 1));
    thread::scope(|scope| {
        for _ in 0..IDLE {
            scope.spawn(|| {
                flooded.limiter.holding_a_handle(flooded.new_key(), || {
                    all_hold.wait();
                    over.wait();
                });
            });
        }
        all_hold.wait();
        let filled = catch_unwind(AssertUnwindSafe(|| {
            fill_repeatedly(&flooded, 0, flooded.limiter.max_bytes() + (2 + GOING_ON) * GOING_ON * array);
            bytes_held(&flooded)
        }));
        over.wait();
        assert_eq!(filled.unwrap_or_else(|panic| resume_unwind(panic)), 0, "bytes held");
    });
}

/// One test at a time: they count the same bytes.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn rounds<L: Stoppable>() {
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    handle_signals();
    let keys = random::number_from("SLIDEGATE_FLOOD").unwrap_or(600_000);
    let rounds = random::number_from("SLIDEGATE_ROUNDS").unwrap_or(10).max(1);
    let seed = random::seed();
    println!("seed {seed}");
    let mut random = Random::new(seed);
    assert_eq!(held_by_nobody::<L>(), 0, "where nobody is stopped");
    let held: usize = (0..rounds).map(|_| round::<L>(random.pick(&[683, 5_000]), keys / rounds, &mut random)).sum();
    assert!(held > 0, "nobody was stopped while it read or built an array");
}

#[test]
fn counters_beside_stopped_threads() {
    rounds::<Counters>();
}

#[test]
fn fixed_windows_beside_stopped_threads() {
    rounds::<Windows>();
}

#[test]
fn counters_beside_idle_handles() {
    idle_handles::<Counters>();
}

#[test]
fn fixed_windows_beside_idle_handles() {
    idle_handles::<Windows>();
}
