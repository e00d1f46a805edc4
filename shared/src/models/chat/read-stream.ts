import { createParser } from "eventsource-parser";
import { APIError } from "openai/error";

/** How long the rest of a response may take after its answer has ended, in milliseconds. */
const drainMs = 1_000;

/**
 * The chunks of a streamed answer, those that arrived together at once. Throws an `APIError` for an
 * error in the stream. The response is read to its end, so that its connection serves the next
 * request; an answer that its reader leaves early is canceled.
 */
export async function* readStream(response: Response): AsyncGenerator<readonly unknown[]> {
  const reader = (response.body ?? new Blob([]).stream()).getReader();
  const decoder = new TextDecoder();
  let chunks: unknown[] = [];
  let hasEnded = false;
  const parser = createParser({
    onEvent({ data, event }) {
      hasEnded ||= data === "[DONE]";
      if (!hasEnded) chunks.push(chunkOf(data, event, response.headers));
    },
  });
  try {
    while (!hasEnded) {
      const { done, value } = await reader.read();
      // The last event may lack the empty line that ends it.
      parser.feed(done ? `${decoder.decode()}\n\n` : decoder.decode(value, { stream: true }));
      if (chunks.length > 0) yield chunks;
      chunks = [];
      if (done) return;
    }
  } finally {
    if (hasEnded) void drain(reader);
    else void reader.cancel().catch(() => undefined);
  }
}

function chunkOf(data: string, event: string | undefined, headers: Headers): unknown {
  const chunk = JSON.parse(data);
  const error = event === "error" ? (chunk?.error ?? chunk) : chunk?.error;
  if (error) throw new APIError(undefined, error, undefined, headers);
  return chunk;
}

async function drain(reader: Pick<ReadableStreamDefaultReader, "read" | "cancel">): Promise<void> {
  const timer = setTimeout(() => void reader.cancel().catch(() => undefined), drainMs);
  try {
    while (!(await reader.read()).done);
  } catch {
    // The answer is complete: what becomes of its connection does not matter.
  } finally {
    clearTimeout(timer);
  }
}
