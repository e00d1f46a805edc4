import type { Engine } from "manyhands/internal/core/engine";
import { AppError } from "manyhands/internal/core/errors";
import type { EventOf } from "manyhands/internal/core/events";
import type { Flow, FlowDefinition } from "manyhands/internal/core/flow";
import * as z from "zod";

/**
 * The kind of the runs that hand a task to one agent. Agents of the same home have runs of their
 * own, of their own kind.
 */
export function agentKind(name: string): string {
  return `agent:${name}`;
}

/** What may be set for an agent alone: nothing. */
export const agentOptions = z.strictObject({});

/**
 * One agent as a flow: the task goes to it as it is, in the conversation it had before, and what
 * comes of it is the result.
 */
export function agentFlow(name: string, engine: Pick<Engine, "list" | "events">): FlowDefinition {
  return {
    name: agentKind(name),
    title: name,
    description: `The agent ${name}, alone.`,
    version: "1.0.0",
    skills: [],
    options: agentOptions,
    example: { text: "Say what you can do." },
    async perform(flow) {
      const find = () => conversation(name, flow, engine);
      const contextId = await flow.run.step("find conversation", find, { effect: "pure" });
      const outcome = await flow.ask(
        name,
        { text: flow.goal, parts: flow.files },
        { isAnswer: true, ...(contextId !== undefined && { contextId }) },
      );
      flow.handOn(outcome.files);
      flow.reached(outcome.answer);
      if (outcome.state === "completed") {
        return { answer: outcome.answer, ...(outcome.data !== undefined && { data: outcome.data }) };
      }
      const { code = "task_failed", message = `${name} ended as ${outcome.state}.` } = outcome.error ?? {};
      throw new AppError(code, message);
    },
  };
}

/**
 * The conversation at the agent that belongs to this run's: the one that the run before it had
 * there.
 */
async function conversation(
  name: string,
  { run }: Flow,
  engine: Pick<Engine, "list" | "events">,
): Promise<string | undefined> {
  const filter = { kind: agentKind(name), contextId: run.contextId, principal: run.principal, limit: 10 };
  const { runs } = await engine.list(filter);
  for (const { id } of runs.filter((one) => one.id !== run.id)) {
    const events = await engine.events(id);
    const accepted = events.findLast(({ event }) => event.type === "agent-accepted");
    if (accepted !== undefined) return (accepted.event as EventOf<"agent-accepted">).contextId;
  }
  return undefined;
}
