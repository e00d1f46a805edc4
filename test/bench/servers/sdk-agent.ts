import { createRequire } from "node:module";
import { AgentCard, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from "@a2a-js/sdk";
import { AgentEvent, type AgentExecutor, DefaultRequestHandler, InMemoryTaskStore } from "@a2a-js/sdk/server";
import { jsonRpcHandler, UserBuilder } from "@a2a-js/sdk/server/express";

/**
 * An agent that answers with its input, as A2A's own SDK serves one: Express, tasks in memory.
 * Prints its address. For the benches.
 */
const executor: AgentExecutor = {
  async execute({ taskId, contextId, userMessage }, bus) {
    const status = (state: string) => ({ state, timestamp: new Date().toISOString() });
    const [part] = userMessage.parts;
    const artifact = { artifactId: "answer", name: "answer", parts: [{ text: part?.content?.value }] };
    bus.publish(AgentEvent.task(Task.fromJSON({ id: taskId, contextId, status: status("TASK_STATE_WORKING") })));
    bus.publish(AgentEvent.artifactUpdate(TaskArtifactUpdateEvent.fromJSON({ taskId, contextId, artifact })));
    const ended = { taskId, contextId, status: status("TASK_STATE_COMPLETED") };
    bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON(ended)));
    bus.finished();
  },
  cancelTask: async () => undefined,
};
const card = AgentCard.fromJSON({
  name: "SDK",
  description: "Answers with its input.",
  version: "1.0.0",
  supportedInterfaces: [{ url: "http://127.0.0.1/", protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
  capabilities: { streaming: true },
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [],
});
const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
// The Express that the SDK itself loads, which is no dependency of ours.
const express = createRequire(Bun.resolveSync("@a2a-js/sdk/server/express", import.meta.dir))("express");
const app = express();
app.use("/", jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
const server = app.listen(0, "127.0.0.1", () => console.log(`ready http://127.0.0.1:${server.address().port}`));
