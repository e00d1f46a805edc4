import type { Server } from "@modelcontextprotocol/server";
import { givenWith } from "./asking.ts";
import { inProtocolWords } from "./invalid-params.ts";
import type { Serving } from "./serving.ts";

/** Answers what prompts there are, with what they say. */
export function servePrompts(server: Server, { prompts, deps }: Serving): void {
  server.setRequestHandler("prompts/list", () => ({ prompts: prompts.list() }));
  server.setRequestHandler("prompts/get", ({ params: { name, arguments: args = {} } }, context) =>
    inProtocolWords(async () => prompts.get(name, args, givenWith(context)), deps.report),
  );
}
