import { openWorkspace } from "../../machine/workspace/open-workspace.ts";
import { createDatabases } from "../../tools/data/database/databases.ts";

/**
 * Started by a test that kills it: a server with one endless query over a workspace below the given
 * folder.
 */
const workspace = await openWorkspace({ home: process.argv[2] ?? "", principal: "test", contextId: "1" });
const databases = createDatabases();
const { signal } = new AbortController();
await databases.query(workspace, "SELECT 1", { signal });
void databases.query(workspace, "SELECT count(*) FROM range(1000000) a, range(1000000) b, range(9) c", { signal });
process.stdout.write(`${workspace.root}\n`);
setInterval(() => undefined, 1000);
