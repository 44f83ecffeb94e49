//! The conformance vectors of the Hooks v2 contract: invented inputs with the outputs of the reference implementation,
//! and our own expectation where a decision says that we differ. `cargo test --test conformance [part of an id]...`
//!
//! Reads every `*.jsonl` in the folder that `HOOKSD_VECTORS` names (default: beside this file), one vector a line, and
//! picks the area by the part of the id before the first `/`. Fails on an unknown area, an unknown kind, a vector
//! skipped without a reason, and any difference; says how many ran in each area.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test: what goes wrong here is a failed vector, and the runner speaks to a person"
)]

mod arguments;
mod bytes;
mod charclass;
mod compare;
mod config;
mod daemon;
mod env;
mod invoke;
mod json;
mod legacy;
mod matcher;
mod place;
mod plugins;
mod projection;
mod reduce;
mod self_check;
mod socket;
mod summary;
mod terminal;
mod transport;
mod trust;
mod vector;
mod world;

use std::process::ExitCode;
use std::sync::Arc;

use arguments::Arguments;
use summary::Summary;
use tokio::sync::Semaphore;
use vector::{Checked, Vector};
use world::World;

/// Cases at the same time: more than the processors, because most of a case is waiting for processes.
const AT_ONCE: usize = 8;

/// How often a vector that measures time is tried again on its own when it fails among others.
const REPEATS: usize = 3;

/// Stack of a worker thread. Some vectors are nested a thousand levels deep. Bytes.
const STACK: usize = 16 * 1024 * 1024;

/// Areas that use the processor and start no process. They go first: the others measure time.
const COMPUTED: [&str; 7] = ["config", "matcher", "charclass", "projection", "terminal", "trust", "plugins"];

fn main() -> ExitCode {
    let arguments = Arguments::read(std::env::args().skip(1));
    if arguments.list {
        println!("conformance: test");
        return ExitCode::SUCCESS;
    }
    if place::is_in_repository() {
        eprintln!("the temporary folder is inside a git repository; set TMPDIR to one that is not");
        return ExitCode::FAILURE;
    }
    let folder = vector::folder();
    let vectors = match vector::load(&folder) {
        Ok(vectors) => vectors,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    println!("\nrunning {} vectors and the check of the runner itself", vectors.len());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_stack_size(STACK)
        .worker_threads(4)
        .build();
    let summary = runtime.unwrap().block_on(run(vectors, &arguments));
    summary.print()
}

/// One thing to check: a vector, or a vector once more through the daemon's socket.
#[derive(Clone)]
enum Job {
    Vector(Vector),
    Socket(Vector),
}

impl Job {
    fn id(&self) -> String {
        match self {
            Job::Vector(vector) => vector.id.clone(),
            Job::Socket(vector) => format!("socket/{}", vector.id),
        }
    }

    fn is_computed(&self) -> bool {
        matches!(self, Job::Vector(vector) if COMPUTED.contains(&vector.area()))
    }

    /// Whether a busy machine can change the result: with time limits of tenths of a second, the machine's other
    /// work decides what comes first.
    fn measures_time(&self) -> bool {
        let (Job::Vector(vector) | Job::Socket(vector)) = self;
        let input = vector.input().raw;
        vector.expect().get("elapsed_between").is_some()
            || ["sleep", "\"delay\"", "\"timeout\""].iter().any(|word| input.contains(word))
    }

    async fn check(self, world: &World) -> Checked {
        match self {
            Job::Vector(vector) => check(world, &vector).await,
            Job::Socket(vector) => socket::check(world, &vector).await,
        }
    }
}

async fn run(vectors: Vec<Vector>, arguments: &Arguments) -> Summary {
    let world = Arc::new(World::new());
    let mut summary = Summary::new();
    summary.quiet_panics();
    if arguments.selects("self-check") {
        summary.add("self-check", self_check::check(&world).await);
    }
    let samples = socket::samples(&vectors);
    let jobs = vectors.into_iter().map(Job::Vector).chain(samples.into_iter().map(Job::Socket));
    let (chosen, others): (Vec<Job>, Vec<Job>) = jobs.partition(|job| arguments.selects(&job.id()));
    summary.filtered = others.len();
    let (first, second): (Vec<Job>, Vec<Job>) = chosen.into_iter().partition(Job::is_computed);
    for phase in [first, second] {
        let places = Arc::new(Semaphore::new(AT_ONCE));
        let tasks: Vec<_> = phase
            .into_iter()
            .map(|job| {
                let (world, places, again) = (world.clone(), places.clone(), job.clone());
                let task = tokio::spawn(async move {
                    let _place = places.acquire_owned().await.unwrap();
                    job.check(&world).await
                });
                (again, task)
            })
            .collect();
        let mut doubtful = Vec::new();
        for (job, task) in tasks {
            match task.await.unwrap_or_else(|error| Err(summary.panic_message(error))) {
                Err(_) if job.measures_time() => doubtful.push(job),
                checked => summary.add(&job.id(), checked),
            }
        }
        for job in doubtful {
            summary.repeated += 1;
            let checked = alone(&job, &world).await;
            summary.add(&job.id(), checked);
        }
    }
    summary.killed = world.clean_up();
    summary
}

/// Checks a vector that measures time once more, with nothing beside it. A fault of ours fails every time.
async fn alone(job: &Job, world: &World) -> Checked {
    let mut checked = job.clone().check(world).await;
    for _ in 1..REPEATS {
        if checked.is_ok() {
            break;
        }
        checked = job.clone().check(world).await;
    }
    checked
}

/// Checks one vector by its area.
pub(crate) async fn check(world: &World, vector: &Vector) -> Checked {
    match vector.area() {
        "config" => config::check(vector),
        "matcher" => matcher::check(vector),
        "charclass" => charclass::check(vector),
        "projection" => projection::check(vector),
        "reduce" => reduce::check(world, vector).await,
        "terminal" => terminal::check(vector),
        "env" => env::check(world, vector).await,
        "legacy" => legacy::check(world, vector).await,
        "plugins" => plugins::check(vector),
        "trust" => trust::check(vector),
        "transport" => transport::check(world, vector).await,
        area => Err(format!("unknown area {area:?}")),
    }
}
