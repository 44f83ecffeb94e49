//! D14: the file mode mask belongs to the session.

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
