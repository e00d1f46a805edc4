import { expect, test } from "bun:test";
import { freePort } from "manyhands/internal/http/free-port";
import { checkoutForTest, liveServer } from "../testing/checkout.ts";
import { cliForTest } from "../testing/cli.ts";

const nowhere = () => ({ GATEWAY_PORT: String(freePort()) });
const failing = (words: string) => `console.error(${JSON.stringify(words)}); process.exit(2);`;

test("a gateway that failed to start is reported with its last output", async () => {
  await using checkout = await checkoutForTest({ gateway: failing("no such key"), agents: { manus: liveServer } });
  await using cli = await cliForTest({ ...checkout, env: nowhere() });
  expect(await cli.run("agents", "list")).toBe(2);
  expect(cli.said()).toContain("gateway ended before it was ready:\nno such key");
});

test("an agent that cannot start is reported with its last output, and the others are listed", async () => {
  const manus = { name: "manus", url: "http://127.0.0.1:1", source: "configured", health: "unreachable" };
  const gateway = liveServer.replace(
    "new Response(MANYHANDS_HOME)",
    `Response.json({ agents: [${JSON.stringify(manus)}] })`,
  );
  await using checkout = await checkoutForTest({
    gateway,
    agents: { manus: failing("no such model"), swe: liveServer },
  });
  await using cli = await cliForTest({ ...checkout, env: nowhere() });
  expect(await cli.run("agents", "list")).toBe(0);
  expect(cli.said()).toContain("manus ended before it was ready:\nno such model");
  expect(cli.out()).toContain("manus  ·  unreachable");
});

test("a gateway that breaks off, or answers in an unknown form, is reported", async () => {
  const answers = [
    () => new Response("<html>", { status: 502 }),
    () => Response.json({ error: "?" }, { status: 500 }),
    () => Response.json([]),
  ];
  for (const answer of answers) {
    await using other = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: (request) => (request.url.endsWith("/healthz") ? Response.json({ agent: "gateway" }) : answer()),
    });
    await using cli = await cliForTest({ env: { GATEWAY_PORT: String(other.port) } });
    expect(await cli.run("agents", "list")).toBe(1);
    expect(cli.said()).toContain(`The gateway at ${other.url.origin}`);
  }
});
