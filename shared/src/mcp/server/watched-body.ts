/** The response, and one call when its body has been read to the end (`true`) or been left (`false`). */
export function watchedBody(response: Response, ended: (read: boolean) => void): Response {
  const { body, status, headers } = response;
  if (body === null) {
    ended(true);
    return response;
  }
  const reader = body.getReader();
  let left = false;
  const watched = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        if (!left) ended(false);
        throw error;
      });
      if (left) return;
      if (!done) return controller.enqueue(value);
      ended(true);
      controller.close();
    },
    async cancel(reason) {
      left = true;
      ended(false);
      await reader.cancel(reason);
    },
  });
  return new Response(watched, { status, headers });
}
