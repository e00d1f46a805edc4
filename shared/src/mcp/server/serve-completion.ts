import type { Server } from "@modelcontextprotocol/server";
import { inProtocolWords } from "./invalid-params.ts";
import type { Serving } from "./serving.ts";

/** As many as the protocol lets a client be told. */
const most = 100;

/** Answers what an argument of a prompt, or a variable of a resource's address, may be. */
export function serveCompletion(server: Server, { prompts, resources, principal, deps }: Serving): void {
  server.setRequestHandler("completion/complete", async ({ params: { ref, argument } }) => {
    const { name, value } = argument;
    const all = await inProtocolWords(
      async () =>
        ref.type === "ref/prompt"
          ? prompts.complete(ref.name, name, value)
          : resources.complete(ref.uri, name, value, principal),
      deps.report,
    );
    return { completion: { values: all.slice(0, most), total: all.length, hasMore: all.length > most } };
  });
}
