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
 * The most characters of frames that are sent at once. Frames that are there together go out
 * together, since each piece of a body costs more than a short frame.
 */
const mostAtOnce = 32 * 1024;

/**
 * Opens a stream and fetches its first frame before resolving, so that an immediate failure rejects
 * and can be answered with an ordinary error. Frames are pulled only as the reader takes them, so a
 * slow reader holds only a few.
 */
export async function sseResponse(frames: AsyncIterator<SseFrame>, options: SseOptions): Promise<Response> {
  let next: Promise<IteratorResult<SseFrame>> | undefined;
  try {
    next = Promise.resolve(await frames.next());
  } catch (error) {
    options.release();
    throw error;
  }
  const gathered = async (first: Item): Promise<{ text: string; isOver: boolean }> => {
    const later = nextTurn();
    let text = "";
    for (let item: Item | undefined = first; item !== undefined; ) {
      next = undefined;
      const isOver = "data" in item || item.done === true;
      const frame = "data" in item ? item : item.value;
      if (frame !== undefined) text += frameText(frame);
      if (isOver) return { text, isOver };
      if (text.length >= mostAtOnce) break;
      next = frames.next();
      item = await Promise.race([next, later]).catch((error: unknown) => options.failure(error));
    }
    return { text, isOver: false };
  };
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        next ??= frames.next();
        const first = await orHeartbeat(next, options.heartbeatMs).catch((error: unknown) => options.failure(error));
        if (first === "heartbeat") return controller.enqueue(encoder.encode(": keep-alive\n\n"));
        const { text, isOver } = await gathered(first);
        if (text !== "") controller.enqueue(encoder.encode(text));
        if (!isOver) return;
        options.release();
        controller.close();
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

/** What a pull gets: an item of the source, or the frame that says why there is none. */
type Item = IteratorResult<SseFrame> | SseFrame;

/** Resolves when all is done that waits for nothing but other promises. */
function nextTurn(): Promise<undefined> {
  return new Promise((resolve) => setImmediate(() => resolve(undefined)));
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
