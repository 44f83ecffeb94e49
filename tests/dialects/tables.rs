//! The tables themselves.

use hooksd_dialects::{Wish, agents};
use hooksd_protocol::event::EventName;

/// A deny and an ask are said by everybody, whether a person is there or not: none is ever left out.
#[test]
fn every_agent_can_deny_a_tool() {
    for dialect in agents::ALL {
        for is_attended in [false, true] {
            for wish in [Wish::Deny, Wish::Ask] {
                let how = dialect.how(EventName::PreToolUse, wish, is_attended);
                assert!(how.is_some(), "{} has no words for {wish:?}", dialect.name);
            }
        }
    }
}

#[test]
fn names_are_unique_and_found() {
    let mut names: Vec<&str> = Vec::new();
    for dialect in agents::ALL {
        for name in [dialect.name].iter().chain(dialect.aliases) {
            assert!(!names.contains(name), "{name} is there twice");
            names.push(name);
            assert_eq!(hooksd_dialects::dialect(name).map(|found| found.name), Some(dialect.name));
        }
    }
    assert!(hooksd_dialects::dialect("emacs").is_none());
}

/// Answers have to be there before the agent stops to wait.
#[test]
fn agents_wait_long_enough_to_be_answered() {
    for dialect in agents::ALL {
        assert!(dialect.patience_ms >= 10_000 && dialect.patience_at_end_ms >= 1_000, "{}", dialect.name);
    }
}
