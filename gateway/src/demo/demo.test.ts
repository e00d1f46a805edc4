import { expect, spyOn, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import * as up from "../session/is-up.ts";
import * as systems from "../session/system-session.ts";
import type { TaskItem } from "../tasks/task-item.ts";
import { cliForTest } from "../testing/cli.ts";
import * as checking from "./check-results.ts";
import * as tasks from "./demo-task.ts";

const none = { runsCode: false, operatesPages: false };
const report: TaskItem = {
  ...{ kind: "event", seq: 1, at: 1 },
  event: { type: "artifact-added", artifactId: "r", name: "report.md", parts: [{ type: "text", text: "# Handover" }] },
};

/** A demo whose flow ends like this, in a system that is only pretended. */
async function demo(
  state: "completed" | "failed" | "paused" | "input-required",
  {
    env = {} as Record<string, string>,
    others = false,
    abilities = none,
    checks = [{ isRight: true, text: "right" }],
  } = {},
) {
  await using cli = await cliForTest({
    env: { MANYHANDS_TOKEN: "own-token", ...env },
    play: async function* () {
      yield { kind: "state", taskId: "t1", contextId: "c1", state: "working" };
      yield report;
      yield { kind: "state", taskId: "t1", contextId: "c1", state };
    },
  });
  await mkdir(join(cli.cwd, "manyhands-demo"));
  await Bun.write(join(cli.cwd, "manyhands-demo/old.txt"), "of a former demo");
  let closed = 0;
  using _ = spyOn(up, "isUp").mockResolvedValue(others);
  using __ = spyOn(tasks, "readAbilities").mockResolvedValue(abilities);
  using ___ = spyOn(checking, "checkResults").mockResolvedValue(checks);
  const session = { url: "http://127.0.0.1:1", passing: true, close: async () => void closed++ };
  using started = spyOn(systems, "startSystem").mockImplementation(async (config) => ({ ...session, config }));
  const code = await cli.run("demo");
  const [config, context, needed] = started.mock.calls[0] ?? [];
  const site = context?.env.MANYHANDS_EGRESS_ALLOW?.split(",").at(-1);
  const isOver = await fetch(`http://${site}/`).then(
    () => false,
    () => true,
  );
  expect([closed, isOver]).toEqual([1, true]);
  const files = Array.from(new Bun.Glob("manyhands-demo/*").scanSync(cli.cwd)).toSorted();
  return { code, config, env: context?.env, needed, site, files, sent: cli.sent, shown: cli.shown, cwd: cli.cwd };
}

test("the demo has a system of its own with all agents, whose tools reach its site beside what they reach anyway", async () => {
  const reach = { MANYHANDS_EGRESS_ALLOW: "a.example", MANYHANDS_EGRESS_ONLY: "b.example" };
  const { env, site, needed, config, sent, shown, cwd } = await demo("completed", { env: reach });
  expect([env?.MANYHANDS_EGRESS_ALLOW, env?.MANYHANDS_EGRESS_ONLY]).toEqual([`a.example,${site}`, `b.example,${site}`]);
  const all = ["manus", "browser", "swe", "data-analysis"];
  expect([needed?.names.toSorted(), needed?.needed.toSorted()]).toEqual([all.toSorted(), all.toSorted()]);
  expect(config?.home).toBe(join(cwd, ".manyhands"));
  expect(shown).toMatchObject([{ identity: { secret: { text: "own-token" } } }]);
  expect(sent).toMatchObject([{ files: [{ name: "orders.csv" }], text: expect.not.stringContaining(site ?? "") }]);
  // A system that is up already must not take its runs.
  const beside = await demo("completed", { others: true });
  expect(beside.config?.home).toBe(join(beside.cwd, ".manyhands/demo"));
  expect(beside.env).not.toHaveProperty("MANYHANDS_EGRESS_ONLY");
});

test("what the system can do is part of the demo's task", async () => {
  const { sent, site } = await demo("completed", { abilities: { runsCode: true, operatesPages: true } });
  expect(sent[0]?.files?.map(({ name }) => name)).toEqual(["orders.csv", "shipping.tar.gz"]);
  expect(sent[0]?.text).toContain(site ?? "nowhere");
});

test("the demo is fine only if all of it is right; its results take the place of earlier ones", async () => {
  const [right, wrong] = [
    { isRight: true, text: "right" },
    { isRight: false, text: "wrong" },
  ];
  const fine = await demo("completed", { checks: [right, right] });
  expect([fine.code, fine.files]).toEqual([0, ["manyhands-demo/report.md"]]);
  expect((await demo("completed", { checks: [right, wrong] })).code).toBe(1);
  for (const [state, code] of [
    ["failed", 1],
    ["input-required", 3],
    ["paused", 3],
  ] as const) {
    const { code: found, files } = await demo(state);
    expect([state, found, files]).toEqual([state, code, ["manyhands-demo/old.txt"]]);
  }
});

test("what agents can do is asked of the gateway with our token, by the skills of each agent", async () => {
  const skills = (...ids: string[]) => ({ card: { skills: ids.map((id) => ({ id })) } });
  let agents: object[] = [];
  await using gateway = Object.assign(
    Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: ({ headers }) =>
        headers.get("Authorization") === "Bearer t" ? Response.json({ agents }) : new Response("", { status: 401 }),
    }),
    { [Symbol.asyncDispose]: () => gateway.stop(true) },
  );
  const read = () => tasks.readAbilities(gateway.url.origin, { identity: { kind: "bearer", secret: { text: "t" } } });
  agents = [{ name: "swe", ...skills("operate-pages") }, { name: "browser", ...skills("fix-bug") }, { name: "new" }];
  expect(await read()).toEqual(none);
  agents = [
    { name: "swe", ...skills("x", "fix-bug") },
    { name: "browser", ...skills("operate-pages") },
  ];
  expect(await read()).toEqual({ runsCode: Bun.which("python3") !== null, operatesPages: true });
  using _ = spyOn(Bun, "which").mockReturnValue(null);
  expect(await read()).toEqual({ runsCode: false, operatesPages: true });
});

test("what agents can do is known once the gateway, just started, has looked at all of them", async () => {
  const browser = { name: "browser", card: { skills: [{ id: "operate-pages" }] } };
  let looks = 0;
  await using gateway = Object.assign(
    Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => {
        looks++;
        const agents = [looks < 3 ? { name: "browser", health: "unknown" } : { ...browser, health: "up" }];
        return Response.json({ agents: [...agents, { name: "gone", health: "down" }] });
      },
    }),
    { [Symbol.asyncDispose]: () => gateway.stop(true) },
  );
  expect(await tasks.readAbilities(gateway.url.origin, undefined)).toEqual({ runsCode: false, operatesPages: true });
  expect(looks).toBe(3);
});
