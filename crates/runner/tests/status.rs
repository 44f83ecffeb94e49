//! Kind 3: how a run ended (B15 to B19, B48, B49, vectors `reduce/exit` and `reduce/launch`).

mod common;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use common::{DENY, World, launch_failure, stderr, stdout};
use hooksd_runner::{End, Outcome};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b15_death_by_a_signal_is_told_apart() {
    let world = World::new();
    for (line, end) in [
        ("cat $DENY; kill -9 $$", End::Signaled(9)),
        ("cat $DENY; kill -INT $$", End::Signaled(2)),
        ("cat $DENY; kill -TERM $$", End::Signaled(15)),
        ("cat $DENY; sh -c 'kill -9 $$'; true", End::Exited(0)),
        ("cat $DENY; sh -c 'kill -9 $$'; exit $?", End::Exited(137)),
    ] {
        let outcome = world.run(world.shell(line)).await;
        assert_eq!((outcome.end.clone(), stdout(&outcome).as_str()), (end, DENY), "{line}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b16_every_exit_status_arrives_as_it_is() {
    let world = World::new();
    for (code, seen) in
        [(0, 0), (1, 1), (2, 2), (3, 3), (126, 126), (127, 127), (137, 137), (255, 255), (258, 2)]
    {
        let outcome = world.run(world.shell(&format!("cat $DENY; echo why >&2; exit {code}"))).await;
        assert_eq!(
            (outcome.end.clone(), stdout(&outcome).as_str(), stderr(&outcome).as_str()),
            (End::Exited(seen), DENY, "why\n")
        );
        assert_eq!((outcome.stdout.total, outcome.stdout.truncated()), (DENY.len() as u64, false));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b17_the_shells_own_statuses_are_its_own() {
    let world = World::new();
    let syntax = world.run(world.shell("if then")).await;
    assert_eq!(syntax.end, End::Exited(2));
    assert!(!stderr(&syntax).is_empty());
    assert_eq!(world.run(world.shell("ghost-interp /nonexistent.py")).await.end, End::Exited(127));
    let plain = world.file("plain.txt", "x", 0o644);
    assert_eq!(world.run(world.shell(&plain)).await.end, End::Exited(126));
    let no_bash = world.script("no-bash", "#!/nonexistent/bash\n");
    assert_eq!(world.run(world.shell(&no_bash)).await.end, End::Exited(127));
    assert_eq!(world.run(world.shell("# nothing")).await.end, End::Exited(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b19_blank_commands_run_nothing() {
    let world = World::new();
    for line in ["", " \t\n", "\u{2003}\u{a0}", "\u{1c}"] {
        let outcome = world.run(world.shell(line)).await;
        let expected = Outcome { queued: outcome.queued, ..Outcome::without_process(End::InvalidCommand) };
        assert_eq!(outcome, expected, "{line:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b19_a_launch_that_failed_names_the_culprit_and_the_cure() {
    let world = World::new();
    let at = |name: &str| world.path(name).to_str().unwrap().to_owned();
    let plain = world.file("plain.txt", "x", 0o644);
    let no_shebang = world.script("noshebang", "echo hi\n");
    let ghost = world.script("ghost", "#!/nonexistent/interp -x\n");
    let windows = world.script("windows", "#!/bin/sh\r\necho hi\r\n");
    let not_exec_interp = world.script("interp", &format!("#!{plain}\n"));
    let root = at("");
    let root = root.trim_end_matches('/');
    for (words, message) in [
        (
            vec!["/nonexistent/hook"],
            "\"/nonexistent/hook\" does not exist (No such file or directory (os error 2)); correct the path".into(),
        ),
        (
            vec!["./nope"],
            format!("\"{root}/./nope\" does not exist (No such file or directory (os error 2)); correct the path"),
        ),
        (
            vec!["no-such-program"],
            "\"no-such-program\" was not found in the handler's PATH \"/usr/local/bin:/usr/bin:/bin\"; give its \
             full path or correct PATH"
                .into(),
        ),
        (vec![""], "the first word of the argument list is empty: name a program".into()),
        (vec!["/tmp"], "\"/tmp\" is a directory, not a program (permission denied)".into()),
        (vec![plain.as_str()], format!("{plain:?} may not be executed (permission denied); chmod +x it")),
        (
            vec![no_shebang.as_str()],
            format!(
                "{no_shebang:?} is not a program this system can run (exec format error): a script needs a first \
                 line like \"#!/bin/sh\""
            ),
        ),
        (
            vec![ghost.as_str()],
            format!(
                "{ghost:?} needs the interpreter \"/nonexistent/interp\" of its first line, which does not exist; \
                 install it"
            ),
        ),
        (
            vec![windows.as_str()],
            format!(
                "{windows:?} has Windows line ends, so its interpreter is \"/bin/sh\\r\"; save it with LF line ends"
            ),
        ),
        (
            vec![not_exec_interp.as_str()],
            format!("{not_exec_interp:?} needs {plain:?}, which may not be executed (permission denied)"),
        ),
        (
            vec!["/bin/echo", "a\0b"],
            "the argument \"a\\0b\" has a NUL character (U+0000) in it, which no program can be given: remove it"
                .into(),
        ),
        (
            vec!["/bin/ec\0ho"],
            "the argument \"/bin/ec\\0ho\" has a NUL character (U+0000) in it, which no program can be given: \
             remove it"
                .into(),
        ),
    ] {
        assert_eq!(launch_failure(world.run(world.argv(&words)).await), message, "{words:?}");
    }
    assert_eq!(
        launch_failure(world.run(world.shell("echo a\0b")).await),
        "the command has a NUL character (U+0000) in it, which no program can be given: remove it"
    );
    let mut job = world.shell("true");
    job.overlay.push(("BAD".into(), "a\0b".into()));
    assert!(launch_failure(world.run(job).await).starts_with("the environment variable \"BAD\" has a NUL"));
    assert_eq!(world.runner.children(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b19_too_much_for_the_kernel_names_the_limit() {
    let world = World::new();
    let long = format!("true {}", "x".repeat(200_000));
    assert_eq!(
        launch_failure(world.run(world.shell(&long)).await),
        "one argument or variable has 200006 bytes, more than the 131072 that the system allows (argument list \
         too long); put the command into a script file"
    );
    let mut job = world.shell("true");
    job.overlay.extend((0..100).map(|n| (format!("V{n}").into(), "x".repeat(120_000).into())));
    let message = launch_failure(world.run(job).await);
    assert!(message.starts_with("arguments and environment together have 120"), "{message}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn argv_is_run_without_a_shell_and_found_as_execvp_does() {
    let world = World::new();
    world.script("script.sh", "#!/bin/sh\necho \"$0 <$1>\"\n");
    world.script("relative-tool", "#!/bin/sh\necho \"$0\"\n");
    for (words, expected) in [
        (vec!["/bin/echo", "$HOME", "*", "a;b", "`x`", "'q'"], "$HOME * a;b `x` 'q'\n"),
        (vec!["/usr/bin/printf", "[%s][%s]", "", "x"], "[][x]"),
        (vec!["./script.sh", "arg one"], "./script.sh <arg one>\n"),
        (vec!["printf", "ok"], "ok"),
    ] {
        let outcome = world.run(world.argv(&words)).await;
        assert_eq!((outcome.end.clone(), stdout(&outcome).as_str()), (End::Exited(0), expected), "{words:?}");
    }
    // The handler's PATH, relative to the handler's cwd; the daemon's PATH does not matter.
    let mut job = world.argv(&["relative-tool"]);
    job.overlay = vec![("PATH".into(), "/nonexistent::/bin".into())];
    assert_eq!(stdout(&world.run(job).await), "relative-tool\n");
    // A missing interpreter sends the search on.
    std::fs::create_dir(world.path("first")).unwrap();
    std::fs::create_dir(world.path("second")).unwrap();
    world.script("first/tool", "#!/nonexistent/interp\n");
    world.script("second/tool", "#!/bin/sh\necho second\n");
    let mut job = world.argv(&["tool"]);
    let path = std::env::join_paths([world.path("first"), world.path("second")]).unwrap();
    job.overlay = vec![("PATH".into(), path)];
    assert_eq!(stdout(&world.run(job).await), "second\n");
    // Without PATH, what the C library takes.
    let mut job = world.argv(&["printf", "ok"]);
    Arc::make_mut(&mut job.template).env = Arc::default();
    assert_eq!(stdout(&world.run(job).await), "ok");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b49_shell_form_is_bin_sh() {
    let world = World::new();
    for (line, end, out) in [
        ("x=1; [ $x = 1 ] && exit 2", End::Exited(2), ""),
        ("true\nexit 2", End::Exited(2), ""),
        ("printf a\nprintf b\n", End::Exited(0), "ab"),
        ("printf a | tr a b", End::Exited(0), "b"),
        ("echo \"$0\" $#", End::Exited(0), "/bin/sh 0\n"),
    ] {
        let mut job = world.shell(line);
        job.overlay.push(("SHELL".into(), "/usr/bin/fish".into()));
        // A file that an interactive shell would read.
        job.overlay.push(("ENV".into(), world.file("rc", "exit 99", 0o644).into()));
        let outcome = world.run(job).await;
        assert_eq!((outcome.end.clone(), stdout(&outcome).as_str()), (end, out), "{line}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b48_a_lost_folder_is_replaced_and_named() {
    let world = World::new();
    let (gone, file, project) = (world.path("gone"), world.path("deny.json"), world.path("project"));
    std::fs::create_dir(&project).unwrap();
    let project_text = project.to_str().unwrap();
    for cwd in [&gone, &file, Path::new("/nul\0"), Path::new("")] {
        let mut job = world.shell("pwd; exit 2");
        Arc::make_mut(&mut job.template).cwd = cwd.to_owned();
        Arc::make_mut(&mut job.template).fallback_cwds = vec![gone.clone(), project.clone(), "/".into()];
        let outcome = world.run(job).await;
        assert_eq!((outcome.end.clone(), stdout(&outcome)), (End::Exited(2), format!("{project_text}\n")));
        assert_eq!(outcome.ran_in_instead.as_deref(), Some(project_text));
    }
    let outcome = world.run(world.shell("pwd")).await;
    assert_eq!(
        (stdout(&outcome).trim(), outcome.ran_in_instead),
        (world.path("").to_str().unwrap().trim_end_matches('/'), None)
    );

    let mut job = world.shell("exit 2");
    Arc::make_mut(&mut job.template).cwd = gone.clone();
    assert_eq!(
        launch_failure(world.run(job.clone()).await),
        format!("no directory to run in: {gone:?} does not exist; create the directory again")
    );
    Arc::make_mut(&mut job.template).cwd = file.clone();
    Arc::make_mut(&mut job.template).fallback_cwds = vec![gone.clone()];
    assert_eq!(
        launch_failure(world.run(job).await),
        format!(
            "no directory to run in: {file:?} is not a directory, nor can it run in [{gone:?}]; create the \
             directory again"
        )
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn times_are_told() {
    let world = World::new();
    let outcome = world.run(world.shell("sleep 0.2")).await;
    assert!(outcome.duration >= Duration::from_millis(200), "{:?}", outcome.duration);
    assert!(outcome.queued < Duration::from_secs(2), "{:?}", outcome.queued);
}
