import { expect, test } from "bun:test";
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
  expect(await cli.run("start")).toBe(1);
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
  expect(await done).toBe(1);
  expect(cli.said()).toContain("Given up on gateway. Fix the cause and start again.");
  expect(cli.said()).toContain("\nUp without gateway. State is in ");
});
