/**
 * A gateway with a flow that emits much, in a separate process, until its input ends. Prints its
 * address.
 */
import { chatter } from "./chatter.ts";
import { startGateway } from "./gateway.ts";

await using gateway = await startGateway({ flows: [chatter] });
process.stdout.write(`${gateway.url}\n`);
await new Response(Bun.stdin.stream()).text();
