//! The two service managers: which files they want, and which commands they take.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use hooksd_client::owner::{SOCKET_UNIT, folder, manager_runs, systemctl};
use hooksd_client::program;

use super::files::ServiceFile;
use crate::arguments::ServiceManager;
use crate::failure::Failure;

/// The service unit's name.
const SERVICE_UNIT: &str = "hooksd.service";

/// The agent's label, as its plist says.
const LABEL: &str = "hooksd";

/// How long the service manager may take for one command. Seconds. Stopping the service takes its drain (10 s) and more.
const COMMAND_SECONDS: u64 = 60;

/// The files as they are in the repository: with a program's path that is replaced.
const SERVICE: &str = include_str!("../../../../units/hooksd.service");
const SOCKET: &str = include_str!("../../../../units/hooksd.socket");
const AGENT: &str = include_str!("../../../../units/hooksd.plist");

/// What in the plist is replaced.
const TEMPLATE_PROGRAM: &str = "/usr/local/bin/hooksd";
const TEMPLATE_SOCKET: &str = "/Users/you/.deepagents/.state/hooksd/hooksd.sock";

/// One of the two, with the folder of its files.
pub(super) struct Manager {
    kind: ServiceManager,
    folder: PathBuf,
}

impl Manager {
    pub(super) fn new(kind: ServiceManager) -> Result<Manager, Failure> {
        let home = || folder("HOME");
        let found = match kind {
            ServiceManager::Systemd => folder("XDG_CONFIG_HOME")
                .or_else(|| home().map(|home| home.join(".config")))
                .map(|config| config.join("systemd/user")),
            ServiceManager::Launchd => home().map(|home| home.join("Library/LaunchAgents")),
        };
        let missing = || Failure::Input("no place for the files: set HOME to an absolute path".to_owned());
        Ok(Manager { kind, folder: found.ok_or_else(missing)? })
    }

    /// Whether one runs that can be told.
    pub(super) fn runs(&self) -> bool {
        match self.kind {
            ServiceManager::Systemd => manager_runs(),
            ServiceManager::Launchd => cfg!(target_os = "macos"),
        }
    }

    /// Its files.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        let names: &[&str] = match self.kind {
            ServiceManager::Systemd => &[SOCKET_UNIT, SERVICE_UNIT],
            ServiceManager::Launchd => &["hooksd.plist"],
        };
        names.iter().map(|name| self.folder.join(name)).collect()
    }

    /// Its files as they should be, for the daemon beside this program and this socket.
    pub(super) fn wanted(&self, socket: &Path) -> Result<Vec<ServiceFile>, Failure> {
        let text = |path: &Path| match path.to_str() {
            Some(text) if !text.contains(char::is_control) => Ok(text.to_owned()),
            _ => Err(Failure::Input(format!("{} cannot be written into a unit", path.display()))),
        };
        let hooksd = text(&program::find().map_err(Failure::Input)?)?;
        let config_dir = folder("HOOKSD_CONFIG_DIR").map(|path| text(&path)).transpose()?;
        let contents = match self.kind {
            ServiceManager::Systemd => {
                let usual = folder("XDG_RUNTIME_DIR").map(|runtime| runtime.join("hooksd/hooksd.sock"));
                let own = if usual.as_deref() == Some(socket) { None } else { Some(text(socket)?) };
                vec![socket_unit(own.as_deref()), service_unit(&hooksd, config_dir.as_deref())]
            }
            ServiceManager::Launchd => vec![agent(&hooksd, config_dir.as_deref(), &text(socket)?)],
        };
        Ok(self
            .paths()
            .into_iter()
            .zip(contents)
            .map(|(path, content)| ServiceFile { path, content })
            .collect())
    }

    /// What must be there before the service is switched on: systemd makes the socket's folder, launchd does not.
    pub(super) fn prepare(&self, socket: &Path) -> Result<(), Failure> {
        let (ServiceManager::Launchd, Some(folder)) = (self.kind, socket.parent()) else { return Ok(()) };
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(|error| Failure::Service(format!("cannot make {}: {error}", folder.display())))
    }

    /// The commands that switch the service on.
    pub(super) fn switch_on(&self) -> Vec<Vec<String>> {
        match self.kind {
            ServiceManager::Systemd => {
                vec![systemctl_line(&["daemon-reload"]), systemctl_line(&["enable", "--now", SOCKET_UNIT])]
            }
            ServiceManager::Launchd => {
                let files = self.paths().into_iter().map(|path| path.display().to_string());
                let words = ["launchctl".to_owned(), "bootstrap".to_owned(), domain()];
                vec![words.into_iter().chain(files).collect()]
            }
        }
    }

    /// The commands that switch it off.
    pub(super) fn switch_off(&self) -> Vec<Vec<String>> {
        match self.kind {
            ServiceManager::Systemd => {
                vec![systemctl_line(&["disable", "--now", SOCKET_UNIT, SERVICE_UNIT])]
            }
            ServiceManager::Launchd => {
                vec![vec!["launchctl".to_owned(), "bootout".to_owned(), format!("{}/{LABEL}", domain())]]
            }
        }
    }

    /// The commands for when the files are gone.
    pub(super) fn forget(&self) -> Vec<Vec<String>> {
        match self.kind {
            ServiceManager::Systemd => vec![systemctl_line(&["daemon-reload"])],
            ServiceManager::Launchd => Vec::new(),
        }
    }

    /// Runs one of them.
    pub(super) fn run(&self, words: &[String]) -> Result<(), Failure> {
        let line = words.join(" ");
        let Some((name, arguments)) = words.split_first() else { return Ok(()) };
        let mut command = program::command(name);
        command.args(arguments).stdin(Stdio::null());
        let deadline = Instant::now() + Duration::from_secs(COMMAND_SECONDS);
        match program::ask(command, deadline) {
            Ok((status, _)) if status.success() => Ok(()),
            Ok((status, said)) => Err(Failure::Service(format!("`{line}` failed ({status}): {said}"))),
            Err(error) => Err(Failure::Service(format!("`{line}` cannot be run: {error}"))),
        }
    }

    /// What it says of each unit.
    pub(super) fn states(&self) -> Vec<String> {
        if self.kind != ServiceManager::Systemd || !self.runs() {
            return Vec::new();
        }
        let deadline = Instant::now() + Duration::from_secs(COMMAND_SECONDS);
        let state = |unit: &str| {
            let asked = ["show", "--property=ActiveState,UnitFileState", unit];
            let said = match systemctl(&asked, deadline) {
                Ok((_, said)) => said.lines().collect::<Vec<_>>().join(", "),
                Err(error) => error.to_string(),
            };
            format!("{unit}: {said}")
        };
        [SOCKET_UNIT, SERVICE_UNIT].map(state).into()
    }
}

