import { startRehearsalModel } from "manyhands/internal/models/rehearsal/start-rehearsal-model";

/** The rehearsal model behind a counter of its real requests. */
export type CountedModel = { readonly url: string; asked(): number; close(): Promise<void> };

/** Starts one that answers without pauses. */
export async function startCountedModel(): Promise<CountedModel> {
  const rehearsal = await startRehearsalModel({ pace: 0 });
  let asked = 0;
  const proxy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname.endsWith("/chat/completions")) asked++;
      const target = new URL(rehearsal.url).origin + pathname;
      const { method, headers } = request;
      return fetch(target, { method, headers, body: await request.text() }).catch(
        () => new Response("The model is gone.", { status: 503 }),
      );
    },
  });
  return {
    url: `${proxy.url.origin}/v1`,
    asked: () => asked,
    async close() {
      await proxy.stop(true);
      await rehearsal.close();
    },
  };
}
