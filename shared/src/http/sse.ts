import { formatSSEErrorEvent, formatSSEEvent, SSE_HEADERS } from "@a2a-js/sdk";

/** One event of a stream; with an `id` a reader can resume after it by `Last-Event-ID`. */
export type SseFrame = {
  readonly data: unknown;
  readonly id?: number | undefined;
  readonly error?: boolean;
  /** The data is text that goes out as it is, and no JSON. */
  readonly plain?: boolean;
};

/** How a stream is kept alive, ended and told to fail. */
export type SseOptions = {
  /** Silence after which a comment is sent, so that no proxy takes the stream for dead. */
  readonly heartbeatMs: number;
  /** Called once when the reader is gone or the stream is over. */
  readonly release: () => void;
  /** What a failure after the first frame is told as. */
  readonly failure: (error: unknown) => SseFrame;
  readonly headers: Readonly<Record<string, string>>;
};

/**
 * Opens a stream whose first frame is fetched before this resolves, so that a request that fails at
 * once rejects and can be answered with an ordinary error. Frames are pulled only as the reader
 * takes them: a slow reader holds one frame, not many.
 */
export async function sseResponse(frames: AsyncIterator<SseFrame>, options: SseOptions): Promise<Response> {
  let next: Promise<IteratorResult<SseFrame>> | undefined;
  try {
    next = Promise.resolve(await frames.next());
  } catch (error) {
    options.release();
    throw error;
  }
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        next ??= frames.next();
        const item = await orHeartbeat(next, options.heartbeatMs).catch((error: unknown) => options.failure(error));
        if (item === "heartbeat") return controller.enqueue(encoder.encode(": keep-alive\n\n"));
        next = undefined;
        const frame = "data" in item ? item : item.value;
        if (frame !== undefined) controller.enqueue(encoder.encode(frameText(frame)));
        if ("data" in item || item.done === true) {
          options.release();
          controller.close();
        }
      },
      async cancel() {
        options.release();
        // A source that stands at a frame nobody takes any more hears of no abort, and would keep
        // what it holds.
        await frames.return?.();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { ...SSE_HEADERS, ...options.headers } });
}

function frameText({ data, id, error, plain }: SseFrame): string {
  if (plain === true) return `data: ${data}\n\n`;
  const text = error === true ? formatSSEErrorEvent(data) : formatSSEEvent(data);
  return id === undefined ? text : `id: ${id}\n${text}`;
}

async function orHeartbeat<Value>(value: Promise<Value>, heartbeatMs: number): Promise<Value | "heartbeat"> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const beat = new Promise<"heartbeat">((resolve) => {
    timer = setTimeout(() => resolve("heartbeat"), heartbeatMs);
  });
  try {
    return await Promise.race([value, beat]);
  } finally {
    clearTimeout(timer);
  }
}
