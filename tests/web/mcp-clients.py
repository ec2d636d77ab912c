#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The clients in Python: the official SDK 1, and FastMCP 4 with SDK 2.

mcp-clients.py URL PROGRAM SITE CONFIG; prints TAP.  mcp-clients.t calls it with
the Python of each environment that `make deps-mcp` makes.
"""
import asyncio
import sys

URL, PROGRAM, SITE, CONFIG = sys.argv[1:]
LINES = ["mcp", "-c", CONFIG, SITE]
WANTED = {
    "test_simple_text": ({}, "This is a simple text response for testing.\n"),
    "test_sampling": ({"prompt": "x"}, "LLM response: hello x\n"),
    "test_input_required_result_list_roots": ({}, "file:///w\n"),
    "test_input_required_result_elicitation": ({}, "Hello, ada!\n"),
}
count = 0


def ok(good, what):
    global count
    count += 1
    print("ok" if good else "not ok", count, "-", what, flush=True)


async def check(name, call):
    for tool, (arguments, wanted) in WANTED.items():
        try:
            seen = await call(tool, arguments)
        except Exception as e:  # told as what was seen
            seen = repr(e)
        ok(seen == wanted, f"{name}: {tool}")
        if seen != wanted:
            print("#", repr(seen))


async def sdk():
    from mcp import ClientSession, StdioServerParameters, types
    from mcp.client.stdio import stdio_client
    from mcp.client.streamable_http import streamablehttp_client

    async def model(_context, _params):
        return types.CreateMessageResult(
            role="assistant", model="m",
            content=types.TextContent(type="text", text="hello"))

    async def roots(_context):
        return types.ListRootsResult(roots=[types.Root(uri="file:///w")])

    async def person(_context, _params):
        return types.ElicitResult(action="accept", content={"name": "ada"})

    lines = StdioServerParameters(command=PROGRAM, args=LINES)
    for where, client in (("lines", stdio_client(lines)),
                          ("HTTP", streamablehttp_client(URL))):
        async with client as streams:
            async with ClientSession(
                    streams[0], streams[1], sampling_callback=model,
                    list_roots_callback=roots,
                    elicitation_callback=person) as session:
                await session.initialize()
                tools = (await session.list_tools()).tools
                ok(all(t.title for t in tools), f"SDK 1, {where}: titles")

                async def call(tool, arguments):
                    result = await session.call_tool(tool, arguments)
                    return result.content[0].text

                await check(f"SDK 1, {where}", call)


async def fastmcp():
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    async def model(_messages, _params, _context):
        return "hello"

    async def person(_message, _kind, _params, _context):
        return {"name": "ada"}

    for where, target in (("lines", StdioTransport(PROGRAM, LINES)),
                          ("HTTP", URL)):
        async with Client(target, sampling_handler=model, roots=["file:///w"],
                          elicitation_handler=person) as client:
            ok(len(await client.list_tools()) > 20, f"FastMCP, {where}: tools")

            async def call(tool, arguments):
                result = await client.call_tool(tool, arguments)
                return result.content[0].text

            await check(f"FastMCP, {where}", call)


try:
    import fastmcp as _  # noqa: F401
    asyncio.run(fastmcp())
except ModuleNotFoundError:
    asyncio.run(sdk())
print(f"1..{count}")
