import { formatSSEErrorEvent, formatSSEEvent, SSE_HEADERS } from "@a2a-js/sdk";

/** One event of a stream; with an `id` a reader can resume after it by `Last-Event-ID`. */
export type SseFrame = {
  readonly data: unknown;
  readonly id?: number | undefined;
  readonly error?: boolean;
  /** The data is sent as plain text, not as JSON. */
  readonly plain?: boolean;
};

/** How a stream is kept alive, ended, and how it reports a failure. */
export type SseOptions = {
  /**
   * Silence in milliseconds after which a comment is sent, so that proxies keep the stream open.
   */
  readonly heartbeatMs: number;
  /** Called once when the reader is gone or the stream is over. */
  readonly release: () => void;
  /** The frame that reports a failure after the first frame. */
  readonly failure: (error: unknown) => SseFrame;
  readonly headers: Readonly<Record<string, string>>;
};

/**
 * Opens a stream and fetches its first frame before resolving, so that an immediate failure rejects
 * and can be answered with an ordinary error. Frames are pulled only as the reader takes them, so a
 * slow reader holds only one frame.
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
        // A source blocked at a frame nobody takes does not notice an abort, and would keep its
        // resources.
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
