"""Google's ADK for Python: its RemoteA2aAgent, and an agent of its own behind to_a2a."""

from contextlib import asynccontextmanager
from urllib.parse import urlparse

from google.adk.a2a.utils.agent_to_a2a import to_a2a
from google.adk.agents.base_agent import BaseAgent
from google.adk.agents.remote_a2a_agent import AGENT_CARD_WELL_KNOWN_PATH, RemoteA2aAgent
from google.adk.events.event import Event
from google.adk.runners import InMemoryRunner
from google.genai import types
from peer_script import run


@asynccontextmanager
async def client(url):
    card = f"{url.rstrip('/')}{AGENT_CARD_WELL_KNOWN_PATH}"
    runner = InMemoryRunner(agent=RemoteA2aAgent(name="remote", agent_card=card), app_name="interop")
    session = await runner.session_service.create_session(app_name="interop", user_id="person")
    asked = None

    async def say(text):
        nonlocal asked
        part = types.Part(text=text)
        if asked is not None:
            answer = types.FunctionResponse(id=asked.id, name=asked.name, response={"result": text})
            part = types.Part(function_response=answer)
        asked = None
        heard = []
        content = types.Content(role="user", parts=[part])
        async for event in runner.run_async(user_id="person", session_id=session.id, new_message=content):
            if event.error_message:
                raise RuntimeError(event.error_message)
            for call in event.get_function_calls():
                if call.id in (event.long_running_tool_ids or ()):
                    asked = call
                    heard = [str(next(iter(call.args.values())))]
            parts = event.content.parts if event.content else None
            heard.extend(one.text for one in parts or [] if one.text and not one.thought and asked is None)
        return heard[-1]

    try:
        yield say
    finally:
        await runner.close()


class Echo(BaseAgent):
    async def _run_async_impl(self, ctx):
        said = " ".join(part.text for part in ctx.user_content.parts if part.text)
        content = types.Content(role="model", parts=[types.Part(text=f"Echo: {said}")])
        yield Event(author=self.name, invocation_id=ctx.invocation_id, content=content)


def server(url):
    address = urlparse(url)
    return to_a2a(Echo(name="google_adk", description="Echoes."), host=address.hostname, port=address.port)


run(client, server)
