"""Microsoft's agent-framework: its A2AAgent, and an agent of its own behind A2AExecutor."""

from contextlib import asynccontextmanager

import httpx
from a2a.client import A2ACardResolver
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes.agent_card_routes import create_agent_card_routes
from a2a.server.routes.jsonrpc_routes import create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from agent_framework import AgentResponse, AgentSession, Message
from agent_framework.a2a import A2AAgent, A2AExecutor
from peer_script import run
from starlette.applications import Starlette


@asynccontextmanager
async def client(url):
    async with httpx.AsyncClient(timeout=60) as http:
        card = await A2ACardResolver(http, url).get_agent_card()
        async with A2AAgent(agent_card=card, http_client=http) as remote:
            session = remote.create_session()

            async def say(text):
                return (await remote.run(text, session=session)).text

            yield say


class Echo:
    id = name = "echo"
    description = "Echoes."

    def create_session(self, *, session_id=None):
        return AgentSession(session_id=session_id)

    async def run(self, messages=None, *, stream=False, session=None, **_):
        return AgentResponse(messages=[Message("assistant", [f"Echo: {messages}"])])


def server(url):
    card = AgentCard(
        name="Agent Framework",
        description="Echoes.",
        version="1.0.0",
        supported_interfaces=[AgentInterface(url=f"{url}/", protocol_binding="JSONRPC", protocol_version="1.0")],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text"],
        default_output_modes=["text"],
        skills=[AgentSkill(id="echo", name="Echo", description="Echoes.", tags=["echo"])],
    )
    handler = DefaultRequestHandler(agent_executor=A2AExecutor(Echo()), task_store=InMemoryTaskStore(), agent_card=card)
    return Starlette(routes=[*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/")])


run(client, server)
