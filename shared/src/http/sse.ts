import { formatSSEErrorEvent, formatSSEEvent, SSE_HEADERS } from "@a2a-js/sdk";
import { publicError } from "../core/errors.ts";

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
const maxAtOnce = 32 * 1024;

/** How long the first frames are waited for. Milliseconds. */
const firstFrameMs = 200;

/** Frames as they come: one by one, or several that are there at once. */
export type SseFrames = AsyncIterator<SseFrame | readonly SseFrame[]>;

/** Whether an answer is a stream of events, which may be silent for long. */
export function isEventStream({ headers }: Response): boolean {
  return headers.get("Content-Type")?.startsWith("text/event-stream") === true;
}

/**
 * Opens a stream. It gives the first frames a moment to come before it resolves, so that an
 * immediate failure rejects and can be answered with an ordinary error; a stream that is silent at
 * first begins with a comment. Frames are pulled only as the reader takes them, so a slow reader
 * holds only a few.
 */
export async function sseResponse(frames: SseFrames, options: SseOptions): Promise<Response> {
  let next: Promise<Item> | undefined = frames.next();
  let isSilent: boolean;
  try {
    isSilent = (await orHeartbeat(next, firstFrameMs)) === "heartbeat";
  } catch (error) {
    options.release();
    throw error;
  }
  // If it fails before the reader asks for it, it fails for the reader.
  next.catch(() => undefined);
  let isLeft = false;
  let leave: (() => void) | undefined;
  /** The newest batch of frames, of which `sent` are sent; nothing follows it if `isOver`. */
  let batch: readonly SseFrame[] = [];
  let sent = 0;
  let isOver = false;
  const take = (item: Item | SseFrame): void => {
    next = undefined;
    isOver = "data" in item || item.done === true;
    batch = "data" in item ? [item] : item.done === true ? [] : [item.value].flat();
    sent = 0;
  };
  const written = (frame: SseFrame): string => {
    try {
      return frameText(frame);
    } catch (error) {
      isOver = true;
      sent = batch.length;
      void ended(frames);
      return frameText(options.failure(error));
    }
  };
  const gathered = async (): Promise<string> => {
    const later = nextTurn();
    for (let text = ""; ; ) {
      for (let frame = batch[sent]; frame !== undefined && text.length < maxAtOnce; frame = batch[++sent])
        text += written(frame);
      if (isOver || text.length >= maxAtOnce) return text;
      next = frames.next();
      const item = await Promise.race([next, later]).catch(options.failure);
      if (item === undefined) return text;
      take(item);
    }
  };
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (isSilent) {
          isSilent = false;
          return controller.enqueue(Buffer.from(": open\n\n"));
        }
        if (sent === batch.length) {
          next ??= frames.next();
          const onLeave = (stop: () => void) => {
            leave = stop;
          };
          const first = await orHeartbeat(next, options.heartbeatMs, onLeave).catch(options.failure);
          if (isLeft) return;
          if (first === "heartbeat") return controller.enqueue(Buffer.from(": keep-alive\n\n"));
          take(first);
        }
        const text = await gathered();
        if (isLeft) return;
        if (text !== "") controller.enqueue(Buffer.from(text));
        if (!isOver) return;
        options.release();
        controller.close();
      },
      async cancel() {
        isLeft = true;
        leave?.();
        options.release();
        // A source blocked at a frame nobody takes does not notice an abort, and would keep its
        // resources.
        await ended(frames);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { ...SSE_HEADERS, ...options.headers } });
}

/** What the source then fails with nobody waits for. */
async function ended(frames: SseFrames): Promise<void> {
  await frames.return?.().catch(() => undefined);
}

/**
 * `sseResponse` for our own streams. The signal of the frames aborts when the reader is gone, which
 * the stream or the request's own signal tells. A failure is the last frame: its code and sentence.
 */
export function sseAnswer(
  request: AbortSignal,
  heartbeatMs: number,
  frames: (signal: AbortSignal) => SseFrames,
): Promise<Response> {
  const gone = new AbortController();
  return sseResponse(frames(AbortSignal.any([request, gone.signal])), {
    heartbeatMs,
    release: () => gone.abort(),
    failure: (error) => ({ data: publicError(error), error: true }),
    headers: {},
  });
}

/** What a pull gets of the source. */
type Item = IteratorResult<SseFrame | readonly SseFrame[]>;

/** Resolves when all is done that waits for nothing but other promises. */
function nextTurn(): Promise<undefined> {
  return new Promise((resolve) => setImmediate(() => resolve(undefined)));
}

function frameText({ data, id, error, plain }: SseFrame): string {
  if (plain === true) return `data: ${data}\n\n`;
  const text = error === true ? formatSSEErrorEvent(data) : formatSSEEvent(data);
  return id === undefined ? text : `id: ${id}\n${text}`;
}

/** The value, or after so long a heartbeat, which what `onLeave` is given brings at once. */
async function orHeartbeat<Value>(
  value: Promise<Value>,
  heartbeatMs: number,
  onLeave?: (stop: () => void) => void,
): Promise<Value | "heartbeat"> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const beat = new Promise<"heartbeat">((resolve) => {
    const stop = () => resolve("heartbeat");
    timer = setTimeout(stop, heartbeatMs);
    onLeave?.(stop);
  });
  try {
    return await Promise.race([value, beat]);
  } finally {
    clearTimeout(timer);
  }
}
