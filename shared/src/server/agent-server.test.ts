import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { agentNamed } from "../config/named-agent.ts";
import type { RunRecord } from "../core/runs/engine.ts";
import { homeMark } from "../http/home-mark.ts";
import { known } from "../testing/server/watch-parts.ts";
import { startWatchedAgentServer } from "../testing/server/watched-agent-server.ts";

let server: Awaited<ReturnType<typeof startWatchedAgentServer>>;
beforeAll(async () => {
  server = await startWatchedAgentServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const ask = (path: string, init: RequestInit = {}) =>
  fetch(new URL(path, server.url), {
    ...init,
    headers: { Authorization: "Bearer long-enough", "A2A-Version": "1.0", "Content-Type": "application/json" },
  });

test("an agent's server is ready where it listens, and its card says what it is and what it can do", async () => {
  const card = (await (await fetch(new URL("/.well-known/agent-card.json", server.url))).json()) as Record<
    string,
    object
  >;
  expect(card).toMatchObject({ name: "Tester", version: "1.2.3" });
  expect(card.signatures).not.toEqual([]);
  expect(card.capabilities).toMatchObject({ streaming: true, pushNotifications: true, extendedAgentCard: true });
  expect(Object.keys(card.securitySchemes ?? {})).toEqual(expect.arrayContaining(["bearer", "apiKey"]));
  expect((await ask("/.well-known/jwks.json")).status).toBe(200);
  expect((await fetch(new URL("/tasks", server.url))).status).toBe(401);
  expect(await Bun.file(join(server.home, "mcp-mount-key")).exists()).toBe(true);
  expect((await ask("/mcp", { method: "POST", body: "{}" })).status).toBe(404);
});

test("it works on its tasks, on what they asked others for, and on notifications, which have workers of their own", () => {
  const { worked } = server;
  const kinds = worked.map(([definitions]) => definitions.map(({ kind }) => kind));
  expect(kinds).toEqual([["tester", expect.any(String), expect.any(String)], ["tester/push"]]);
  expect(worked.map(([, options]) => options)).toEqual([undefined, { concurrency: 1_000, dedicatedPool: true }]);
});

test("a task is done by the model that there is, which says what it is", async () => {
  const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "Hi" }] };
  const sent = await ask("/message:send", { method: "POST", body: JSON.stringify({ message }) });
  const { task } = (await sent.json()) as { task: { status: { state: string } } };
  expect(task.status.state).toBe("TASK_STATE_FAILED");
  expect(JSON.stringify(task.status)).toContain("I am the rehearsal model");
  expect((await ask("/metrics")).status).toBe(200);
});

test("its parts have what the settings say, and both its ports one guard", async () => {
  const { told, config } = server;
  const { guard, tls, drained } = known;
  expect(told).toContainEqual(["grpc", 19_998, guard, tls]);
  expect(told).toContainEqual(["http", guard, drained, tls]);
  expect(told).toContainEqual(["approval", "ask", "allow"]);
  expect(told.find(([what]) => what === "risky")?.[1]).toBe(agentNamed(config, "tester").risky);
  const others = [["cancels children", "tester"], ["engine cancels children", "tester"], ["releases"]];
  for (const one of [...others, ["checked", "tester", []]]) expect(told).toContainEqual(one);
  const card = (await (await fetch(new URL("/.well-known/agent-card.json", server.url))).json()) as object;
  expect(JSON.stringify(card)).toContain('"url":"127.0.0.1:19998"');
});

test("what answers its requests has what the settings say, and what it shares with others", () => {
  const { config } = server;
  const { app, push, deletions, model, asking, engine, released } = server.made;
  expect(app).toMatchObject({ hostname: config.server.host, cors: ["https://page.example"], cardStyle: "strict" });
  expect([app?.dedupeMs, app?.quotas?.of("ann")]).toEqual([3_600_000, { runsAtOnce: 1 }]);
  expect([app?.engine === released, deletions?.engine === released]).toEqual([true, true]);
  expect(app?.facts).toMatchObject({ home: homeMark(server.home), publicUrl: new URL(server.url).origin });
  expect([app?.facts.mcp?.(), app?.metrics?.families?.().length]).toEqual([expect.any(Object), expect.any(Number)]);
  expect(push).toMatchObject({ kind: "tester", publicUrl: new URL(server.url).origin });
  expect(push?.keys).toBe(app?.facts.keys);
  expect(push?.webhooks).toBe(app?.webhooks);
  expect(model?.[1]).toMatchObject({ logger: push?.log, shareLimits: known.shareLimits });
  expect(model?.[2]).toBe(agentNamed(config, "tester").roles);
  expect([asking?.admit, engine?.port]).toEqual([expect.any(Function), 0]);
});

test("its tasks have the settings' tools and skills, and what it shares, in workspaces of the sandbox's user", async () => {
  const { config, home, told } = server;
  const { app, parts, shared, workspaces, skills, mcp } = server.made;
  const { recall, user } = known;
  const { mcp: servers, skills: chosen } = agentNamed(config, "tester");
  expect([parts?.recall === recall, parts?.profiles === shared?.profiles]).toEqual([true, true]);
  expect(told).toContainEqual(["mounted", []]);
  expect([servers, skills?.[1] === chosen, skills?.[2] === config, mcp?.env === process.env]).toEqual([
    [],
    true,
    true,
    true,
  ]);
  expect(workspaces).toMatchObject({ name: "tester", user });
  const whose = { home, agent: "tester", principal: "ann", contextId: "c" };
  await app?.livePage?.({ principal: "ann", contextId: "c" } as RunRecord, "desktop");
  expect(told).toContainEqual(["workspace", { ...whose, user }]);
  expect(told.at(-1)).toMatchObject(["live", "desktop", { root: expect.stringContaining(home) }]);
});

test("its log says what there is to be known of its settings, and what was deleted", () => {
  for (const said of ["The settings say so.", "It is shared.", "Others use it.", "No desktop here."])
    expect(server.logged.filter((line) => line.includes(said))).toHaveLength(1);
  server.made.deletions?.audit?.({ runs: ["a run"] } as never);
  expect(server.logged.at(-1)).toContain("a run");
  expect(server.made.deletions?.files).toBeDefined();
});

test("when it stops, all that it opened is closed, whatever fails, and the store of runs before what runs use", async () => {
  const { closed, stop } = server;
  const stopped = (await stop().catch((error: unknown) => error)) as AggregateError;
  expect(closed.slice(0, 3)).toEqual(["peers", "sweeping", 'engine {"graceMs":5000}']);
  const others = ["authentication", "mcp", "memory", "model", "sandbox", "shared", "tasks"];
  expect(closed.slice(3).toSorted()).toEqual(others);
  const failed = ["engine", ...others].map((one) => `${one} failed.`);
  expect(stopped.errors.map(({ message }: Error) => message).toSorted()).toEqual(failed.toSorted());
  expect(closed.at(-1)).toBe("shared");
  // Tools and MCP servers have processes in the sandbox.
  expect(Math.max(closed.indexOf("tasks"), closed.indexOf("mcp"))).toBeLessThan(closed.indexOf("sandbox"));
});
