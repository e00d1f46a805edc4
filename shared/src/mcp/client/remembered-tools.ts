import { join } from "node:path";
import type { Tool as Definition } from "@modelcontextprotocol/client";
import * as z from "zod";
import { createKeyedQueue } from "../../core/async/keyed-queue.ts";
import { readJson, writeJson } from "../../machine/workspace/own-files/json-file.ts";
import type { ServerConfig } from "./servers/server-config.ts";

const remembered = z.strictObject({
  server: z.string(),
  definitions: z.array(z.looseObject({ name: z.string(), inputSchema: z.looseObject({ type: z.literal("object") }) })),
});

/** The definitions servers last reported, so that a server that starts slowly has tools at once. */
export interface RememberedTools {
  /** Undefined for a server that was never asked, or that had another command or URL then. */
  read(server: ServerConfig): Promise<readonly Definition[] | undefined>;
  write(server: ServerConfig, definitions: readonly Definition[]): Promise<void>;
}

/** Stores them in this folder, one file per server. */
export function rememberedTools(folder: string): RememberedTools {
  const queue = createKeyedQueue();
  const fileOf = ({ name }: ServerConfig) => join(folder, `${encodeURIComponent(name)}.json`);
  return {
    async read(server) {
      const kept = await readJson(fileOf(server), remembered);
      return kept?.server === server.shown ? (kept.definitions as readonly Definition[]) : undefined;
    },
    write(server, definitions) {
      const file = fileOf(server);
      return queue(file, () => writeJson(file, { server: server.shown, definitions }));
    },
  };
}
