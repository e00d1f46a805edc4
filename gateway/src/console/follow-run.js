import { ProblemError, request } from "./api.js";

/** The gateway sends a comment every 8 s: a connection silent for this long is dead. */
const silenceMs = 30_000;
const firstWaitMs = 300;
const longestWaitMs = 10_000;

/**
 * The events of a run from first to last: `{seq, at, event}` for stored events, `{progress}` for
 * live progress, and `{connected}` when the connection breaks or is restored. After a break it
 * continues with the next event, without gap or repetition. Rejects with a ProblemError when the
 * gateway refuses.
 *
 * @param {string} id @param {AbortSignal} signal
 */
export async function* followRun(id, signal) {
  let last = 0;
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
    try {
      const headers = { "Last-Event-ID": String(last) };
      const response = await request(`/runs/${encodeURIComponent(id)}/events`, { headers, signal });
      yield { connected: true };
      for await (const frame of eventFrames(response.body, silenceMs)) {
        if (frame.event === "error") break;
        waitMs = firstWaitMs;
        const item = JSON.parse(frame.data);
        if (item.seq !== undefined) last = item.seq;
        yield item;
        if (item.event?.type === "run-ended") return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ProblemError && error.status < 500) throw error;
    }
    yield { connected: false };
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    if (signal.aborted) return;
  }
}

/**
 * The frames of a stream of server-sent events as they arrive, with `id` if a frame has one.
 * Comments only keep the connection alive. Rejects after `silenceMs` without any data.
 *
 * @param {ReadableStream<Uint8Array>} body @param {number} silenceMs @returns {AsyncGenerator<{
 * id?: string, event?: string, data: string }>}
 */
async function* eventFrames(body, silenceMs) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await withinTime(reader.read(), silenceMs);
      if (done) return;
      const blocks = (text + value).split(/\r?\n\r?\n/);
      text = blocks.pop();
      for (const block of blocks) {
        const frame = frameOf(block);
        if (frame.data !== undefined) yield frame;
      }
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

function frameOf(block) {
  const frame = {};
  for (const line of block.split(/\r?\n/)) {
    const [, field, value] = /^(id|event|data): ?(.*)$/.exec(line) ?? [];
    if (field === "data" && frame.data !== undefined) frame.data += `\n${value}`;
    else if (field !== undefined) frame[field] = value;
  }
  return frame;
}

async function withinTime(work, milliseconds) {
  let timer;
  const silence = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("The stream fell silent.")), milliseconds);
  });
  try {
    return await Promise.race([work, silence]);
  } finally {
    clearTimeout(timer);
  }
}
