#!/bin/sh
# A guard for shell commands. hooksd runs it before every call of Bash, as hooks.json beside this folder says.
#
# What it gets: one line of JSON on standard input, like
#   {"session_id":"...","cwd":"/home/you/project","hook_event_name":"PreToolUse",
#    "tool_name":"Bash","tool_input":{"command":"rm -rf /"},"tool_use_id":"..."}
#
# What it may answer:
#   exit 0   nothing to object; the agent goes on
#   exit 2   denied; the agent reads the reason on standard error
#   others   a failure. It blocks only because hooks.json says "onFailure": "block"; without that, it would not
#
# Try it:  hooksctl explain --run --event PreToolUse --tool Bash --input '{"command":"rm -rf /"}'

event=$(cat)

# A plain look at the text is enough to begin with. To look at the command alone, use a program that reads JSON:
#   command=$(printf '%s' "$event" | jq -r .tool_input.command)
case $event in
    *'rm -rf /"'* | *'rm -rf / '* | *'rm -rf ~'*)
        echo 'guard.sh: deleting everything is not allowed here' >&2
        exit 2
        ;;
esac
exit 0
