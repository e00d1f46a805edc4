import type { RunRecord } from "manyhands/internal/core/engine";
import type { Runnable } from "manyhands/internal/runs/runnable";
import type { Runs } from "manyhands/internal/runs/runs";
import * as z from "zod";
import type { ChatMessage } from "./chat-request.ts";

/** Under which a run's first message tells the chat it was started from. */
const chatKey = "openai/chat";

/** How many of a caller's newest runs a chat may go on in. */
const mostRuns = 100;

const started = z.looseObject({
  message: z.looseObject({ metadata: z.looseObject({ [chatKey]: z.string() }) }),
});

/**
 * The run that a chat came from: a client of this API sends the whole chat every time and knows of
 * no run, so it is found by what was said before the answer it goes on from. Undefined for a chat
 * that begins here.
 */
export async function runOfChat(
  messages: readonly ChatMessage[],
  runnable: Runnable,
  runs: Runs,
  principal: string,
): Promise<RunRecord | undefined> {
  const beginnings = messages.flatMap(({ role }, at) => (role === "assistant" ? [digest(messages.slice(0, at))] : []));
  if (beginnings.length === 0) return undefined;
  const page = await runs.list({ of: runnable, limit: mostRuns }, principal);
  return page.runs.find((run) => {
    const chat = started.safeParse(run.input).data?.message.metadata[chatKey];
    return chat !== undefined && beginnings.includes(chat);
  });
}

/** The metadata that the first message of a run gets, to be found by. */
export function chatMetadata(messages: readonly ChatMessage[]): { readonly [chatKey]: string } {
  return { [chatKey]: digest(messages) };
}

function digest(messages: readonly ChatMessage[]): string {
  const said = messages.map(({ role, content }) => [role, content ?? null]);
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(said)).digest("hex");
}
