//! `hooksctl report`: a page that shows what ran, needs nothing else, and does not become what handlers say.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hooksd_tests::harness::program::{Done, run};
use hooksd_tests::harness::{World, daemon, events};
use serde_json::json;

use crate::ctl::{ctl, ctl_json};

const EVIL: &str = "<script>document.title='pwned'</script><img src=x onerror=alert(1)>";

/// Where headless Chromium is, if it is here at all.
fn chromium() -> Option<PathBuf> {
    let path = std::env::var("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).chain([PathBuf::from("/usr/bin")]).collect();
    let names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
    names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|path| path.is_file())
}

/// How a browser is asked for a scheme of colours.
const SCHEMES: [(&str, &str); 2] = [("light", "preferredColorScheme=1"), ("dark", "preferredColorScheme=0")];

/// Runs the browser on a page of the world: what it prints, and what it complains.
async fn browse(world: &World, browser: &Path, page: &str, scheme: &str, wanted: &str) -> Done {
    let mut command = Command::new(browser);
    command
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--window-size=1100,2000"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--disable-dev-shm-usage", "--enable-logging=stderr", "--timeout=20000", wanted])
        .arg(format!("--blink-settings={scheme}"))
        .arg(format!("--user-data-dir={}", world.text_at("browser")))
        .arg(format!("file://{}", world.text_at(page)))
        .env("HOME", world.at("home"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let done = run(command).await;
    assert_eq!(done.status, Some(0), "{}", done.stderr);
    done
}

/// In both schemes: nothing is complained about, every picture has something in it, and it can be drawn.
async fn is_readable(world: &World, page: &str) {
    let Some(browser) = chromium() else {
        anstream::eprintln!("not run: there is no chromium on this machine");
        return;
    };
    // A complaint would be seen.
    world.write("wrong.html", "<script>console.error('seen')</script>");
    let control = browse(world, &browser, "wrong.html", SCHEMES[0].1, "--dump-dom").await;
    assert!(control.stderr.contains("CONSOLE"), "{}", control.stderr);

    let mut drawn = Vec::new();
    for (name, scheme) in SCHEMES {
        let Done { stdout: dom, stderr, .. } = browse(world, &browser, page, scheme, "--dump-dom").await;
        assert!(!stderr.contains("CONSOLE"), "{name}: {stderr}");
        assert!(dom.contains("<title>hooksd: what ran</title>"), "{name}: {dom}");
        let charts: Vec<&str> = dom.split("<div class=\"chart\">").skip(1).collect();
        assert!(charts.len() >= 7, "time, four events, tools and failures: {}", charts.len());
        for chart in charts {
            let chart = chart.split("</svg>").next().unwrap();
            let bars: Vec<&str> = chart.split("<rect ").skip(1).collect();
            assert!(!bars.is_empty(), "an empty picture: {chart}");
            for (bar, side) in bars.iter().flat_map(|bar| [(bar, " width=\""), (bar, " height=\"")]) {
                let length =
                    bar.split(side).nth(1).and_then(|rest| rest.split('"').next()?.parse::<f64>().ok());
                assert!(length.is_some_and(|length| length > 0.0), "a bar that is not seen: {bar}");
            }
        }
        let picture = world.at(&format!("{name}.png"));
        browse(world, &browser, page, scheme, &format!("--screenshot={}", picture.display())).await;
        let bytes = std::fs::read(&picture).unwrap();
        assert!(
            bytes.starts_with(b"\x89PNG") && bytes.len() > PICTURE_LEAST,
            "{name}: {} bytes",
            bytes.len()
        );
        drawn.push(bytes);
    }
    assert!(drawn[0] != drawn[1], "light and dark look the same");
}

/// A picture of less is empty. Bytes: one of the page alone, without charts, has fewer.
const PICTURE_LEAST: usize = 40_000;

#[test]
fn the_page_shows_what_ran_and_runs_nothing_of_it() {
    daemon(async |world| {
        world.write("reason", EVIL);
        let mut agent = world
            .agent_of(&json!({ "hooks": {
                "PreToolUse": [
                    { "matcher": "Bash", "hooks": [
                        { "type": "command", "command": "cat \"$W/reason\" >&2; exit 2 # <script>" },
                        { "type": "command", "command": "sleep 0.1" },
                    ]},
                    { "matcher": "Read", "hooks": [{ "type": "command", "command": "exit 7" }] },
                ],
            }}))
            .await;
        for _ in 0..3 {
            agent.invoke(&events::pre()).await;
            agent.invoke(&events::pre_of("Read")).await;
        }
        agent.invoke(&events::pre_of("<b>tool</b>")).await;
        agent.line.call("journal/query", json!({})).await.unwrap();
        let config = world.text_at("config");
        let page = world.text_at("page.html");

        let done = ctl(world, &["report", "--config-dir", &config, "--out", &page]).await;
        assert_eq!((done.status, done.stderr.as_str()), (Some(0), ""), "{done:?}");
        assert_eq!(done.stdout, format!("{page}: 7 events, 9 handler runs\n"));
        let mode = std::fs::metadata(&page).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "it is as private as the journal");
        let html = world.read("page.html").unwrap();
        for evil in ["<script", "<img", "<b>tool", "http://", "https://", "url("] {
            assert!(!html.contains(evil), "{evil} is in the page");
        }
        for text in ["&lt;script&gt;document.title", "&lt;b&gt;tool&lt;/b&gt;", "failed: exit 7"] {
            assert!(html.contains(text), "{text} is not in the page");
        }

        let all = ctl_json(world, &["report", "--config-dir", &config]).await;
        let figures = &all["figures"];
        assert_eq!(
            [&figures["events"], &figures["runs"], &figures["denied"], &figures["failed"]],
            [&json!(7), &json!(9), &json!(3), &json!(3)]
        );
        assert_eq!(figures["failures"], json!([["failed: exit 7", 3]]));
        assert_eq!(figures["handlers"][0]["id"], "PreToolUse:0:1");
        let counted: u64 = figures["over_time"]["columns"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|column| column.as_array().unwrap())
            .map(|micros| micros.as_u64().unwrap())
            .sum();
        let handlers = figures["handlers"].as_array().unwrap();
        let total: u64 = handlers.iter().map(|handler| handler["total_us"].as_u64().unwrap()).sum();
        assert_eq!(counted, total, "no run is lost between the columns");

        is_readable(world, "page.html").await;
    });
}