fn systemctl_line(arguments: &[&str]) -> Vec<String> {
    ["systemctl", "--user"].iter().chain(arguments).map(|word| (*word).to_owned()).collect()
}

fn domain() -> String {
    format!("gui/{}", nix::unistd::getuid().as_raw())
}

/// Replaces the value of a key in a unit.
fn set(unit: &str, key: &str, value: &str) -> String {
    let start = format!("{key}=");
    let line = |line: &str| {
        let line = if line.starts_with(&start) { format!("{start}{value}") } else { line.to_owned() };
        line + "\n"
    };
    unit.lines().map(line).collect()
}

/// A word in a unit: `%` begins a specifier, `$` a variable.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '%' => out.push_str("%%"),
            '$' => out.push_str("$$"),
            '"' | '\\' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out + "\""
}

fn service_unit(hooksd: &str, config_dir: Option<&str>) -> String {
    let mut start = quoted(hooksd);
    if let Some(config_dir) = config_dir {
        start.push_str(&format!(" --config-dir {}", quoted(config_dir)));
    }
    set(SERVICE, "ExecStart", &start)
}

fn socket_unit(socket: Option<&str>) -> String {
    match socket {
        // Not a command line: only specifiers mean something here.
        Some(socket) => set(SOCKET, "ListenStream", &socket.replace('%', "%%")),
        None => SOCKET.to_owned(),
    }
}

fn agent(hooksd: &str, config_dir: Option<&str>, socket: &str) -> String {
    let string = |text: &str| {
        let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        format!("<string>{escaped}</string>")
    };
    let options = config_dir.into_iter().flat_map(|config_dir| ["--config-dir", config_dir]);
    let words: Vec<String> = std::iter::once(hooksd).chain(options).map(string).collect();
    AGENT
        .replace(&string(TEMPLATE_PROGRAM), &words.join("\n        "))
        .replace(&string(TEMPLATE_SOCKET), &string(socket))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_something_to_systemd_is_escaped() {
        assert_eq!(quoted(r#"/a b/%h$HOME/"x"\y"#), r#""/a b/%%h$$HOME/\"x\"\\y""#);
        assert_eq!(set("A=1\nB=2\n", "B", "%h"), "A=1\nB=%h\n");
        assert!(socket_unit(Some("/a%b")).contains("\nListenStream=/a%%b\n"));
    }

    #[test]
    fn the_templates_have_what_is_replaced() {
        let unit = service_unit("/x/hooksd", Some("/c"));
        assert!(unit.contains("\nExecStart=\"/x/hooksd\" --config-dir \"/c\"\n"), "{unit}");
        let agent = agent("/x&y", None, "/s");
        assert!(
            agent.contains("<string>/x&amp;y</string>") && agent.contains("<string>/s</string>"),
            "{agent}"
        );
        assert!(!agent.contains(TEMPLATE_PROGRAM) && !agent.contains(TEMPLATE_SOCKET));
    }
}
