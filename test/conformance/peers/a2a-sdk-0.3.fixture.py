"""The Python SDK of A2A 0.3."""

from contextlib import asynccontextmanager
from uuid import uuid4

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentSkill, Message, Part, Role, TaskState, TextPart
from a2a.utils import get_message_text, new_task
from a2a.utils.parts import get_text_parts
from peer_script import run


@asynccontextmanager
async def client(url):
    async with httpx.AsyncClient(timeout=60) as http:
        card = await A2ACardResolver(http, url).get_agent_card()
        caller = ClientFactory(ClientConfig(httpx_client=http)).create(card)
        ids = {}

        async def say(text):
            message = Message(message_id=str(uuid4()), role=Role.user, parts=[Part(root=TextPart(text=text))], **ids)
            async for event in caller.send_message(message):
                task = event[0]
            ids.clear()
            ids["context_id"] = task.context_id
            if task.status.state == TaskState.input_required:
                ids["task_id"] = task.id
                return get_message_text(task.status.message)
            return "\n".join(get_text_parts(task.artifacts[-1].parts))

        yield say


class Echo(AgentExecutor):
    async def execute(self, context, event_queue):
        await event_queue.enqueue_event(new_task(context.message))
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.add_artifact([Part(root=TextPart(text=f"Echo: {context.get_user_input()}"))])
        await updater.complete()

    async def cancel(self, context, event_queue):
        raise RuntimeError("It cannot be canceled")


def server(url):
    card = AgentCard(
        name="Python SDK 0.3",
        description="Echoes.",
        version="1.0.0",
        url=f"{url}/",
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="echo", name="Echo", description="Echoes.", tags=["echo"])],
    )
    handler = DefaultRequestHandler(agent_executor=Echo(), task_store=InMemoryTaskStore())
    return A2AStarletteApplication(agent_card=card, http_handler=handler).build()


run(client, server)
