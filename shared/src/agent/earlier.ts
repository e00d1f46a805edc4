import { type Engine, type RunEnded, terminalStatuses } from "../durable/engine.ts";
import type { Run } from "../durable/run.ts";
import type { AgentEvent } from "./events.ts";
import { foldMessages } from "./fold-messages.ts";
import type { TaskMessage } from "./task-state.ts";

/** The ids of the tasks of this conversation that ended before now, oldest first: what they told never changes any more. */
export async function earlierTasks(run: Run, kind: string, engine: Pick<Engine, "list">): Promise<string[]> {
  const { contextId, principal } = run;
  const found: { id: string; createdAt: number }[] = [];
  let cursor: string | undefined;
  do {
    const page = await engine.list({
      contextId,
      principal,
      kind,
      statuses: terminalStatuses,
      limit: 100,
      ...(cursor !== undefined && { cursor }),
    });
    found.push(...page.runs);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return found.sort((one, other) => one.createdAt - other.createdAt).map((earlier) => earlier.id);
}

/** The conversation those tasks left. */
export async function earlierMessages(ids: readonly string[], engine: Pick<Engine, "events">): Promise<TaskMessage[]> {
  let messages: TaskMessage[] = [];
  for (const id of ids) {
    const events = await engine.events(id);
    messages = foldMessages(
      messages,
      events.map(({ event }) => event as AgentEvent | RunEnded),
    );
  }
  return messages;
}
