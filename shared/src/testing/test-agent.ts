import { type RunRecord, terminalStatuses } from "../core/engine.ts";
import type { ReadEvent } from "../core/events.ts";
import type { Json } from "../core/json.ts";
import type { AgentOutput } from "../core/task.ts";
import type { ToolContext } from "../core/tool.ts";
import type { ChatRequest } from "../models/chat/chat-protocol.ts";
import type { AgentSource } from "../server/agent-source.ts";
import { agentForTest } from "./agent/agent.ts";
import { openedForTest } from "./agent/opened-agent.ts";

/** A task that a test gives to an agent, and what comes to it from outside while it works. */
export type TestTask = {
  readonly task: string;
  /**
   * What the model says: a list of replies, each with a text or calls of tools, or a function of
   * the request and its number.
   */
  readonly script: Parameters<typeof agentForTest>[0]["script"];
  /** What the person says each time the agent asks. */
  readonly replies?: readonly string[];
  /** The web that tools see; none when left out. */
  readonly fetch?: ToolContext["fetch"];
};

/** How the task went: `waiting` when the agent asked and the test had no more replies. */
export type TestedTask = {
  readonly status: RunRecord["status"];
  /** The final answer, empty when there is none. */
  readonly answer: string;
  /** The answer as data, where the agent gave it so. */
  readonly data?: Json;
  /** Why it failed. */
  readonly error?: RunRecord["error"];
  /** All that happened, in order. */
  readonly events: readonly ReadEvent[];
  /** What the model was asked, in order. */
  readonly requests: readonly ChatRequest[];
};

/**
 * Runs an agent on one task in this process, with a model that says what the test tells it to: a
 * real run on a real engine, with the agent's own tools. Families come to what they are on a
 * machine without a sandbox, a browser and a web.
 */
export async function testAgent(
  source: AgentSource,
  { task, script, replies = [], fetch }: TestTask,
): Promise<TestedTask> {
  const agent = { ...openedForTest(source), name: "tester" };
  await using test = await agentForTest({
    script,
    agent,
    ...(fetch && { fetch: (_signal, ...request) => fetch(...request) }),
  });
  const id = await test.start(task);
  const stopped = () => test.until(id, ...terminalStatuses, "paused", "waiting");
  let { status, output, error } = await stopped();
  for (const reply of replies) {
    if (status !== "waiting") break;
    await test.say(id, reply);
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
