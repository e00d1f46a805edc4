"""BeeAI: its A2AAgent, and an agent behind A2AServer."""

import os
from contextlib import asynccontextmanager
from unittest.mock import patch
from urllib.parse import urlparse

import uvicorn
from a2a.types import TaskState
from a2a.utils import get_message_text
from beeai_framework.adapters.a2a.agents import A2AAgent
from beeai_framework.adapters.a2a.serve.server import A2AServer, A2AServerConfig
from beeai_framework.adapters.openai import OpenAIChatModel
from beeai_framework.agents.requirement import RequirementAgent
from beeai_framework.memory import UnconstrainedMemory
from peer_script import run


@asynccontextmanager
async def client(url):
    remote = A2AAgent(url=url, memory=UnconstrainedMemory())

    async def say(text):
        output = await remote.run(text)
        task, _ = output.event
        # As its output it takes the last artifact, also of a task that asks.
        asks = task.status.state == TaskState.input_required
        return get_message_text(task.status.message) if asks else output.last_message.text

    yield say


def server(url):
    model = OpenAIChatModel("scripted", base_url=os.environ["OPENAI_BASE_URL"], api_key="none")
    agent = RequirementAgent(llm=model, memory=UnconstrainedMemory(), name="BeeAI", description="Echoes.")
    address = urlparse(url)
    beeai = A2AServer(config=A2AServerConfig(host=address.hostname, port=address.port)).register(agent, url=url)
    # It makes its app and runs it in one go; here only the app is wanted.
    with patch.object(uvicorn, "run") as made:
        beeai.serve()
    return made.call_args.args[0]


run(client, server)
