import { createSandbox } from "../../machine/confinement/create-sandbox.ts";
import { outcomeOf } from "../../machine/sandbox/run-command.ts";
import { createWarmInterpreters } from "../../tools/python/warm-interpreters.ts";

/** A server to be killed: runs a program, reports it, and keeps the interpreter. */
const [, , folder = "", workspace = ""] = process.argv;
const sandbox = await createSandbox({ mode: "bwrap", folder });
const warm = createWarmInterpreters(sandbox);
const running = await warm.begin(workspace, "print('resting')", { wallMs: 60_000, cpuSeconds: 60 });
if (running === undefined) throw new Error("no interpreter was warm");
const { stdout } = await outcomeOf(running, { signal: AbortSignal.timeout(60_000) });
process.stdout.write(stdout);
await Bun.sleep(600_000);
