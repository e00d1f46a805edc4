import { expect, spyOn, test } from "bun:test";
import * as starting from "../supervisor/start.ts";
import { checkoutForTest, liveServer } from "../testing/checkout.ts";
import { cliForTest } from "../testing/cli.ts";

test("start shows the address, model and sandbox of each agent and the gateway's address, and drains on request", async () => {
  await using checkout = await checkoutForTest({ gateway: liveServer, agents: { manus: liveServer } });
  const env = { GATEWAY_PORT: "0", PUBLIC_URL: "https://team.example", MANYHANDS_TOKEN: "long-enough" };
  await using cli = await cliForTest({ ...checkout, env });
  const done = cli.run("start");
  for (const deadline = Date.now() + 60_000; !cli.said().includes("\nUp. "); await Bun.sleep(10))
    if (Date.now() > deadline) throw new Error(cli.said());
  process.emit("SIGTERM");
  expect(await done).toBe(0);
  expect(cli.said().split("\n")).toEqual([
    expect.stringMatching(
      /^ {2}manus {2}http:\/\/127\.0\.0\.1:\d+ {2}· {2}rehearsal model \(scripted; no model is configured\) {2}· {2}sandbox bwrap$/,
    ),
    expect.stringMatching(/^ {2}gateway {2}http:\/\/127\.0\.0\.1:\d+ {2}· {2}https:\/\/team\.example$/),
    expect.stringMatching(/^Up\. State is in .*, logs in .*logs\. Press Ctrl-C to stop\.$/),
    "",
    "Stopping: running tasks resume at the next start.",
    "",
  ]);
});

test("start says why an agent was given up, and what to do", async () => {
  const manus = 'console.error("no such key"); process.exit(2);';
  await using checkout = await checkoutForTest({ gateway: manus, agents: { manus } });
  await using cli = await cliForTest({ ...checkout, env: { GATEWAY_PORT: "0" } });
  // A configuration that a server refuses has the code it has in any command.
  expect(await cli.run("start")).toBe(2);
  const line = "manus ended before it was ready:\nno such key\n  Given up on manus. Fix the cause and start again.\n";
  expect(cli.said()).toContain(line);
});

test("start says which servers are missing", async () => {
  const gateway = 'console.error("no such key"); process.exit(2);';
  await using checkout = await checkoutForTest({ gateway, agents: { manus: liveServer } });
  await using cli = await cliForTest({ ...checkout, env: { GATEWAY_PORT: "0" } });
  const done = cli.run("start");
  for (const deadline = Date.now() + 60_000; !cli.said().includes("\nUp "); await Bun.sleep(10))
    if (Date.now() > deadline) throw new Error(cli.said());
  process.emit("SIGTERM");
  expect(await done).toBe(2);
  expect(cli.said()).toContain("Given up on gateway. Fix the cause and start again.");
  expect(cli.said()).toContain("\nUp without gateway. State is in ");
});

test("a second Ctrl-C ends it at once, a first one drains it, and later ones are no longer its own", async () => {
  let now = 1_000;
  using _ = spyOn(performance, "now").mockImplementation(() => now);
  using exiting = spyOn(process, "exit").mockImplementation((() => undefined) as never);
  let drained = Promise.withResolvers<boolean>();
  let signal: AbortSignal | undefined;
  using __ = spyOn(starting, "startAgents").mockImplementation(async (context) => {
    ({ signal } = context);
    return drained.promise;
  });
  await using cli = await cliForTest({});
  const others = process.listeners("SIGINT");
  for (const [sound, code] of [
    [true, 0],
    [false, 1],
  ] as const) {
    drained = Promise.withResolvers();
    const done = cli.run("start");
    while (signal === undefined) await new Promise((resolve) => setImmediate(resolve));
    process.emit("SIGINT");
    expect([signal.aborted, exiting.mock.calls.length]).toEqual([true, 0]);
    now += 1_000;
    process.emit("SIGINT");
    expect(exiting.mock.calls).toEqual([[130]]);
    drained.resolve(sound);
    expect(await done).toBe(code);
    exiting.mockClear();
    signal = undefined;
  }
  // Of others, some may have left meanwhile.
  expect(process.listeners("SIGINT").filter((one) => !others.includes(one))).toEqual([]);
});
