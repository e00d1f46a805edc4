import { AgentCard, type Artifact, Role, TaskState, type Part as WirePart } from "@a2a-js/sdk";
import {
  AgentEvent,
  type AgentExecutor,
  DefaultPushNotificationSender,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryPushNotificationStore,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  type RequestContext,
  ServerCallContext,
} from "@a2a-js/sdk/server";

/**
 * A server of another implementation: the A2A SDK's own handlers and store, in a separate process,
 * over plain HTTP. It prints `ready URL`. The beginning of the task decides what it does: "greet"
 * is answered with a message and no task, "ask" asks first, also as a step of a plan, "take N s"
 * takes that long, anything else makes a file and an answer.
 */
const executor: AgentExecutor = {
  async execute({ taskId, contextId, task, userMessage }: RequestContext, bus: ExecutionEventBus) {
    const said = userMessage.parts
      .flatMap(({ content }) => (content?.$case === "text" ? [content.value] : []))
      .join("\n");
    if (/^greet/i.test(said)) {
      bus.publish(AgentEvent.message(agentMessage(`Hello: ${said}`, contextId)));
      return bus.finished();
    }
    bus.publish(
      AgentEvent.task(
        task ?? {
          id: taskId,
          contextId,
          status: statusOf("SUBMITTED"),
          artifacts: [],
          history: [userMessage],
          metadata: undefined,
        },
      ),
    );
    const status = (state: "WORKING" | "COMPLETED" | "INPUT_REQUIRED", text?: string) =>
      bus.publish(
        AgentEvent.statusUpdate({ taskId, contextId, status: statusOf(state, text, contextId), metadata: undefined }),
      );
    if (/^(?:your step: )?ask/im.test(said) && task === undefined) {
      status("INPUT_REQUIRED", "Which colour?");
      return bus.finished();
    }
    status("WORKING", "Thinking about it");
    await Bun.sleep(Number(/^take (\d+) s/i.exec(said)?.[1] ?? 0.02) * 1000);
    const bytes = Buffer.from(`made for: ${said}\n`);
    const file = { content: { $case: "raw" as const, value: bytes }, filename: "made.txt", mediaType: "text/plain" };
    const artifacts = [
      artifact("made.txt", { ...file, metadata: undefined }),
      artifact("result", textPart(`Done: ${said}`)),
    ];
    for (const one of artifacts)
      bus.publish(
        AgentEvent.artifactUpdate({
          taskId,
          contextId,
          artifact: one,
          append: false,
          lastChunk: true,
          metadata: undefined,
        }),
      );
    status("COMPLETED");
    bus.finished();
  },
  async cancelTask() {
    throw new Error("It cannot be cancelled");
  },
};

function statusOf(state: "SUBMITTED" | "WORKING" | "COMPLETED" | "INPUT_REQUIRED", text?: string, contextId = "") {
  const message = text === undefined ? undefined : agentMessage(text, contextId);
  return { state: TaskState[`TASK_STATE_${state}`], message, timestamp: new Date().toISOString() };
}

function agentMessage(text: string, contextId: string) {
  return {
    messageId: crypto.randomUUID(),
    role: Role.ROLE_AGENT,
    parts: [textPart(text)],
    contextId,
    taskId: "",
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

function textPart(value: string): WirePart {
  return { content: { $case: "text", value }, filename: "", mediaType: "", metadata: undefined };
}

function artifact(name: string, part: WirePart): Artifact {
  return { artifactId: name, name, description: "", parts: [part], metadata: undefined, extensions: [] };
}

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 0,
  async fetch(request) {
    if (request.method === "GET") {
      const isCard = new URL(request.url).pathname === "/.well-known/agent-card.json";
      return isCard ? Response.json(AgentCard.toJSON(card)) : new Response("", { status: 404 });
    }
    const context = new ServerCallContext({ requestedVersion: request.headers.get("A2A-Version") ?? "1.0" });
    const answer = await rpc.handle(await request.text(), context);
    return Symbol.asyncIterator in answer ? stream(answer) : Response.json(answer);
  },
});

const card = AgentCard.fromJSON({
  name: "SDK sample",
  description: "An agent made with the A2A SDK.",
  version: "1.0.0",
  supportedInterfaces: [{ url: server.url.origin, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
  capabilities: { streaming: true, pushNotifications: true },
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [{ id: "sample", name: "Sample work", description: "Makes a file of what it is told.", tags: ["sample"] }],
});
const receivers = new InMemoryPushNotificationStore();
const sender = new DefaultPushNotificationSender(receivers);
const handler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor, undefined, receivers, sender);
const rpc = new JsonRpcTransportHandler(handler);

function stream(answers: AsyncGenerator<object, void, undefined>): Response {
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await answers.next();
      if (done) controller.close();
      else controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(value)}\n\n`));
    },
  });
  return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
}

process.stdout.write(`ready ${server.url.origin}\n`);
