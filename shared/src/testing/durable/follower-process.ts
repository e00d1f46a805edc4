import { createEmbeddedEngine } from "../../durable/sqlite/embedded-engine.ts";

/**
 * A process with a reader of a run's events that takes one and then stalls while the engine is
 * closed. The first argument is the file.
 */
const engine = createEmbeddedEngine({ path: process.argv[2] ?? "" });
const events = [{ type: "told" }, { type: "told" }];
const { run } = await engine.start({ kind: "any", input: {}, principal: "p", contextId: "c", events });
const reader = engine.follow(run.id, { signal: new AbortController().signal })[Symbol.asyncIterator]();
await reader.next();
await engine.close({ graceMs: 0 });
process.stdout.write("closed\n");
