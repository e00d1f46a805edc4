import { innerPid } from "../../machine/kernel/process-table.ts";
import { runCommand } from "../../machine/sandbox/run-command.ts";
import { heldBwrap } from "./killed-starts.ts";
import { eventually, openTier, processesNamed } from "./tiers.ts";

/**
 * A server to be killed in the middle of starting a sandbox below a folder; prints the workspace
 * and the first process of the view, which then waits for its bwrap.
 */
const bwrap = await heldBwrap("told");
const { sandbox, workspace } = await openTier("bwrap", { within: process.argv[2] ?? "" });
await bwrap.hold();
void runCommand(sandbox, { argv: ["true"], workspace }, { signal: AbortSignal.timeout(60_000) });
const first = async () => (await processesNamed(workspace)).find((pid) => innerPid(pid) === 1);
await eventually("its view is begun", async () => (await first()) !== undefined);
await bwrap.remove();
process.stdout.write(`${JSON.stringify({ workspace, first: await first() })}\n`);
