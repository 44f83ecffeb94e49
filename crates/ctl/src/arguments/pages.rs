//! The arguments of what is generated from the command line's definition.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// To be read by a shell: bash from ~/.local/share/bash-completion/completions/hooksctl, zsh from _hooksctl in a folder
/// of $fpath, fish from ~/.config/fish/completions/hooksctl.fish.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: ShellArgument,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShellArgument {
    Bash,
    Zsh,
    Fish,
}

/// One page a command, in section 1.
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The folder to write into; it is made when it is missing
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}
