/** Says whether what opened a stream still counts. */
export type Counts = () => Promise<boolean>;

/** How often a stream that is open looks. */
const lookEveryMs = 3_000;

/** Calls `stop` once it does not count any more. Returns what ends the looking. */
export function lookWhether(counts: Counts, stop: () => void, everyMs = lookEveryMs): () => void {
  const look = setInterval(() => {
    counts().then(
      (still) => still || stop(),
      // What cannot be looked up counts for nothing.
      stop,
    );
  }, everyMs);
  return () => clearInterval(look);
}

/**
 * The answer, whose body ends when what it was asked with, a link or a token, expires or is
 * revoked. A body that ends by itself is passed on as it is, and so is all of an answer that
 * nothing can end.
 */
export function whileCounts(response: Response, counts: Counts | undefined, everyMs?: number): Response {
  const { body } = response;
  const isStream = response.headers.get("Content-Type")?.startsWith("text/event-stream") === true;
  if (counts === undefined || body === null || !isStream) return response;
  const reader = body.getReader();
  let lookNoMore: (() => void) | undefined;
  const stop = () => {
    lookNoMore?.();
    reader.cancel().catch(() => undefined);
  };
  const ending = new ReadableStream<Uint8Array>(
    {
      start() {
        lookNoMore = lookWhether(counts, stop, everyMs);
      },
      async pull(controller) {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        lookNoMore?.();
        controller.close();
      },
      cancel: stop,
    },
    { highWaterMark: 0 },
  );
  return new Response(ending, { status: response.status, headers: response.headers });
}
