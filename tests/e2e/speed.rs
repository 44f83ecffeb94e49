//! Two promises about time and memory, held by the real program. Each runs while no other test of this process does.

use std::time::Duration;

use hooksd_tests::harness::{alone, events, processes, within};
use serde_json::json;

#[test]
fn two_megabytes_through_a_handler_and_back_take_under_a_second() {
    alone(async |world| {
        let mut agent = world.agent_of(&events::shell_within("PreToolUse", "tee $W/copy", 10.0)).await;
        let request = json!({
            "jsonrpc": "2.0", "id": 9000, "method": "hook/invoke", "params": agent.params(&events::pre_2mb()),
        });
        let line = request.to_string();
        within(Duration::from_secs(1), async || {
            agent.line.send_line(&line).await;
            let answer = agent.answer(9000).await;
            let written = answer.0["handlers"][0]["stdout_bytes"].as_u64().unwrap();
            assert!(written > 2_000_000, "{written}");
            assert_eq!(world.at("copy").metadata().unwrap().len(), written);
        })
        .await;
    });
}

#[test]
fn three_hundred_megabytes_of_output_leave_no_trace_in_memory() {
    alone(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "head -c 300000000 /dev/zero")).await;
        let before = processes::resident(world.pid());
        let answer = agent.invoke(&events::pre()).await;
        assert_eq!(answer.0["handlers"][0]["stdout_bytes"], 300_000_000);
        let after = processes::resident(world.pid());
        assert!(after < before + 10_000_000, "from {before} to {after} bytes");
    });
}
