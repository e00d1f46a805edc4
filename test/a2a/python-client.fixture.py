"""Sends a message with the Python client of A2A 0.3, which is given a base URL alone, and prints how the task ended."""

import asyncio
import sys
from uuid import uuid4

from a2a.client import ClientFactory
from a2a.types import Message, Part, Role, TextPart


async def main(url: str) -> None:
    client = await ClientFactory.connect(url)
    said = Message(message_id=str(uuid4()), role=Role.user, parts=[Part(root=TextPart(text="answer yes"))])
    async for event in client.send_message(said):
        task, _ = event
    print(task.status.state.value)


asyncio.run(main(sys.argv[1]))
