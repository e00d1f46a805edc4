"""The Python SDK of A2A 1.0."""

from contextlib import asynccontextmanager
from uuid import uuid4

import httpx
from a2a.client import ClientConfig, ClientFactory
from a2a.helpers import proto_helpers as make
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes.agent_card_routes import create_agent_card_routes
from a2a.server.routes.jsonrpc_routes import create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    GetTaskRequest,
    Message,
    Role,
    SendMessageRequest,
    TaskState,
)
from peer_script import run
from starlette.applications import Starlette


@asynccontextmanager
async def client(url):
    async with httpx.AsyncClient(timeout=60) as http:
        caller = await ClientFactory(ClientConfig(httpx_client=http)).create_from_url(url)
        ids = {}

        async def say(text):
            message = Message(message_id=str(uuid4()), role=Role.ROLE_USER, parts=[make.new_text_part(text)], **ids)
            async for event in caller.send_message(SendMessageRequest(message=message)):
                if event.HasField("task"):
                    task_id = event.task.id
            task = await caller.get_task(GetTaskRequest(id=task_id))
            ids.clear()
            ids["context_id"] = task.context_id
            if task.status.state == TaskState.TASK_STATE_INPUT_REQUIRED:
                ids["task_id"] = task.id
                return make.get_message_text(task.status.message)
            return make.get_artifact_text(task.artifacts[-1])

        yield say


class Echo(AgentExecutor):
    async def execute(self, context, event_queue):
        await event_queue.enqueue_event(make.new_task_from_user_message(context.message))
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.add_artifact([make.new_text_part(f"Echo: {context.get_user_input()}")])
        await updater.complete()

    async def cancel(self, context, event_queue):
        raise RuntimeError("It cannot be canceled")


def server(url):
    card = AgentCard(
        name="Python SDK 1",
        description="Echoes.",
        version="1.0.0",
        supported_interfaces=[AgentInterface(url=f"{url}/", protocol_binding="JSONRPC", protocol_version="1.0")],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="echo", name="Echo", description="Echoes.", tags=["echo"])],
    )
    handler = DefaultRequestHandler(agent_executor=Echo(), task_store=InMemoryTaskStore(), agent_card=card)
    return Starlette(routes=[*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/")])


run(client, server)
