import { taskStateFromJSON, type Part as WirePart } from "@a2a-js/sdk";
import { type A2aClient, createA2aClient } from "manyhands/internal/a2a/client/client";
import type { Fetch } from "manyhands/internal/a2a/client/client-fetch";
import { authorizedFetch, type Credentials } from "manyhands/internal/a2a/client/credentials";
import { insideAddress } from "manyhands/internal/a2a/client/server-address";
import type { TaskUpdate } from "manyhands/internal/a2a/client/task-update";
import { agentExtension } from "manyhands/internal/a2a/extensions";
import { stateName } from "manyhands/internal/a2a/task-state";
import { AppError } from "manyhands/internal/core/errors";
import { jsonOf } from "manyhands/internal/core/json";
import * as z from "zod";
import type { AgentClient, AgentFacts, FilePart, OutgoingFile, OutgoingMessage, TaskSummary } from "./agent-client.ts";
import { fetchServer, readOf } from "./fetch-server.ts";
import type { TaskItem } from "./task-item.ts";
import { taskItems } from "./task-items.ts";

const fileTimeoutMs = 60_000;

/** As long as a server takes to be started again, about 16 seconds in all. */
const retry = { retries: 6, firstPauseMs: 250 };

/**
 * A client of the agent at a URL, over A2A, also where its card names this public address. Rejects
 * with an AppError when no card can be read there.
 */
export async function connectAgent(
  url: string,
  credentials: Credentials | undefined,
  publicUrl?: string,
): Promise<AgentClient> {
  const authorized = authorizedFetch(fetch, credentials, url);
  const client = await createA2aClient(url, { inside: insideAddress([{ url, publicUrl }]), fetch: authorized, retry });
  return {
    url,
    facts: factsOfCard(client.card),
    send: (message, options) => ofRun(message.taskId, client.stream(outgoing(message), options)),
    watch: (taskId, options) => ofRun(taskId, client.watch(taskId, { after: 0, ...options })),
    async cancel(taskId, options) {
      await client.cancel(taskId, options).catch((error) => {
        throw inRunWords(error, taskId);
      });
    },
    list: (options) => listTasks(url, authorized, options),
    file: (part, { signal }) =>
      download(part, url, authorized, AbortSignal.any([signal, AbortSignal.timeout(fileTimeoutMs)])),
  };
}

async function* ofRun(id: string | undefined, updates: AsyncIterable<TaskUpdate>): AsyncGenerator<TaskItem, void> {
  try {
    yield* taskItems(updates);
  } catch (error) {
    throw id === undefined ? error : inRunWords(error, id);
  }
}

/** What A2A calls a task is a run to whoever asked. */
function inRunWords(error: unknown, id: string): unknown {
  if (!(error instanceof AppError)) return error;
  if (error.code === "not_found") return new AppError("not_found", `There is no run ${id}.`, { cause: error });
  if (error.code === "run_ended") return new AppError("run_ended", `The run ${id} has ended.`, { cause: error });
  return error;
}

function outgoing({
  text,
  files = [],
  flow,
  taskId,
  contextId,
  budgetUsd,
  outputSchema,
}: OutgoingMessage): Parameters<A2aClient["stream"]>[0] {
  return {
    text,
    parts: files.map(filePart),
    ...(flow === undefined ? {} : { flow }),
    ...(taskId === undefined ? {} : { taskId }),
    ...(contextId === undefined ? {} : { contextId }),
    ...(budgetUsd === undefined ? {} : { budget: { usd: budgetUsd } }),
    ...(outputSchema === undefined ? {} : { outputSchema }),
  };
}

function filePart({ name, mediaType, bytes }: OutgoingFile): WirePart {
  return { content: { $case: "raw", value: Buffer.from(bytes) }, filename: name, mediaType, metadata: undefined };
}

async function download(part: FilePart, agentUrl: string, authorized: Fetch, signal: AbortSignal): Promise<Uint8Array> {
  const kept = part.type === "file";
  const url = kept ? `${agentUrl}/artifacts/${part.sha256}/${encodeURIComponent(part.name)}` : part.url;
  // Its credentials go to this agent alone; a file may lie anywhere.
  const response = await fetchServer(url, { signal, ...(kept && { redirect: "error" }) }, authorized);
  if (response.ok) return readOf({ url }, signal, () => response.bytes());
  throw new AppError("unavailable", `A file of the run could not be fetched: HTTP status ${response.status}.`);
}

const card = z.looseObject({
  name: z.string(),
  capabilities: z.looseObject({
    extensions: z
      .array(z.looseObject({ uri: z.string(), params: z.record(z.string(), z.unknown()).optional() }))
      .optional(),
  }),
});
const ownParams = z.looseObject({
  model: z.looseObject({ name: z.string(), provider: z.string() }).optional(),
  sandbox: z.string().optional(),
});

/** What an agent's card says of it: its model and sandbox are parameters of our own extension. */
export function factsOfCard(json: unknown): AgentFacts {
  const parsed = card.safeParse(json);
  if (!parsed.success) return { title: "agent", model: undefined, sandbox: undefined };
  const extension = parsed.data.capabilities.extensions?.find(({ uri }) => uri === agentExtension);
  const own = ownParams.safeParse(extension?.params).data;
  return { title: parsed.data.name, model: own?.model, sandbox: own?.sandbox };
}

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
async function listTasks(
  url: string,
  authorized: Fetch,
  { limit, signal }: { readonly limit: number; readonly signal: AbortSignal },
): Promise<TaskSummary[]> {
  const headers = { "A2A-Version": "1.0" };
  const response = await fetchServer(
    `${url}/tasks?pageSize=${limit}`,
    { headers, redirect: "error", signal },
    authorized,
  );
  const read = () => readOf({ url }, signal, () => response.text());
  const parsed = listed.safeParse(response.ok ? jsonOf(await read()) : undefined);
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
