//! The unit files as they are in the repository. `tests/e2e/service.rs` has the programs that read them verify what is
//! installed.

use crate::text;

#[test]
fn the_systemd_unit_starts_hooksd_and_leaves_it_time_to_drain() {
    let unit = text("systemd/hooksd.service");
    let value = |key: &str| unit.lines().find_map(|line| line.strip_prefix(&format!("{key}=")));
    assert_eq!(value("ExecStart"), Some("%h/.cargo/bin/hooksd"));
    assert_eq!((value("Type"), value("KillMode")), (Some("notify"), Some("mixed")));
    let stop: u64 = value("TimeoutStopSec").unwrap().parse().unwrap();
    assert!(stop > hooksd::base::settings::DRAIN_SECONDS + 3, "systemd would cut the drain short");
    assert!(value("WatchdogSec").unwrap().parse::<u64>().unwrap() > 0);
}

/// What hides files from handlers, or keeps them from becoming another user, is not switched on.
#[test]
fn nothing_is_hidden_from_handlers() {
    let unit = text("systemd/hooksd.service");
    for line in unit.lines().filter(|line| !line.starts_with('#')) {
        for start in
            ["Protect", "Private", "Restrict", "NoNew", "SystemCall", "Lock", "ReadOnly", "Inaccessible"]
        {
            let harmless = line.starts_with("RestartPreventExitStatus");
            assert!(harmless || !line.starts_with(start), "{line}");
        }
    }
}

#[test]
fn the_systemd_socket_is_where_clients_look_and_the_users_alone() {
    let unit = text("systemd/hooksd.socket");
    for line in ["ListenStream=%t/hooksd/hooksd.sock", "SocketMode=0600", "DirectoryMode=0700"] {
        assert!(unit.lines().any(|found| found == line), "{line}");
    }
}
