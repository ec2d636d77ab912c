#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An agent's client in Python, standard library only.

    ask.py http://127.0.0.1:8000/zones              reads the page
    ask.py http://127.0.0.1:8000/ ls texts          runs a tool of it

Standard output and the exit code are the tool's; a refusal ends with 126.
"""

import json
import sys
import urllib.error
import urllib.request


def read(url):
    """The page as Markdown, its tools in the frontmatter."""
    with urllib.request.urlopen(url) as answer:
        return answer.read().decode()


def run(url, command, **more):
    """Runs one command of the page; more may be args, env or stdin."""
    request = urllib.request.Request(
        url,
        data=json.dumps({"command": command, **more}).encode(),
        headers={"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as refusal:
        return json.load(refusal)


def main(url, *command):
    if not command:
        sys.stdout.write(read(url))
        return 0
    answer = run(url, list(command))
    sys.stdout.write(answer["stdout"])
    sys.stderr.write(answer["stderr"])
    if "error" in answer:
        sys.stderr.write("\n" + (answer["error"].get("hint") or "") + "\n")
        return 126
    return answer["returncode"]


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
