import { expect, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createEmbeddedEngine } from "manyhands/internal/durable/sqlite/embedded-engine";
import { approvalFlow } from "../../testing/approval-flow.ts";
import { cliForTest } from "../../testing/cli.ts";
import { startGateway } from "../../testing/gateway.ts";

/** A home with runs of these kinds, one of which was cancelled after it had asked something. */
async function withRuns(cwd: string, kinds: readonly string[]): Promise<string[]> {
  await mkdir(join(cwd, ".manyhands"));
  const engine = createEmbeddedEngine({ path: join(cwd, ".manyhands/runs.db") });
  const ids: string[] = [];
  for (const kind of kinds) {
    const message = { messageId: crypto.randomUUID(), parts: [{ type: "text", text: `for ${kind}` }] };
    const events = [{ type: "message-received", ...message }];
    const { run } = await engine.start({ kind, input: { message }, principal: "local", contextId: "c", events });
    ids.push(run.id);
  }
  await engine.cancel(ids[0] ?? "");
  await engine.close();
  return ids;
}

test("the runs of a home are listed after one was cancelled, each with its agent", async () => {
  await using cli = await cliForTest({});
  // What sees to a cancellation is a run too, and none of these.
  const recalls = Array.from({ length: 25 }, () => "manus/recall");
  await withRuns(cli.cwd, ["manus", "agent:swe", "planning", ...recalls]);
  expect(await cli.run("runs", "list")).toBe(0);
  expect(cli.said()).toBe("");
  const rows = cli.out().trimEnd().split("\n");
  expect(rows.length).toBe(3);
  expect(cli.out()).toMatch(/^\S+ {2}manus +canceled .*$/m);
  expect(cli.out()).toMatch(/^\S+ {2}swe +queued .*$/m);
  expect(cli.out()).toMatch(/^\S+ {2}planning +queued .*$/m);
});

test("when a run changed is said by the clock of whoever reads it", async () => {
  await using cli = await cliForTest({});
  await withRuns(cli.cwd, ["manus", "manus"]);
  const before = process.env.TZ;
  const timesIn = async (zone: string) => {
    process.env.TZ = zone;
    expect(await cli.run("runs", "list")).toBe(0);
    const [time = ""] = cli.out().match(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?=[^\n]*\n$)/) ?? [];
    return Date.parse(`${time.replace(" ", "T")}Z`);
  };
  try {
    expect((await timesIn("Asia/Kolkata")) - (await timesIn("Etc/UTC"))).toBe(5.5 * 3_600_000);
  } finally {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  }
});

test("the runs of a status are those of the store, whatever servers are up", async () => {
  await using cli = await cliForTest({});
  const [ended = "", swe = ""] = await withRuns(cli.cwd, ["manus", "swe", "manus/recall"]);
  expect(await cli.run("runs", "list", "--status", "queued")).toBe(0);
  expect(cli.out()).toMatch(new RegExp(`^${swe} +swe +queued .*\n$`));
  expect(await cli.run("runs", "list", "--status", "canceled", "--agent", "manus")).toBe(0);
  expect(cli.out().trimEnd().split("\n").at(-1)).toStartWith(ended);
  expect(await cli.run("runs", "list", "--status", "paused")).toBe(0);
  expect(cli.out()).toEndWith("No run is paused.\n");
  expect(cli.connected).toEqual([]);
  expect(await cli.run("runs", "list", "--status", "sleeping")).toBe(2);
  expect(cli.said()).toContain("Allowed choices are queued, running, input-required");
});

test("with no runs on this machine, those of a status cannot be told", async () => {
  await using cli = await cliForTest({});
  expect(await cli.run("runs", "list", "--status", "paused")).toBe(1);
  expect(cli.said()).toContain("There are no runs in");
});

test("a run is answered and cancelled where it is: at the agent, through the gateway, or at the flow", async () => {
  await using cli = await cliForTest({ env: { SWE_URL: "http://127.0.0.1:1" } });
  const ids = await withRuns(cli.cwd, ["planning", "agent:swe", "manus"]);
  for (const id of ids) expect(await cli.run("runs", "cancel", id)).toBe(0);
  expect(cli.canceled).toEqual(ids);
  expect(cli.connected.map((url) => new URL(url).pathname)).toEqual(["/a2a/planning", "/a2a/swe", "/"]);
});

test("without its server an agent's runs are read from the store, those of a registered agent by what asked it", async () => {
  await using cli = await cliForTest({ env: { MANUS_URL: "http://127.0.0.1:1", SWE_URL: "http://127.0.0.1:1" } });
  const [ended = "", swe = "", guest = ""] = await withRuns(cli.cwd, ["manus", "swe", "agent:guest"]);
  const listed = async (...args: string[]) => {
    const before = cli.out().length;
    expect(await cli.run("runs", "list", "--json", ...args)).toBe(0);
    return (JSON.parse(cli.out().slice(before)) as { id: string }[]).map(({ id }) => id);
  };
  expect([await listed("--agent", "swe"), await listed("--agent", "guest")]).toEqual([[swe], [guest]]);
  expect((await listed()).toSorted()).toEqual([ended, swe, guest].toSorted());
  expect(await cli.run("runs", "show", guest, "--agent", "swe")).toBe(1);
  expect(await cli.run("runs", "show", swe)).toBe(0);
  expect(cli.connected).toEqual([]);
  expect(await cli.run("runs", "cancel", "nobody")).toBe(1);
  expect(cli.said()).toContain("There is no run nobody in");
});

test("a run that waits for an answer is shown with its question, and the command that answers it", async () => {
  await using gateway = await startGateway({ flows: [approvalFlow] });
  const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: '{"input": "Register us"}' };
  const { id } = (await (await fetch(`${gateway.url}/flows/careful`, init)).json()) as { id: string };
  const isAsking = async () => (await (await fetch(`${gateway.url}/runs/${id}`)).text()).includes("input-required");
  for (const deadline = Date.now() + 20_000; !(await isAsking()) && Date.now() < deadline; ) await Bun.sleep(20);
  await using cli = await cliForTest({ env: { MANYHANDS_HOME: gateway.home } });
  expect(await cli.run("runs", "show", id)).toBe(0);
  expect(cli.out()).toContain("Click “Register” on shop.example.");
  expect(cli.out()).not.toContain("input-required");
  expect(cli.said()).toContain(`Answer it with: bun manyhands runs answer ${id} "…"`);
});
