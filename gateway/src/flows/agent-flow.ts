import { AppError } from "manyhands/internal/core/errors";
import type { EventOf } from "manyhands/internal/core/events/events";
import type { AskOptions, Flow, FlowDefinition, FlowResult } from "manyhands/internal/core/flow";
import type { Engine } from "manyhands/internal/core/runs/engine";
import * as z from "zod";

/**
 * The kind of the gateway's runs that pass a task to one agent. The agents' own runs have other
 * kinds.
 */
export function agentKind(name: string): string {
  return `agent:${name}`;
}

/** A single agent has no options. */
export const agentOptions = z.strictObject({});

/**
 * One agent as a flow: passes the task on unchanged, in the agent's earlier conversation, with what
 * the person says while it works, and returns its result.
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
    textless: true,
    asks: [name],
    body: 2,
    perform: (flow) => passedTask(name, flow, engine, { passMessages: true }),
    former: [{ body: 1, perform: (flow) => passedTask(name, flow, engine) }],
  };
}

/** Passes the task on. In the first version messages that came meanwhile stayed unread. */
async function passedTask(
  name: string,
  flow: Flow,
  engine: Pick<Engine, "list" | "events">,
  options: AskOptions = {},
): Promise<FlowResult> {
  const find = () => conversation(name, flow, engine);
  const contextId = await flow.run.step("find conversation", find, { effect: "pure" });
  const outcome = await flow.ask(
    name,
    { text: flow.goal, parts: flow.files },
    { ...options, isAnswer: true, ...(contextId !== undefined && { contextId }) },
  );
  flow.handOn(outcome.files, outcome.artifacts);
  flow.reached(outcome.answer);
  if (outcome.state === "completed") {
    return {
      answer: outcome.answer,
      ...(outcome.data !== undefined && { data: outcome.data }),
      ...(outcome.isReply && { reply: true }),
    };
  }
  const { code = "task_failed", message = `${name} ended as ${outcome.state}.` } = outcome.error ?? {};
  throw new AppError(code, message);
}

/**
 * The agent's conversation for this run's conversation: that of the previous run.
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
