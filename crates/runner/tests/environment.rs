//! What a handler finds at its start: environment and umask (D14), and a program file saved a moment ago (B53).

mod common;

use std::fs::File;
use std::sync::Arc;

use common::{World, stdout};
use hooksd_runner::{End, RUN_VARIABLE, Runner};
use tokio_util::sync::CancellationToken;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_environment_is_the_one_given_and_nothing_else() {
    let world = World::new();
    let mut job = world.argv(&["/usr/bin/env"]);
    let shared = [("ONLY", "this"), ("EMPTY", ""), ("TWICE", "shared"), (RUN_VARIABLE, "somebody else's")];
    Arc::make_mut(&mut job.template).env =
        Arc::new(shared.iter().map(|(name, value)| (name.into(), value.into())).collect());
    job.overlay = vec![("OWN".into(), "1".into()), ("TWICE".into(), "own".into())];
    let out = stdout(&world.run(job).await);
    let (given, mark) = out.split_once(RUN_VARIABLE).unwrap();
    assert_eq!(given, "ONLY=this\nEMPTY=\nOWN=1\nTWICE=own\n");
    assert_eq!((mark.len(), mark.lines().count()), ("=\n".len() + 32, 1), "{mark}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d14_the_umask_is_the_sessions() {
    let world = World::new();
    let umask = |mask| {
        let mut job = world.shell("umask; touch made; stat -c %a made; rm made; pwd");
        Arc::make_mut(&mut job.template).umask = mask;
        world.run(job)
    };
    let here = world.path("");
    let here = here.to_str().unwrap().trim_end_matches('/');
    let inherited = stdout(&umask(None).await);
    assert_eq!(stdout(&umask(Some(0o077)).await), format!("0077\n600\n{here}\n"));
    assert_eq!(stdout(&umask(Some(0o002)).await), format!("0002\n664\n{here}\n"));
    // Neither stays behind in the daemon.
    assert_eq!(stdout(&umask(None).await), inherited);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b53_a_program_saved_a_moment_ago_starts() {
    let world = World::new();
    let stop = CancellationToken::new();
    let others: Vec<_> = (0..8)
        .map(|_| {
            let (stop, run, runner) = (stop.clone(), world.shell("true"), Runner::new());
            tokio::spawn(async move {
                while !stop.is_cancelled() {
                    assert_eq!(runner.run(run.clone(), &stop.child_token()).await.end, End::Exited(0));
                    tokio::task::yield_now().await;
                }
            })
        })
        .collect();
    for n in 0..50 {
        let script = world.script("h.sh", &format!("#!/bin/sh\necho {n}\n"));
        let outcome = world.run(world.argv(&[&script])).await;
        assert_eq!((outcome.end.clone(), stdout(&outcome)), (End::Exited(0), format!("{n}\n")));
    }
    stop.cancel();
    for other in others {
        // The last run of each may have been cut off by the end of the test.
        let _ = other.await;
    }
    world.nothing_left().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b53_a_program_that_stays_open_for_writing_is_given_up() {
    let world = World::new();
    let script = world.script("open.sh", "#!/bin/sh\n");
    let open = File::options().append(true).open(&script).unwrap();
    let message = common::launch_failure(world.run(world.argv(&[&script])).await);
    assert_eq!(message, format!("{script:?} is still open for writing (text file busy): finish saving it"));
    drop(open);
    assert_eq!(world.run(world.argv(&[&script])).await.end, End::Exited(0));
}
