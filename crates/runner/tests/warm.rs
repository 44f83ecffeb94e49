//! Warm processes without a daemon (D9): the rules that have no second party.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails to set up has failed")]

mod common;

use std::sync::Arc;
use std::time::Duration;

use common::{World, stderr, stdout, until};
use hooksd_runner::warm::{Answer, Ask, Key, Limits, Purpose, Remark, Variables, Warm, Went};
use hooksd_runner::{End, Job, Outcome};
use tokio_util::sync::CancellationToken;

/// A handler of a test.
struct Handler {
    warm: Warm,
    key: Key,
    job: Job,
    workers: u8,
}

impl Handler {
    fn new(world: &World, warm: &Warm, name: &str, line: &str) -> Handler {
        let purpose = Purpose {
            snapshot: "s".into(),
            handler: name.to_owned(),
            folder: world.path(""),
            variables: Variables::new(world.env()),
            umask: None,
            rlimits: Default::default(),
        };
        Handler { warm: warm.clone(), key: purpose.into(), job: world.shell(line), workers: 1 }
    }

    async fn ask(&self, payload: &str) -> Answer {
        self.ask_until(payload.as_bytes(), &CancellationToken::new()).await
    }

    async fn ask_until(&self, payload: &[u8], cancel: &CancellationToken) -> Answer {
        let ask = Ask {
            key: &self.key,
            owner: Some("session"),
            workers: self.workers,
            payload,
            timeout: self.job.timeout,
        };
        self.warm.persistent(ask, || self.job.clone(), cancel).await
    }

    /// An answer that went through, and only that: its text, and whether the process was there before.
    async fn said(&self, payload: &str) -> (String, bool) {
        let answer = self.ask(payload).await;
        assert_eq!(answer.remarks, []);
        (stdout(&ran(&answer)), answer.warm)
    }
}

fn ran(answer: &Answer) -> Outcome {
    let Went::Ran(outcome) = &answer.went else { panic!("cold: {answer:?}") };
    outcome.clone()
}

fn end(answer: &Answer) -> End {
    ran(answer).end
}

const ECHO: &str = "while read -r line; do echo \"$$ $line\"; done";

fn pid(said: &str) -> i32 {
    said.split(' ').next().unwrap().parse().unwrap()
}

