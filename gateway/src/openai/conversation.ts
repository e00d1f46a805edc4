import type { RunRecord } from "manyhands/internal/core/runs/engine";
import { sha256Of } from "manyhands/internal/core/text/sha256";
import type { Runnable } from "manyhands/internal/runs/runnable";
import type { Runs } from "manyhands/internal/runs/runs";
import * as z from "zod";
import type { ChatMessage } from "./chat-request.ts";

/** The metadata key in a run's first message that identifies the chat it was started from. */
const chatKey = "openai/chat";

/** How many of a caller's newest runs are searched for a chat. */
const maxRuns = 100;

const started = z.looseObject({
  message: z.looseObject({ metadata: z.looseObject({ [chatKey]: z.string() }) }),
});

/**
 * The run that a chat continues. A client of this API sends the whole chat every time and knows no
 * run id, so the run is found by the messages before its answer. Undefined for a new chat.
 */
export async function runOfChat(
  messages: readonly ChatMessage[],
  runnable: Runnable,
  runs: Runs,
  principal: string,
): Promise<RunRecord | undefined> {
  const prefixes = messages.flatMap(({ role }, at) => (role === "assistant" ? [digest(messages.slice(0, at))] : []));
  if (prefixes.length === 0) return undefined;
  const page = await runs.list({ of: runnable, limit: maxRuns }, principal);
  return page.runs.find((run) => {
    const chat = started.safeParse(run.input).data?.message.metadata[chatKey];
    return chat !== undefined && prefixes.includes(chat);
  });
}

/** The metadata of a run's first message by which `runOfChat` finds it. */
export function chatMetadata(messages: readonly ChatMessage[]): { readonly [chatKey]: string } {
  return { [chatKey]: digest(messages) };
}

function digest(messages: readonly ChatMessage[]): string {
  const said = messages.map(({ role, content }) => [role, content ?? null]);
  return sha256Of(JSON.stringify(said));
}
