"""What the scripts of all Python peers share. Each is called as `client URL TEXT…`, and prints what
it hears to each text as a line of JSON, or as `server`, which prints `ready URL` and echoes what it
is told.
"""

import asyncio
import json
import os
import socket
import sys

import uvicorn


def run(client, server):
    """`client(url)` is an async context manager of a function from text to text; `server(url)` an
    ASGI app.
    """
    match sys.argv[1:]:
        case ["client", url, *texts]:
            asyncio.run(converse(client, url, texts))
        case ["server"]:
            serve(server)
        case other:
            sys.exit(f"unknown arguments: {other}")


async def converse(client, url, texts):
    async with client(url) as say:
        for text in texts:
            print(json.dumps(await say(text)), flush=True)


def serve(server):
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()  # Who connects before the app has started waits for it.
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    app = server(url)
    print(f"ready {url}", flush=True)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # Nobody reads what a framework logs there.
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
