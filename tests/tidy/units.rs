//! The unit files are well-formed and start the program there is.

use crate::text;

#[test]
fn the_systemd_unit_starts_hooksd_and_leaves_it_time_to_drain() {
    let unit = text("systemd/hooksd.service");
    let value = |key: &str| unit.lines().find_map(|line| line.strip_prefix(&format!("{key}=")));
    assert_eq!(value("ExecStart"), Some("%h/.cargo/bin/hooksd"));
    assert_eq!(value("KillMode"), Some("mixed"));
    let stop: u64 = value("TimeoutStopSec").unwrap().parse().unwrap();
    assert!(stop > hooksd::settings::DRAIN_SECONDS + 3, "systemd would cut the drain short");
}

#[test]
fn the_launchd_agent_is_balanced_and_starts_hooksd() {
    let plist = text("launchd/hooksd.plist");
    for tag in ["plist", "dict", "array"] {
        let opened = plist.matches(&format!("<{tag}")).count();
        assert_eq!(opened, plist.matches(&format!("</{tag}>")).count(), "{tag}");
    }
    assert!(plist.contains("<string>/usr/local/bin/hooksd</string>"));
}
