//! Running a test in a world of its own.

use std::sync::{PoisonError, RwLock};

use super::world::{Setup, World};

/// Held for reading by every test, for writing by one that measures time or memory.
static QUIET: RwLock<()> = RwLock::new(());

/// Runs a test against the server inside this process.
pub fn world(test: impl AsyncFnOnce(&World)) {
    world_with(Setup::default(), test);
}

/// Runs a test against the real program.
pub fn daemon(test: impl AsyncFnOnce(&World)) {
    world_with(Setup { program: true, ..Setup::default() }, test);
}

/// Runs a test against a server of this kind.
pub fn world_with(setup: Setup, test: impl AsyncFnOnce(&World)) {
    let _beside_others = QUIET.read().unwrap_or_else(PoisonError::into_inner);
    run(setup, test);
}

/// Runs something against a second server, beside the one a test has.
pub async fn beside(setup: Setup, test: impl AsyncFnOnce(&World)) {
    let world = World::new(setup);
    world.start().await;
    test(&world).await;
    world.finish().await;
}

/// Runs a test against the real program while no other test of this process runs.
pub fn alone(test: impl AsyncFnOnce(&World)) {
    let _without_others = QUIET.write().unwrap_or_else(PoisonError::into_inner);
    run(Setup { program: true, ..Setup::default() }, test);
}

/// Runs a test without a server while no other test of this process runs, so that no process is being started: between
/// its fork and its exec, one holds every descriptor of this process, locks and listeners among them.
pub fn quietly(test: impl FnOnce()) {
    let _without_others = QUIET.write().unwrap_or_else(PoisonError::into_inner);
    test();
}

fn run(setup: Setup, test: impl AsyncFnOnce(&World)) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(beside(setup, test));
}
