/** A running `/embeddings` endpoint that knows a few meanings. */
export type EmbeddingServer = AsyncDisposable & {
  /** The base URL for clients, `/v1` included. */
  readonly url: string;
  /** The texts of each request so far. */
  readonly asked: (readonly string[])[];
  /** Answers with this status from now on. */
  failWith(status: number | undefined): void;
};

/**
 * Serves embeddings in which texts are close if they share a meaning: words that stand for one
 * thing. Each text counts five tokens. For tests.
 */
export function startEmbeddings(meanings: readonly (readonly string[])[]): EmbeddingServer {
  const asked: (readonly string[])[] = [];
  let failure: number | undefined;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    routes: {
      "/v1/embeddings": async (request) => {
        const { input } = (await request.json()) as { readonly input: readonly string[] };
        asked.push(input);
        if (failure !== undefined) return new Response("no", { status: failure });
        const data = input.map((text, index) => ({
          object: "embedding",
          index,
          embedding: [...meanings.map((words) => (words.some((word) => text.includes(word)) ? 1 : 0)), 0.01],
        }));
        return Response.json({ object: "list", data, usage: { prompt_tokens: 5 * input.length } });
      },
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    asked,
    failWith(status) {
      failure = status;
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}
