import { afterAll, beforeAll, expect, test } from "bun:test";
import { type CliForTest, cliForTest } from "../testing/cli.ts";

/**
 * Writes the clipboard, clears the screen (with one character, too), hides and turns text around.
 */
const hostile = "a\u001b]52;c;ZXZpbA==\u0007\u009b2J\u001b[8mb\u202ec\u2066d\u{e0041}";

const agent = { name: hostile, url: hostile, source: hostile, health: hostile, title: hostile, reason: hostile };
const delivery = { id: hostile, taskId: hostile, url: hostile, state: hostile, updatedAt: hostile, reason: hostile };
const start = { name: hostile, start: hostile, task: hostile, paused: false, firings: [], url: hostile, type: hostile };
const schedule = { ...start, cron: hostile, timeZone: hostile, next: hostile };

let cli: CliForTest;
let stop: () => Promise<void>;
let answer: object;

beforeAll(async () => {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) => Response.json(url.endsWith("/healthz") ? { agent: "gateway" } : answer),
  });
  cli = await cliForTest({ env: { GATEWAY_PORT: String(server.port) } });
  stop = () => server.stop(true);
});
afterAll(async () => {
  await cli[Symbol.asyncDispose]();
  await stop();
});

test.each<[string, object]>([
  ["agents", { agents: [{ ...agent, changes: [{ what: [hostile] }] }] }],
  ["agents add http://a.example", agent],
  ["deliveries", { deliveries: [delivery] }],
  ["deliveries show x", delivery],
  ["schedules", { schedules: [schedule] }],
  ["schedules show x", schedule],
  ["triggers", { triggers: [start] }],
  ["triggers show x", start],
  ["notify", { targets: [{ name: hostile, type: hostile }] }],
])("what a gateway answers controls no terminal: %s", async (command, told) => {
  answer = told;
  for (const more of [[], ["--json"]]) {
    const before = cli.out().length;
    expect(await cli.run(...command.split(" "), ...more)).toBe(0);
    const shown = cli.out().slice(before);
    expect(shown).toContain("52;c;ZXZpbA==");
    expect(shown.match(/[[\p{Cc}\p{Bidi_C}\p{Default_Ignorable_Code_Point}]--\n]/gv)).toBeNull();
  }
});

test("nor does the reason of a refusal", async () => {
  answer = { code: hostile, detail: hostile };
  expect(await cli.run("agents", "--json")).not.toBe(0);
  expect(cli.said().match(/[[\p{Cc}\p{Bidi_C}]--\n]/gv)).toBeNull();
});
