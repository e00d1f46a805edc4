"""An agent made with the Python a2a-sdk, in a process of its own. Prints `ready URL`."""

import socket
import sys

import uvicorn
from starlette.applications import Starlette

# The protocol's package has to be loaded before its message types.
import a2a.types as types
from a2a.helpers import proto_helpers as make
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes.agent_card_routes import create_agent_card_routes
from a2a.server.routes.jsonrpc_routes import create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater


class Worker(AgentExecutor):
    """Answers "greet" with a message and no task, asks first when told to, and otherwise makes a
    file and an answer.
    """

    async def execute(self, context, event_queue):
        said = context.get_user_input()
        if said.startswith("greet"):
            await event_queue.enqueue_event(
                make.new_text_message(f"Hello: {said}", context_id=context.context_id)
            )
            return
        is_new = context.current_task is None
        if is_new:
            await event_queue.enqueue_event(make.new_task_from_user_message(context.message))
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        if said.startswith("ask") and is_new:
            await updater.requires_input(updater.new_agent_message([make.new_text_part("Which colour?")]))
            return
        await updater.start_work(updater.new_agent_message([make.new_text_part("Thinking about it")]))
        raw = f"made for: {said}\n".encode()
        await updater.add_artifact([make.new_raw_part(raw, media_type="text/plain", filename="made.txt")], name="made.txt")
        await updater.add_artifact([make.new_text_part(f"Done: {said}")], name="result")
        await updater.complete()

    async def cancel(self, context, event_queue):
        raise RuntimeError("It cannot be cancelled")


listener = socket.socket()
listener.bind(("127.0.0.1", 0))
url = f"http://127.0.0.1:{listener.getsockname()[1]}"
card = types.AgentCard(
    name="Python sample",
    description="An agent made with the Python a2a-sdk.",
    version="1.0.0",
    supported_interfaces=[types.AgentInterface(url=f"{url}/", protocol_binding="JSONRPC", protocol_version="1.0")],
    capabilities=types.AgentCapabilities(streaming=True),
    default_input_modes=["text/plain"],
    default_output_modes=["text/plain"],
    skills=[types.AgentSkill(id="sample", name="Sample work", description="Makes a file.", tags=["sample"])],
)
handler = DefaultRequestHandler(agent_executor=Worker(), task_store=InMemoryTaskStore(), agent_card=card)
app = Starlette(routes=[*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/")])
print(f"ready {url}", flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
sys.exit(0)
