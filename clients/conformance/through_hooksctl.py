"""hooksd as an engine behind `hooksctl conformance --agent-command`, by the commands that people type.

    hooksctl conformance --agent-command "python3 clients/conformance/through_hooksctl.py hooksctl"

Each scenario has a daemon of its own: `hooksctl invoke` starts it, `hooksctl shutdown` ends it.
"""

import json
import os
import subprocess
import sys
import tempfile


def main(hooksctl):
    request = json.loads(sys.stdin.readline())
    if request["plugins"] or request["transcript_path"] or request["agent_transcript_path"]:
        return {"unsupported": "hooksctl invoke takes no plugins and no transcripts"}
    with tempfile.TemporaryDirectory() as folder:
        where = {"HOOKSD_SOCKET": f"{folder}/socket", "HOOKSD_CONFIG_DIR": request["config_dir"]}

        def call(*words, **more):
            environment = {**os.environ, **where}
            return subprocess.run([hooksctl, *words], env=environment, capture_output=True, text=True, **more)

        trust = ["--trust", request["trust"]] if request["trust"] else []
        options = ["--json", "--cwd", request["cwd"], "--mode", request["mode"], *trust]
        try:
            done = call("invoke", *options, input=json.dumps(request["invocation"]))
        finally:
            call("shutdown", "--drain", "0")
    if done.returncode:
        sys.exit(done.stderr)
    return {"decision": json.loads(done.stdout)["decision"]}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1])))
