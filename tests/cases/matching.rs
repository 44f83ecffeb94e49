//! Kind 6: matchers.

use hooksd_tests::harness::{World, decision, deny, events, world};
use serde_json::{Value, json};

/// What a matcher does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    Match,
    NotMatch,
    /// Refused with `invalid_matcher`.
    Refused,
}
use Does::{Match, NotMatch, Refused};

async fn does(world: &World, matcher: &Value, event: &Value) -> Does {
    let name = event["event"].as_str().unwrap();
    let group = json!({ "matcher": matcher, "hooks": [{ "type": "command", "command": "exit 2" }] });
    let mut agent = world.agent_of(&json!({ "hooks": { name: [group] } })).await;
    let remarks = agent.load_diagnostics();
    let ran = !agent.invoke(event).await.handlers().is_empty();
    match (remarks.as_slice(), ran) {
        ([], true) => Match,
        ([], false) => NotMatch,
        ([remark], false)
            if remark.starts_with("invalid_matcher") || remark.starts_with("unsupported_matcher") =>
        {
            Refused
        }
        _ => panic!("{matcher}: {remarks:?}, ran: {ran}"),
    }
}

/// Look-around works as people write it; an expression that does not compile costs its own group.
#[test]
fn b37_look_around_works() {
    world(async |world| {
        let hooks = json!([{ "type": "command", "command": "exit 2" }]);
        let groups =
            json!([{ "matcher": "^(?!mcp__)", "hooks": hooks }, { "matcher": "B[a", "hooks": hooks }]);
        let mut agent = world.agent_of(&json!({ "hooks": { "PreToolUse": groups } })).await;
        assert_eq!(agent.load_diagnostics(), ["invalid_matcher matcher"]);
        let answer = agent.invoke(&events::pre()).await;
        let denied = json!({ "permission": deny("Hook blocked the operation") });
        assert_eq!(answer.decision(), decision("PreToolUse", denied));
        assert_eq!(answer.handlers(), ["PreToolUse:0:0 blocked exit 2"]);
        let answer = agent.invoke(&events::pre_of("mcp__a__b")).await;
        assert_eq!(answer.decision(), decision("PreToolUse", json!({})));
        // Back-references, atomic groups, comments, conditions, open repetitions.
        for (matcher, expected) in [
            ("^(.)as(?!\\1)", Match),
            ("(B)ash(?(1)$|x)", Match),
            ("^Bas{,3}h$", Match),
            ("(?#guard)^Bash$", Match),
        ] {
            assert_eq!(does(world, &json!(matcher), &events::pre()).await, expected, "{matcher}");
        }
    });
}

/// D7: an expression means what it means to the reference, or is refused. Never something else.
#[test]
fn b38_no_silently_different_meaning() {
    world(async |world| {
        for (matcher, expected) in [
            ("(?<n>Bash)", Refused),
            (r"\p{L}+", Refused),
            ("[[:alpha:]]+", NotMatch),
            (r"[\w&&\d]", Match),
            (r"Bash\Z", Match),
            (r"Bash\z", Refused),
            ("Bash{", NotMatch),
            ("(?a)Bash", Match),
            (r"(?:\w{1000}){200}", NotMatch),
            ("(?#c)Bash", Match),
        ] {
            assert_eq!(does(world, &json!(matcher), &events::pre()).await, expected, "{matcher}");
        }
    });
}

/// A matcher of plain words is a list of exact names, anything else is an unanchored expression.
#[test]
fn b39_exact_list_or_expression() {
    world(async |world| {
        let bash = [
            ("Bash", Match),
            ("bash", NotMatch),
            ("execute", NotMatch),
            ("Ba", NotMatch),
            ("Bash | Write", Match),
            (" Bash ", Match),
            ("Bash,Write", Match),
            ("Bash|", Match),
            ("Bash\n", Match),
            ("  ", NotMatch),
            ("|", NotMatch),
            ("", Match),
            ("*", Match),
        ];
        for (matcher, expected) in bash {
            assert_eq!(does(world, &json!(matcher), &events::pre()).await, expected, "{matcher:?}");
        }
        assert_eq!(does(world, &Value::Null, &events::pre()).await, Match);

        let memory = events::pre_mcp("memory", "memory_create");
        for (matcher, expected) in [
            ("mcp__memory__create", Match),
            ("mcp__memory", NotMatch),
            ("mcp__memory__.*", Match),
            ("mcp__*", Match),
        ] {
            assert_eq!(does(world, &json!(matcher), &memory).await, expected, "{matcher:?}");
        }
        let brave = events::pre_mcp("brave-search", "web");
        for (matcher, expected) in [("mcp__brave-search", NotMatch), ("mcp__brave-search__web", Match)] {
            assert_eq!(does(world, &json!(matcher), &brave).await, expected, "{matcher:?}");
        }
        // Searched for, not anchored; word characters are those of Unicode; a dot makes an expression.
        assert_eq!(does(world, &json!("mcp__.*"), &events::pre_of("notmcp__a__b")).await, Match);
        assert_eq!(does(world, &json!("mcp__ü__t"), &events::pre_of("mcp__ü__t")).await, Match);
        assert_eq!(does(world, &json!("mcp__ü__t"), &events::pre_of("xmcp__ü__t")).await, NotMatch);
        assert_eq!(does(world, &json!("mcp__a.b__t"), &events::pre_of("mcp__axb__t")).await, Match);
    });
}

/// Stop and UserPromptSubmit have nothing to match: a matcher there is refused, not ignored.
#[test]
fn b40_a_matcher_on_an_event_without_one() {
    world(async |world| {
        for event in [events::stop(0), events::prompt()] {
            for (matcher, expected) in [
                (json!("Bash"), Refused),
                (json!(".*"), Refused),
                (json!("*"), Match),
                (json!(""), Match),
                (Value::Null, Match),
            ] {
                assert_eq!(does(world, &matcher, &event).await, expected, "{matcher} on {event}");
            }
        }
        let document = json!({ "hooks": { "Stop": [{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "true" }] }] } });
        assert_eq!(world.agent_of(&document).await.load_diagnostics(), ["unsupported_matcher matcher"]);
    });
}
