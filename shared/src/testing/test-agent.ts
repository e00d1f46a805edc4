import type { ReadEvent } from "../core/events/events.ts";
import type { Json } from "../core/json.ts";
import type { JsonSchema } from "../core/model.ts";
import { type RunRecord, terminalStatuses } from "../core/runs/engine.ts";
import type { AgentInput, AgentOutput } from "../core/runs/task.ts";
import type { ToolContext } from "../core/tools/tool.ts";
import type { ChatRequest } from "../models/chat/chat-protocol.ts";
import type { AgentSource } from "../server/agent-source.ts";
import { agentForTest } from "./agent/agent.ts";
import { openedForTest } from "./agent/opened-agent.ts";
import type { ModelScript } from "./models/scripted-model.ts";

/** A task for an agent under test, and what the agent receives from outside meanwhile. */
export type TestTask = {
  readonly task: string;
  /** What the model says. */
  readonly script: ModelScript;
  /**
   * The person's answers to the agent's questions, in order. Where an answer depends on the
   * question, as `yes` to a call needs the call's code, it is a function:
   * `({ approval }) => \`yes ${approval?.id}\``.
   */
  readonly replies?: readonly (string | ((asked: ReadEvent & { readonly type: "question-asked" }) => string))[];
  /** A JSON Schema for the answer, as `z.toJSONSchema` makes it; the answer is then in `data`. */
  readonly outputSchema?: JsonSchema;
  /** The web as tools see it; none if left out. */
  readonly fetch?: ToolContext["fetch"];
};

/** The outcome; `waiting` if the agent asked a question that `replies` has no answer to. */
export type TestedTask = {
  readonly status: RunRecord["status"];
  /** The final answer; empty if there is none. */
  readonly answer: string;
  /** The answer as data, if the agent gave any. */
  readonly data?: Json;
  /** Why it failed. */
  readonly error?: RunRecord["error"];
  /** The run's events, in order. */
  readonly events: readonly ReadEvent[];
  /** The requests to the model, in order. */
  readonly requests: readonly ChatRequest[];
};

/**
 * Runs an agent on one task in this process, with a scripted model: a real run on a real engine,
 * with the agent's own tools. Families have the tools that need no sandbox, browser or web.
 */
export async function testAgent(
  source: AgentSource,
  { task, script, replies = [], outputSchema, fetch }: TestTask,
): Promise<TestedTask> {
  const agent = { ...(await openedForTest(source)), name: "tester" };
  await using test = await agentForTest({
    script,
    agent,
    ...(fetch && { fetch: (_signal, ...request) => fetch(...request) }),
  });
  const form = outputSchema as AgentInput["outputSchema"];
  const id = await test.start(task, form && { outputSchema: form });
  const stopped = () => test.until(id, ...terminalStatuses, "paused", "waiting");
  let { status, output, error } = await stopped();
  for (const reply of replies) {
    const asked = (await test.events(id)).findLast((event) => event.type === "question-asked");
    if (status !== "waiting" || asked === undefined) break;
    await test.say(id, typeof reply === "string" ? reply : reply(asked));
    ({ status, output, error } = await stopped());
  }
  const { answer = "", data } = (output ?? {}) as Partial<AgentOutput>;
  return {
    status,
    answer,
    ...(data !== undefined && { data }),
    ...(error && { error }),
    events: await test.events(id),
    requests: test.model.requests.map(({ body }) => body),
  };
}
