/** Passes a stream on, and fails it with this error once it has more than so many bytes. */
export function atMost(
  bytes: number,
  tooLarge: () => Error,
): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let size = 0;
  return new TransformStream({
    transform(chunk, controller) {
      size += chunk.byteLength;
      if (size > bytes) controller.error(tooLarge());
      else controller.enqueue(chunk);
    },
  });
}

/** The answer with a body of at most so many bytes. */
export function answerWithin(bytes: number, answer: Response): Response {
  const { body, status, statusText, headers } = answer;
  if (body === null) return answer;
  const tooLarge = () => new Error(`The answer has more than ${bytes} bytes.`);
  return new Response(body.pipeThrough(atMost(bytes, tooLarge)), { status, statusText, headers });
}
