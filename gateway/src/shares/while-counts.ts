/** How often a stream that is open looks whether its link still counts. */
const lookEveryMs = 3_000;

/**
 * The answer, whose body ends when the link expires or is revoked. A body that ends by itself is
 * passed on as it is.
 */
export function whileCounts(response: Response, counts: () => Promise<boolean>, everyMs = lookEveryMs): Response {
  const { body } = response;
  if (body === null || response.headers.get("Content-Type")?.startsWith("text/event-stream") !== true) return response;
  const reader = body.getReader();
  let look: ReturnType<typeof setInterval> | undefined;
  const stop = () => {
    clearInterval(look);
    reader.cancel().catch(() => undefined);
  };
  const ending = new ReadableStream<Uint8Array>(
    {
      start() {
        look = setInterval(() => {
          counts().then(
            (still) => still || stop(),
            // What cannot be looked up counts for nothing.
            stop,
          );
        }, everyMs);
      },
      async pull(controller) {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        clearInterval(look);
        controller.close();
      },
      cancel: stop,
    },
    { highWaterMark: 0 },
  );
  return new Response(ending, { status: response.status, headers: response.headers });
}
