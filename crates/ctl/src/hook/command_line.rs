//! The options of `hooksctl hook`, defined once: what agents type is read by hand, since the full parser costs more than
//! the rest of the start; help, completions and manual pages come from the full parser, which is given the same table.

use std::ffi::OsString;
use std::path::PathBuf;

/// An option that takes a value.
pub(crate) struct HookOption {
    /// Without the two hyphens.
    pub(crate) name: &'static str,
    /// What stands for the value in the usage and in the help.
    pub(crate) value_name: &'static str,
    /// The line of the help.
    pub(crate) help: &'static str,
    /// What counts where the option is left out.
    pub(crate) default: Option<&'static str>,
    /// Whether it may not be left out.
    pub(crate) is_required: bool,
    /// Where its value is kept.
    pub(crate) value: fn(&mut RawOptions) -> &mut Option<String>,
}

/// What a failure comes to where `--fail` is left out.
pub(crate) const DEFAULT_FAIL: &str = "open";

/// Which plugins take part where `--plugins` is left out.
pub(crate) const DEFAULT_PLUGINS: &str = "discover";

/// The options, in the order of the help. `--socket` is one of every command, and therefore none of these.
pub(crate) const OPTIONS: [HookOption; 7] = [
    HookOption {
        name: "agent",
        value_name: "NAME",
        help: "The agent's name, or \"auto\" in a file that several agents read",
        default: None,
        is_required: true,
        value: |raw| &mut raw.agent,
    },
    HookOption {
        name: "event",
        value_name: "EVENT",
        help: "The event, for agents that do not say it",
        default: None,
        is_required: false,
        value: |raw| &mut raw.event,
    },
    HookOption {
        name: "fail",
        value_name: "open|closed",
        help: "What the agent gets when there is no decision: it goes on, or what can be stopped is",
        default: Some(DEFAULT_FAIL),
        is_required: false,
        value: |raw| &mut raw.fail,
    },
    HookOption {
        name: "deadline",
        value_name: "SECONDS",
        help: "Answer within this time, below the timeout of the agent's entry; \
               default the agent's own minus half a second",
        default: None,
        is_required: false,
        value: |raw| &mut raw.deadline,
    },
    HookOption {
        name: "mode",
        value_name: "interactive|headless",
        help: "Whether a person is there, for agents that do not show it: decides if persisted trust counts",
        default: None,
        is_required: false,
        value: |raw| &mut raw.mode,
    },
    HookOption {
        name: "trust",
        value_name: "explicit|SHA256",
        help: "Trust the project's hooks.json for this call, also where nobody is there: whatever it says now \
               (explicit: whoever can change the project can then run commands as you), or only these bytes",
        default: None,
        is_required: false,
        value: |raw| &mut raw.trust,
    },
    HookOption {
        name: "plugins",
        value_name: "discover|none",
        help: "Whether the hooks of the agent's enabled plugins take part",
        default: Some(DEFAULT_PLUGINS),
        is_required: false,
        value: |raw| &mut raw.plugins,
    },
];

/// The values as they were typed, before they mean anything.
#[derive(Debug, Clone, Default)]
pub(crate) struct RawOptions {
    pub(crate) agent: Option<String>,
    pub(crate) event: Option<String>,
    pub(crate) fail: Option<String>,
    pub(crate) deadline: Option<String>,
    pub(crate) mode: Option<String>,
    pub(crate) trust: Option<String>,
    pub(crate) plugins: Option<String>,
    pub(crate) socket: Option<PathBuf>,
}

/// Reads the arguments after `hook`. `None` when they ask for help.
pub(super) fn read(arguments: &[OsString]) -> Result<Option<RawOptions>, String> {
    let mut raw = RawOptions::default();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let text = argument.to_str().ok_or_else(|| format!("{argument:?} is not UTF-8"))?;
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(OsString::from(value))),
            None => (text, None),
        };
        if matches!(name, "-h" | "--help" | "-V" | "--version") {
            return Ok(None);
        }
        let option = OPTIONS.iter().find(|option| name.strip_prefix("--") == Some(option.name));
        if option.is_none() && name != "--socket" {
            return Err(format!("unknown argument {text}"));
        }
        let value = value.or_else(|| arguments.next().cloned());
        let value = value.ok_or_else(|| format!("{name} needs a value"))?;
        match option {
            None => raw.socket = Some(value.into()),
            Some(option) => {
                let value = value.into_string().map_err(|value| format!("{name}: {value:?} is not UTF-8"))?;
                *(option.value)(&mut raw) = Some(value);
            }
        }
    }
    Ok(Some(raw))
}

/// How the command line is used, for the person who got it wrong.
pub(super) fn usage() -> String {
    let option = |option: &HookOption| {
        let typed = format!("--{} {}", option.name, option.value_name);
        if option.is_required { typed } else { format!("[{typed}]") }
    };
    let options: Vec<String> = OPTIONS.iter().map(option).collect();
    format!("usage: hooksctl hook {} [--socket PATH]", options.join(" "))
}
