import { ProblemError, request } from "./client.ts";
import type { StoredEvent } from "./events.ts";

/** The gateway sends a comment every 8 s: a connection silent for this long is dead. */
export const silenceMs = 30_000;
const firstWaitMs = 300;
const longestWaitMs = 10_000;

/** Live progress, which is not stored. */
export type Progress = {
  readonly type: string;
  readonly text?: string;
  readonly agent?: string;
  readonly callId?: string;
  readonly askId?: string;
  readonly isThought?: boolean;
};

/** What following a run yields. */
export type Followed =
  | ({ readonly kind: "event" } & StoredEvent)
  | { readonly kind: "progress"; readonly progress: Progress }
  | { readonly kind: "connection"; readonly connected: boolean; readonly retryMs?: number };

/**
 * The events of a run, live progress, and whether the connection holds. After
 * a break it continues with the next event, without gap or repetition; it ends after the run's last
 * event, or when `signal` aborts. Rejects with a ProblemError when the gateway refuses.
 */
export async function* followRun(id: string, signal: AbortSignal): AsyncGenerator<Followed> {
  let last = 0;
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
    try {
      const headers = { "Last-Event-ID": String(last) };
      const response = await request(`/runs/${encodeURIComponent(id)}/events`, { headers, signal });
      yield { kind: "connection", connected: true };
      for await (const frame of eventFrames(response.body, silenceMs)) {
        if (frame.event === "error") break;
        waitMs = firstWaitMs;
        const item: StoredEvent | { readonly progress: Progress } = JSON.parse(frame.data);
        if ("progress" in item) yield { kind: "progress", progress: item.progress };
        else {
          last = item.seq;
          yield { kind: "event", ...item };
          if (item.event.type === "run-ended") return;
        }
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ProblemError && error.status < 500) throw error;
    }
    if (signal.aborted) return;
    yield { kind: "connection", connected: false, retryMs: waitMs };
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    if (signal.aborted) return;
  }
}

type Frame = { data: string; event?: string };

/**
 * The frames of a stream of server-sent events as they arrive. Comments only keep the connection
 * alive. Rejects after `silenceMs` without any data.
 */
export async function* eventFrames(body: ReadableStream<Uint8Array> | null, silenceMs: number): AsyncGenerator<Frame> {
  if (body === null) return;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await withinTime(reader.read(), silenceMs);
      if (done) return;
      const blocks = (text + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/);
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const frame = frameOf(block);
        if (frame !== undefined) yield frame;
      }
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

function frameOf(block: string): Frame | undefined {
  const data: string[] = [];
  let event: string | undefined;
  for (const line of block.split(/\r?\n/)) {
    const [, field, value = ""] = /^(event|data): ?(.*)$/.exec(line) ?? [];
    if (field === "data") data.push(value);
    if (field === "event") event = value;
  }
  return data.length === 0 ? undefined : { data: data.join("\n"), ...(event !== undefined && { event }) };
}

async function withinTime<Value>(work: Promise<Value>, milliseconds: number): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("The stream fell silent.")), milliseconds);
  });
  try {
    return await Promise.race([work, silence]);
  } finally {
    clearTimeout(timer);
  }
}
