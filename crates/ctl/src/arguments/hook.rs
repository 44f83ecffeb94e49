//! `hook`, whose options are listed where they are also read by hand.

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};

use crate::hook::{HookOption, OPTIONS, RawOptions};

/// The options as the full parser knows them. The exit status is the agent's: 0, or 2 where that is how it is told of a
/// block.
#[derive(Debug)]
pub(crate) struct Hook(pub(crate) RawOptions);

impl Args for Hook {
    fn augment_args(command: Command) -> Command {
        let argument = |option: &HookOption| {
            let argument = Arg::new(option.name).long(option.name).value_name(option.value_name);
            argument.help(option.help).required(option.is_required).default_value(option.default)
        };
        command.args(OPTIONS.iter().map(argument))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Hook::augment_args(command)
    }
}

impl FromArgMatches for Hook {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Hook, clap::Error> {
        let mut hook = Hook(RawOptions::default());
        hook.update_from_arg_matches(matches)?;
        Ok(hook)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for option in &OPTIONS {
            *(option.value)(&mut self.0) = matches.get_one::<String>(option.name).cloned();
        }
        Ok(())
    }
}