async fn over(world: &World, warm: &Warm) {
    // It waits for so long and no longer; what is killed by then may take the system a moment more.
    warm.stop().await;
    until("no warm process is left", || warm.processes() == 0).await;
    world.nothing_left().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_process_answers_one_line_each() {
    let (world, warm) = (World::new(), Warm::default());
    let handler = Handler::new(&world, &warm, "h", ECHO);
    let (first, was_there) = handler.said("{\"n\":\n1}").await;
    assert!(!was_there);
    assert!(first.ends_with(" {\"n\": 1}"), "a line end is a space: {first}");
    for n in 2..5 {
        let (next, was_there) = handler.said(&format!("{{\"n\":{n}}}")).await;
        assert!(was_there);
        assert_eq!(next, format!("{} {{\"n\":{n}}}", pid(&first)));
    }
    over(&world, &warm).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_end_before_the_answer_is_the_outcome_and_a_new_process_serves_the_next() {
    let (world, warm) = (World::new(), Warm::default());
    let line =
        "while read -r line; do case $line in *die*) echo why >&2; exit ${line#die};; esac; echo {}; done";
    let handler = Handler::new(&world, &warm, "h", line);
    for status in [2, 1, 0] {
        handler.said("{}").await;
        let answer = handler.ask(&format!("die{status}")).await;
        assert_eq!((end(&answer), answer.warm), (End::Exited(status), true));
        assert_eq!((stderr(&ran(&answer)).as_str(), answer.remarks.len()), ("why\n", 0));
    }
    assert_eq!(handler.said("{}").await, ("{}".to_owned(), false));
    over(&world, &warm).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_ended_between_events_costs_no_event() {
    let (world, warm) = (World::new(), Warm::default());
    let handler = Handler::new(&world, &warm, "h", "read -r line; echo \"$$ $line\"");
    let mut pids = Vec::new();
    for n in 0..8 {
        let (said, _) = handler.said(&format!("{{\"n\":{n}}}")).await;
        assert!(said.ends_with(&format!("{{\"n\":{n}}}")), "{said}");
        pids.push(pid(&said));
    }
    pids.dedup();
    assert_eq!(pids.len(), 8, "each event had a process of its own");
    over(&world, &warm).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_failures_in_a_row_are_enough() {
    let (world, warm) = (World::new(), Warm::default());
    let handler = Handler::new(&world, &warm, "h", "read -r line; exit 3");
    let mut failures = 0;
    let fell = loop {
        let answer = handler.ask("{}").await;
        match &answer.went {
            Went::Ran(outcome) => {
                assert_eq!(outcome.end, End::Exited(3));
                failures += 1;
            }
            // It rests.
            Went::Cold => tokio::time::sleep(Duration::from_millis(20)).await,
        }
        if !answer.remarks.is_empty() {
            break answer;
        }
    };
    assert_eq!(failures, 5);
    assert!(matches!(fell.remarks.as_slice(), [Remark::FellBack(_)]), "{fell:?}");
    let after = handler.ask("{}").await;
    assert_eq!((after.went, after.remarks), (Went::Cold, fell.remarks));
    over(&world, &warm).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_lines_for_one_payload_are_found_out_at_the_first_event() {
    let (world, warm) = (World::new(), Warm::default());
    let handler = Handler::new(&world, &warm, "h", "while read -r line; do echo a; echo b; done");
    let answer = handler.ask("{}").await;
    assert_eq!(stdout(&ran(&answer)), "a\nb\n", "per event this would be its output too");
    assert!(matches!(answer.remarks.as_slice(), [Remark::OutOfStep(_)]), "{answer:?}");
    until("it is killed", || warm.processes() == 0).await;
    over(&world, &warm).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_printed_between_events_answers_none() {
    let (world, warm) = (World::new(), Warm::default());
    let line = "while read -r line; do echo \"$line\"; case $line in *late*) sleep 0.1; echo garbage; : > said;; esac; done";
    let handler = Handler::new(&world, &warm, "h", line);
    handler.said("{}").await;
    handler.said("late").await;
    common::exists(&world.path("said")).await;
    let answer = handler.ask("next").await;
    assert_eq!((stdout(&ran(&answer)).as_str(), answer.warm), ("next", false));
    let [Remark::OutOfStep(what)] = answer.remarks.as_slice() else { panic!("{answer:?}") };
    assert!(what.contains("garbage"), "{what}");
    over(&world, &warm).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_before_the_payload_was_read_is_nobodys_answer() {
    let (world, warm) = (World::new(), Warm::default());
    // Greets, and never reads.
    let handler = Handler::new(&world, &warm, "h", "echo ready; sleep 60");
    let answer = handler.ask("{}").await;
    assert_eq!(answer.went, Went::Cold, "the event runs per event");
    assert!(matches!(answer.remarks.as_slice(), [Remark::OutOfStep(_)]), "{answer:?}");
    over(&world, &warm).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn time_and_cancel_kill_the_tree_and_an_answer_after_it_is_lost() {
    let (world, warm) = (World::new(), Warm::default());
    let line = "while read -r line; do case $line in *slow*) setsid sleep 60 & sleep 0.4;; esac; echo \"$line\"; done";
    let mut handler = Handler::new(&world, &warm, "h", line);
    handler.said("{}").await;
    handler.job.timeout = Duration::from_millis(200);
    let answer = handler.ask("slow").await;
    assert_eq!((end(&answer), stdout(&ran(&answer)).as_str()), (End::TimedOut, ""));
    world.nothing_left().await;
    handler.job.timeout = Duration::from_secs(30);
    assert_eq!(handler.said("next").await, ("next".to_owned(), false));
    let cancel = CancellationToken::new();
    let (answer, ()) = tokio::join!(handler.ask_until(b"slow", &cancel), async {
        until("it runs", || world.alive().len() > 1).await;
        cancel.cancel();
    });
    assert_eq!(end(&answer), End::Cancelled);
    world.nothing_left().await;
    over(&world, &warm).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_event_takes_its_process_along() {
    let (world, warm) = (World::new(), Warm::default());
    let handler = Handler::new(&world, &warm, "h", "while read -r line; do sleep 60; done");
    let asked = tokio::time::timeout(Duration::from_millis(200), handler.ask("{}")).await;
    assert!(asked.is_err());
    world.nothing_left().await;
    over(&world, &warm).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_at_once_grow_to_the_workers_and_no_further() {
    let (world, warm) = (World::new(), Warm::default());
    let line = "while read -r line; do sleep 0.05; echo \"$$ $line\"; done";
    let mut handler = Handler::new(&world, &warm, "h", line);
    handler.workers = 3;
    let said = futures(12, |n| {
        let handler = &handler;
        async move { handler.said(&format!("{n}")).await.0 }
    })
    .await;
    for (n, said) in said.iter().enumerate() {
        assert!(said.ends_with(&format!(" {n}")), "each gets its own answer: {said}");
    }
    let mut pids: Vec<i32> = said.iter().map(|said| pid(said)).collect();
    pids.sort_unstable();
    pids.dedup();
    assert_eq!((pids.len(), warm.processes()), (3, 3));
    over(&world, &warm).await;
}

/// All at once, in order.
async fn futures<F: Future<Output = String>>(count: usize, make: impl Fn(usize) -> F) -> Vec<String> {
    let mut all: Vec<_> = (0..count).map(|n| Box::pin(make(n))).collect();
    let mut done = vec![None; count];
    std::future::poll_fn(|context| {
        for (future, slot) in all.iter_mut().zip(&mut done) {
            if slot.is_none()
                && let std::task::Poll::Ready(said) = future.as_mut().poll(context)
            {
                *slot = Some(said);
            }
        }
        if done.iter().all(Option::is_some) { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    done.into_iter().flatten().collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_bound_on_all_processes_holds_and_the_idlest_makes_room() {
    let world = World::new();
    let warm = Warm::new(Limits { most_persistent: 2, ..Limits::default() });
    let handlers: Vec<Handler> =
        (0..4).map(|n| Handler::new(&world, &warm, &format!("h{n}"), ECHO)).collect();
    for handler in &handlers {
        handler.said("{}").await;
        until("the bound holds", || warm.processes() <= 2).await;
    }
    assert!(handlers[3].said("{}").await.1, "the last is still there");
    assert!(!handlers[0].said("{}").await.1, "the first is not");
    over(&world, &warm).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn idle_processes_end_and_are_reaped() {
    let world = World::new();
    let idle = Duration::from_millis(50);
    let warm = Warm::new(Limits { idle_persistent: idle, idle_prewarmed: idle, ..Limits::default() });
    let handler = Handler::new(&world, &warm, "h", ECHO);
    handler.said("{}").await;
    world.nothing_left().await;
    until("it is forgotten", || warm.processes() == 0).await;
    over(&world, &warm).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_released_process_ends_after_the_event_in_flight() {
    let (world, warm) = (World::new(), Warm::default());
    let handler = Handler::new(&world, &warm, "h", "while read -r line; do sleep 0.2; echo \"$line\"; done");
    let (said, ()) = tokio::join!(handler.said("{}"), async {
        until("it runs", || warm.processes() == 1).await;
        warm.release("session");
    });
    assert_eq!(said.0, "{}");
    world.nothing_left().await;
    assert!(!handler.said("{}").await.1);
    over(&world, &warm).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_ignores_the_end_of_its_input_is_killed() {
    let world = World::new();
    let warm = Warm::new(Limits { retire_grace: Duration::from_millis(100), ..Limits::default() });
    let handler = Handler::new(&world, &warm, "h", "read -r line; echo {}; sleep 60");
    handler.said("{}").await;
    over(&world, &warm).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_payloads_large_lines_and_workers_that_never_read() {
    let (world, warm) = (World::new(), Warm::default());
    let mut handler = Handler::new(&world, &warm, "h", "while read -r line; do echo \"${#line}\"; done");
    // Sixteen times what a pipe holds; a shell reads byte by byte.
    let megabyte = "x".repeat(1024 * 1024);
    assert_eq!(handler.said(&megabyte).await.0, "1048576");
    assert_eq!(handler.said("x").await, ("1".to_owned(), true));

    let line = "while read -r line; do head -c 200000 /dev/zero | tr '\\0' y; echo; done";
    let flood = Handler::new(&world, &warm, "flood", line);
    for _ in 0..2 {
        let answer = flood.ask("{}").await;
        let (outcome, remarks) = (ran(&answer), &answer.remarks);
        assert_eq!((outcome.stdout.total, outcome.stdout.bytes.len()), (200_000, 100_000));
        assert!(outcome.stdout.truncated() && remarks.is_empty());
    }

    handler = Handler::new(&world, &warm, "deaf", "sleep 60");
    handler.job.timeout = Duration::from_millis(200);
    let deaf = handler.ask_until(megabyte.as_bytes(), &CancellationToken::new()).await;
    assert_eq!(end(&deaf), End::TimedOut);
    over(&world, &warm).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_written_to_stderr_belongs_to_its_event() {
    let (world, warm) = (World::new(), Warm::default());
    let line = "while read -r line; do echo \"about $line\" >&2; echo {}; sleep 0.05; echo noise >&2; : > done; done";
    let handler = Handler::new(&world, &warm, "h", line);
    for n in ["one", "two"] {
        let answer = handler.ask(n).await;
        assert_eq!(stderr(&ran(&answer)), format!("about {n}\n"));
        common::exists(&world.path("done")).await;
        std::fs::remove_file(world.path("done")).unwrap();
    }
    over(&world, &warm).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_is_not_there_is_a_failed_launch() {
    let (world, warm) = (World::new(), Warm::default());
    let mut handler = Handler::new(&world, &warm, "h", "");
    handler.job = world.argv(&["no-such-program"]);
    let answer = handler.ask("{}").await;
    assert!(matches!(end(&answer), End::LaunchFailed { .. }), "{answer:?}");
    over(&world, &warm).await;
}

/// Runs prewarmed, per event when there is no process.
async fn prewarmed(world: &World, warm: &Warm, line: &str, payload: &str) -> (Outcome, bool, Vec<Remark>) {
    let handler = Handler::new(world, warm, "p", line);
    let job = Job { stdin: payload.as_bytes().into(), ..handler.job.clone() };
    let cancel = CancellationToken::new();
    let answer = warm.prewarmed(&handler.key, Some("session"), 1, &job, &cancel).await;
    match answer.went {
        Went::Ran(outcome) => (outcome, answer.warm, answer.remarks),
        Went::Cold => (world.run(job).await, false, answer.remarks),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prewarmed_process_serves_one_event_with_the_same_meaning() {
    let (world, warm) = (World::new(), Warm::default());
    let line = "line=$(cat); echo \"$$ $line\"; echo complaint >&2; exit 2";
    let mut pids = Vec::new();
    for n in 0..4 {
        let (outcome, was_there, remarks) = prewarmed(&world, &warm, line, &format!("{n}")).await;
        assert_eq!((&outcome.end, stderr(&outcome).as_str()), (&End::Exited(2), "complaint\n"));
        assert_eq!((was_there, remarks), (n > 0, vec![]));
        let said = stdout(&outcome);
        assert!(said.ends_with(&format!(" {n}\n")), "{said}");
        pids.push(pid(&said));
        until("the next waits", || warm.processes() == 1).await;
    }
    pids.dedup();
    assert_eq!(pids.len(), 4);
    warm.release("session");
    world.nothing_left().await;
    over(&world, &warm).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handler_that_does_not_wait_is_no_longer_started_ahead() {
    let world = World::new();
    let warm = Warm::default();
    let mut fell = None;
    // Now and then one is found just before it ends, and serves.
    for _ in 0..100 {
        let (outcome, _, remarks) = prewarmed(&world, &warm, "exit 2", "{}").await;
        assert_eq!(outcome.end, End::Exited(2));
        fell = fell.or(remarks.into_iter().next());
        if fell.is_some() {
            break;
        }
        until("the one started ahead has ended", || world.alive().is_empty()).await;
    }
    assert!(matches!(fell, Some(Remark::FellBack(_))), "{fell:?}");
    let (outcome, was_there, _) = prewarmed(&world, &warm, "exit 2", "{}").await;
    assert_eq!((outcome.end, was_there), (End::Exited(2), false));
    over(&world, &warm).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prewarmed_process_in_a_folder_that_was_replaced_is_not_used() {
    let (world, warm) = (World::new(), Warm::default());
    let folder = world.path("cwd");
    let cancel = CancellationToken::new();
    let mut job = world.shell("cat; pwd");
    Arc::make_mut(&mut job.template).cwd = folder.clone();
    let key = Handler::new(&world, &warm, "p", "").key;
    for expected in [false, true, false] {
        if !expected {
            let _ = std::fs::remove_dir(&folder);
            // A new folder may get the number of the old one: this one cannot.
            std::fs::create_dir(world.path(&format!("other{}", warm.processes()))).unwrap();
            std::fs::create_dir(&folder).unwrap();
        }
        let answer = warm.prewarmed(&key, None, 1, &job, &cancel).await;
        assert_eq!(answer.warm, expected);
        until("the next waits", || warm.processes() == 1).await;
    }
    over(&world, &warm).await;
}
