/**
 * A gateway with a flow that emits much, in a separate process, until its input ends. Prints its
 * address and then, for each line of its input, the bytes of memory that it has when nothing in it
 * is garbage.
 */
import { chatter } from "./chatter.ts";
import { startGateway } from "./gateway.ts";

await using gateway = await startGateway({ flows: [chatter] });
process.stdout.write(`${gateway.url}\n`);
for await (const _ of console) {
  Bun.gc(true);
  // What objects had outside of the heap is given up after them.
  await Bun.sleep(1);
  Bun.gc(true);
  process.stdout.write(`${process.memoryUsage.rss()}\n`);
}
