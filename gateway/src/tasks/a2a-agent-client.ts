import type { Part as WirePart } from "@a2a-js/sdk";
import { type A2aClient, createA2aClient } from "manyhands/internal/a2a/client/client";
import { insideAddress } from "manyhands/internal/a2a/client/server-address";
import { AppError } from "manyhands/internal/core/errors";
import type { AgentClient, FilePart, OutgoingFile, OutgoingMessage } from "./agent-client.ts";
import { factsOfCard } from "./agent-facts.ts";
import { listTasks } from "./list-tasks.ts";
import { taskItems } from "./task-items.ts";

const fileTimeoutMs = 60_000;

/** As long as a server takes to be started again, about 16 seconds in all. */
const retry = { retries: 6, firstPauseMs: 250 };

/** A client of the agent at a URL, over A2A, also where its card names this public address. Rejects with an AppError when no card can be read there. */
export async function connectAgent(url: string, token: string | undefined, publicUrl?: string): Promise<AgentClient> {
  const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const client = await createA2aClient(url, { inside: insideAddress([{ url, publicUrl }]), headers, retry });
  return {
    url,
    facts: factsOfCard(client.card),
    send: (message, options) => taskItems(client.stream(outgoing(message), options)),
    watch: (taskId, options) => taskItems(client.watch(taskId, { after: 0, ...options })),
    async cancel(taskId, options) {
      await client.cancel(taskId, options);
    },
    list: (options) => listTasks(url, headers, options),
    file: (part, { signal }) =>
      download(part, url, headers, AbortSignal.any([signal, AbortSignal.timeout(fileTimeoutMs)])),
  };
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

async function download(
  part: FilePart,
  agentUrl: string,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const kept = part.type === "file";
  const url = kept ? `${agentUrl}/artifacts/${part.sha256}/${encodeURIComponent(part.name)}` : part.url;
  // The token is for this agent alone: a file may lie anywhere.
  const response = await fetch(url, kept ? { headers, redirect: "error", signal } : { signal });
  if (response.ok) return response.bytes();
  throw new AppError("unavailable", `A file of the task could not be fetched: HTTP status ${response.status}.`);
}