#[test]
fn an_empty_journal_is_a_page_that_says_so() {
    daemon(async |world| {
        let config = world.text_at("config");
        let mut agent = world.agent_of(&events::shell("PreToolUse", "true")).await;
        agent.invoke(&events::pre()).await;
        agent.line.call("journal/query", json!({})).await.unwrap();
        for (config, until) in [(config.as_str(), "2020-01-01T00:00:00Z"), (&world.text_at("home"), "1s")] {
            let done = ctl(world, &["report", "--config-dir", config, "--until", until]).await;
            assert_eq!((done.status, done.stderr.as_str()), (Some(0), ""), "{done:?}");
            assert!(done.stdout.contains("The journal has no events of this time"), "{}", done.stdout);
            assert!(done.stdout.ends_with("</html>\n"), "{}", done.stdout);
        }
        let wrong = ctl(world, &["report", "--config-dir", &config, "--since", "yesterday"]).await;
        assert_eq!((wrong.status, wrong.stdout.as_str()), (Some(2), ""), "{wrong:?}");
        let nowhere = world.text_at("gone/page.html");
        let wrong = ctl(world, &["report", "--config-dir", &config, "--out", &nowhere]).await;
        assert_eq!((wrong.status, wrong.stdout.as_str()), (Some(2), ""), "{wrong:?}");
    });
}
