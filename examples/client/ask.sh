#!/bin/sh
# SPDX-License-Identifier: MIT
# An agent's client in shell, over curl and jq.
#
#   ask.sh http://127.0.0.1:8000/zones                  reads the page
#   ask.sh http://127.0.0.1:8000/ ls texts              runs a tool of it
#
# Standard output and the exit code are the tool's; a refusal ends with 126.
set -eu

[ $# -gt 0 ] || { echo "usage: ask.sh URL [WORD...]" >&2; exit 2; }
url=$1
shift
[ $# -gt 0 ] || exec curl -sSf "$url"

answer=$(jq -n '{command: $ARGS.positional}' --args -- "$@" |
	curl -sS -H 'Content-Type: application/json' --data-binary @- "$url")
printf '%s' "$answer" | jq -j .stdout
printf '%s' "$answer" | jq -j .stderr >&2
printf '%s' "$answer" | jq -j 'if .error then .error.hint // "" else "" end' >&2
exit "$(printf '%s' "$answer" | jq 'if .error then 126 else .returncode end')"
