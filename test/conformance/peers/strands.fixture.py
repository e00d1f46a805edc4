"""Strands: its A2AAgent, which neither goes on with a task nor with a context, and an agent behind
A2AServer.
"""

import os
from contextlib import asynccontextmanager

from peer_script import run
from strands import Agent
from strands.agent.a2a_agent import A2AAgent
from strands.models.openai import OpenAIModel
from strands.multiagent.a2a import A2AServer


@asynccontextmanager
async def client(url):
    remote = A2AAgent(endpoint=url)

    async def say(text):
        result = await remote.invoke_async(text)
        return "\n".join(block["text"] for block in result.message["content"])

    yield say


def server(url):
    def agent(_context_id):
        args = {"base_url": os.environ["OPENAI_BASE_URL"], "api_key": "none"}
        model = OpenAIModel(client_args=args, model_id="scripted")
        return Agent(model=model, name="Strands", description="Echoes.", tools=[], callback_handler=None)

    return A2AServer(agent_factory=agent, http_url=url).to_starlette_app()


run(client, server)
