import { taskStateFromJSON } from "@a2a-js/sdk";
import { stateName } from "manyhands/internal/a2a/task-state";
import { AppError } from "manyhands/internal/core/errors";
import * as z from "zod";
import type { TaskSummary } from "./agent-client.ts";

const listed = z.looseObject({
  tasks: z.array(
    z.looseObject({
      id: z.string(),
      contextId: z.string().default(""),
      status: z.looseObject({ state: z.string(), timestamp: z.string().optional() }),
      history: z.array(z.looseObject({ parts: z.array(z.looseObject({ text: z.string().optional() })) })).default([]),
    }),
  ),
});

/** The newest tasks of an agent over A2A's HTTP+JSON binding. Rejects with `unavailable`. */
export async function listTasks(
  url: string,
  headers: Readonly<Record<string, string>>,
  { limit, signal }: { readonly limit: number; readonly signal: AbortSignal },
): Promise<TaskSummary[]> {
  const response = await fetch(`${url}/tasks?pageSize=${limit}`, {
    headers: { "A2A-Version": "1.0", ...headers },
    redirect: "error",
    signal,
  });
  const parsed = listed.safeParse(response.ok ? await response.json() : undefined);
  if (!parsed.success)
    throw new AppError("unavailable", `${url} could not list its tasks (HTTP status ${response.status}).`);
  return parsed.data.tasks.map(({ id, contextId, status, history }) => ({
    id,
    contextId,
    state: stateName(taskStateFromJSON(status.state)),
    updatedAt: Date.parse(status.timestamp ?? "") || 0,
    title: history[0]?.parts.find(({ text }) => text !== undefined)?.text ?? "",
  }));
}
