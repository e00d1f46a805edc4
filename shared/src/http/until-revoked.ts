import { isEventStream } from "./sse.ts";

/** Whether the link or token that opened a stream is still valid. */
export type IsValid = () => Promise<boolean>;

/** How often an open stream looks. */
const everyMs = 3_000;

/**
 * Calls `stop` once the link or token is not valid any more, or that cannot be looked up. Returns
 * what ends the looking.
 */
export function watchValidity(isValid: IsValid, stop: () => void, intervalMs = everyMs): () => void {
  const look = setInterval(() => {
    isValid().then((still) => still || stop(), stop);
  }, intervalMs);
  return () => clearInterval(look);
}

/**
 * The answer, whose stream ends when the link or token that it was asked with expires or is
 * revoked. Any other body is passed on as it is, and so is all of an answer that nothing can end.
 */
export function untilRevoked(response: Response, isValid: IsValid | undefined, intervalMs?: number): Response {
  const { body } = response;
  if (isValid === undefined || body === null || !isEventStream(response)) return response;
  const reader = body.getReader();
  let stopWatching: (() => void) | undefined;
  const stop = () => {
    stopWatching?.();
    reader.cancel().catch(() => undefined);
  };
  const ending = new ReadableStream<Uint8Array>(
    {
      start() {
        stopWatching = watchValidity(isValid, stop, intervalMs);
      },
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          controller.close();
        } catch (error) {
          controller.error(error);
        }
        stopWatching?.();
      },
      cancel: stop,
    },
    { highWaterMark: 0 },
  );
  return new Response(ending, { status: response.status, headers: response.headers });
}
