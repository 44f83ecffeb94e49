//! D14: the file mode mask and the resource limits belong to the session.

use serde_json::json;

use crate::support::{Daemon, commands, pre};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d14_each_session_has_its_own_umask() {
    let daemon = Daemon::start("umask 022", &commands(&["umask >&2; exit 2"])).await;
    for (open, expected) in [
        (json!({}), "0022"),
        (json!({ "umask": 0o077 }), "0077"),
        (json!({ "umask": 0 }), "0000"),
        (json!({ "umask": 0o777 }), "0777"),
        (json!({ "umask": null }), "0022"),
    ] {
        let agent = daemon.agent_with(open).await;
        let result = agent.invoke(&pre()).await;
        assert_eq!(result["decision"]["permission"]["reason"], expected);
    }
    let client = daemon.connect().await;
    for bad in [json!(0o1000), json!(-1), json!("022"), json!(1.5)] {
        let params = json!({ "thread_id": "t", "cwd": "/", "mode": "headless", "umask": bad });
        let error = client.call("session/open", params).await.unwrap_err();
        assert_eq!(
            (&error["code"], &error["data"]["field"]),
            (&json!(-32602), &json!("umask")),
            "{bad}: {error}"
        );
    }
    daemon.nothing_left().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d14_each_session_has_its_own_resource_limits() {
    // Set from outside as soon as the process is there: a process it starts a moment later has them from the start.
    let command = "sleep 0.3; sh -c 'ulimit -n; ulimit -t' >&2; exit 2";
    let daemon = Daemon::start("ulimit -Sn 300; ulimit -Hn 400; ulimit -St 500", &commands(&[command])).await;
    for (rlimits, expected) in [
        (json!(null), "300\n500"),
        (json!({}), "300\n500"),
        (json!({ "nofile": 77 }), "77\n500"),
        (json!({ "nofile": 390, "cpu": 33 }), "390\n33"),
        (json!({ "nofile": 1_000_000 }), "400\n500"),
    ] {
        let agent = daemon.agent_with(json!({ "rlimits": rlimits })).await;
        let result = agent.invoke(&pre()).await;
        assert_eq!(result["decision"]["permission"]["reason"], expected, "{rlimits}");
    }
    let client = daemon.connect().await;
    for (bad, field) in
        [(json!({ "nofile": -1 }), "rlimits.nofile"), (json!({ "nproc": 1 }), "rlimits.nproc")]
    {
        let params = json!({ "thread_id": "t", "cwd": "/", "mode": "headless", "rlimits": bad });
        let error = client.call("session/open", params).await.unwrap_err();
        let (code, at) = (&error["code"], error["data"]["field"].as_str().unwrap());
        assert!(*code == json!(-32602) && at == field, "{bad}: {error}");
    }
    daemon.nothing_left().await;
}
