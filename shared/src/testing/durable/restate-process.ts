import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { type RestateNode, restateNodes } from "./restate-node.ts";

/** A Restate server of one test file. */
export type RestateProcess = AsyncDisposable &
  RestateNode & {
    /** How many of its calls to services whose names begin so are being answered. */
    callsOf(prefix: string): Promise<number>;
    /** Kills what it has under way for services whose names begin so. */
    forget(prefix: string): Promise<void>;
  };

const rows = z.object({ rows: z.array(z.object({ id: z.string() })) });

/** Starts a server on free ports, with its data in a folder of its own. */
export async function startRestate(): Promise<RestateProcess> {
  const folder = mkdtempSync(join(tmpdir(), "restate-"));
  const [node] = await restateNodes(folder, 1);
  if (node === undefined) throw new Error("There is one.");
  const { admin } = node;
  await node.start();
  return {
    ...node,
    callsOf: async (prefix) => (await invocationsOf(admin, prefix, "status = 'running'")).length,
    async forget(prefix) {
      const ids = await invocationsOf(admin, prefix, "status <> 'completed'");
      await Promise.all(ids.map((id) => fetch(`${admin}/invocations/${id}/kill`, { method: "PATCH" })));
    },
    async [Symbol.asyncDispose]() {
      await node.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function invocationsOf(admin: string, prefix: string, condition: string): Promise<readonly string[]> {
  const query = `SELECT id FROM sys_invocation WHERE target_service_name LIKE '${prefix}.%' AND ${condition}`;
  const response = await fetch(`${admin}/query`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({ query }),
  });
  // It refuses while it starts.
  if (!response.ok) return [];
  return rows.parse(await response.json()).rows.map(({ id }) => id);
}
