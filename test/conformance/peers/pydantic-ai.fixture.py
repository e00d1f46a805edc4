"""Pydantic AI behind FastA2A, which has no client of A2A 0.3 or 1.0 of its own."""

from fasta2a.pydantic_ai import agent_to_a2a
from peer_script import run
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_ai.models.function import FunctionModel


def echo(messages, _info):
    said = [part.content for part in messages[-1].parts if part.part_kind == "user-prompt"]
    return ModelResponse(parts=[TextPart(f"Echo: {said[-1]}")])


async def echo_streamed(messages, info):
    yield echo(messages, info).parts[0].content


def server(url):
    agent = Agent(FunctionModel(echo, stream_function=echo_streamed), name="Pydantic AI")
    return agent_to_a2a(agent, name="Pydantic AI", url=url, description="Echoes.")


run(None, server)
