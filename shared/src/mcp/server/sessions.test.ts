import { expect, spyOn, test } from "bun:test";
import { McpServer } from "@modelcontextprotocol/server";
import { createSessions, type Sessions, type SessionsDeps } from "./sessions.ts";

const most = 1_000;
const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const url = "http://127.0.0.1/mcp";

function open(more: Pick<SessionsDeps, "awayMs" | "idleMs"> = {}) {
  const bugs: unknown[] = [];
  const sessions = createSessions({
    ...more,
    serverFor: () =>
      new McpServer(
        { name: "t", version: "1" },
        { capabilities: { tools: { listChanged: true }, prompts: { listChanged: true } } },
      ),
    report: (bug) => void bugs.push(bug),
  });
  return { sessions, bugs };
}

/** Sends a message and returns the response unread. */
async function send(
  sessions: Sessions,
  message: object,
  more: Record<string, string> = {},
  principal = "ann",
): Promise<Response> {
  const body = { jsonrpc: "2.0", ...message };
  const request = new Request(url, { method: "POST", headers: { ...headers, ...more }, body: JSON.stringify(body) });
  const answer = await sessions.answer(request, body, principal);
  if (answer === undefined) throw new Error("It is nothing of a session.");
  return answer;
}

const version = "2025-11-25";
const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: "t", version: "1" } };
const begin = (sessions: Sessions, principal?: string) =>
  send(sessions, { id: 1, method: "initialize", params }, {}, principal);
const within = (begun: Response) => ({
  "mcp-session-id": begun.headers.get("mcp-session-id") ?? "",
  "mcp-protocol-version": version,
});
const ping = { id: 2, method: "ping" };

/** Starts as many sessions as allowed; each is busy until its answer is read. */
async function fill(sessions: Sessions): Promise<Response[]> {
  const begun: Response[] = [];
  while (begun.length < most) begun.push(await begin(sessions));
  return begun;
}

async function statusOf(sessions: Sessions, begun: Response): Promise<number> {
  const response = await send(sessions, ping, within(begun));
  await response.text();
  return response.status;
}

test("if all sessions are busy, one more is refused, and none of them ends for it", async () => {
  const { sessions, bugs } = open();
  const [first, ...others] = await fill(sessions);
  if (first === undefined) throw new Error("There is no session.");
  await expect(begin(sessions)).rejects.toMatchObject({ code: "rate_limited" });
  expect(sessions.size()).toBe(most);
  for (const busy of [first, ...others.slice(-1)]) expect(await statusOf(sessions, busy)).toBe(200);
  expect(bugs).toEqual([]);
});

test("one more replaces the session idle longest, not an older one in mid-call", async () => {
  const { sessions, bugs } = open();
  const [busy, used, rests, later] = await fill(sessions);
  if (!busy || !used || !rests || !later) throw new Error("There are too few sessions.");
  for (const read of [used, rests, later]) await read.text();
  expect(await statusOf(sessions, used)).toBe(200);
  await (await begin(sessions)).text();
  expect(sessions.size()).toBe(most);
  expect(await statusOf(sessions, rests)).toBe(404);
  for (const one of [busy, used, later]) expect(await statusOf(sessions, one)).toBe(200);
  expect(bugs).toEqual([]);
});

test("where one principal holds most sessions, theirs make room, and nobody else's", async () => {
  const { sessions, bugs } = open();
  const bobs = await begin(sessions, "bob");
  await bobs.text();
  const anns: Response[] = [];
  while (anns.length < most - 1) anns.push(await begin(sessions));
  for (const read of anns.slice(0, 1)) await read.text();
  for (const principal of ["ann", "cid"]) {
    const one = await begin(sessions, principal);
    await one.text();
  }
  const still = await send(sessions, ping, within(bobs), "bob");
  expect(still.status).toBe(200);
  await still.text();
  expect(bugs).toEqual([]);
});

test("a client that left in the middle is waited for 10 seconds, one that has read its answer an hour", async () => {
  for (const [leave, ms] of [
    [(begun: Response) => begun.text(), 60 * 60_000],
    [(begun: Response) => begun.body?.cancel(), 10_000],
  ] as const) {
    const { sessions } = open();
    const begun = await begin(sessions);
    using timers = spyOn(globalThis, "setTimeout");
    await leave(begun);
    expect(timers.mock.calls.map(([, delay]) => delay)).toContain(ms);
    expect(sessions.size()).toBe(1);
  }
});

test("a client that leaves a silent stream has left once, whatever the stream says of its end then", async () => {
  const { sessions } = open();
  const begun = await begin(sessions);
  await begun.text();
  const listening = await sessions.answer(
    new Request(url, { headers: { ...headers, ...within(begun) } }),
    undefined,
    "ann",
  );
  const reader = listening?.body?.getReader();
  const read = reader?.read();
  await Bun.sleep(0);
  using timers = spyOn(globalThis, "setTimeout");
  await reader?.cancel();
  await read;
  for (let n = 0; n < 5; n++) await Bun.sleep(0);
  const waits = timers.mock.calls.map(([, delay]) => delay).filter((ms) => ms === 10_000 || ms === 60 * 60_000);
  expect(waits).toEqual([10_000]);
});

test("a session ends once its client is away too long, not while one of its answers is being read", async () => {
  const { sessions, bugs } = open({ awayMs: 20, idleMs: 20 });
  const begun = await begin(sessions);
  expect(await statusOf(sessions, begun)).toBe(200);
  await Bun.sleep(60);
  expect(sessions.size()).toBe(1);
  await begun.text();
  for (const deadline = Date.now() + 30_000; sessions.size() > 0 && Date.now() < deadline; ) await Bun.sleep(5);
  expect(sessions.size()).toBe(0);
  expect(await statusOf(sessions, begun)).toBe(404);
  expect(bugs).toEqual([]);
});

test("a client that comes back in time keeps its session for as long as it is busy", async () => {
  const { sessions } = open({ awayMs: 30, idleMs: 30 });
  const begun = await begin(sessions);
  await begun.text();
  const answer = await send(sessions, ping, within(begun));
  await Bun.sleep(80);
  expect(sessions.size()).toBe(1);
  await answer.text();
});

test("a session is unknown to every other principal, and a request that does not start one needs none", async () => {
  const { sessions } = open();
  const begun = await begin(sessions, "ann");
  await begun.text();
  const foreign = await send(sessions, ping, within(begun), "bob");
  const none = await send(sessions, ping, { ...within(begun), "mcp-session-id": crypto.randomUUID() }, "bob");
  expect([foreign.status, await foreign.text()]).toEqual([none.status, await none.text()]);
  expect(foreign.status).toBe(404);
  expect(await statusOf(sessions, begun)).toBe(200);
  const request = new Request(url, { method: "POST", headers });
  expect(sessions.answer(request, { jsonrpc: "2.0", ...ping }, "ann")).toBeUndefined();
});

test("a message without an answer counts as one that was read", async () => {
  const { sessions } = open({ awayMs: 60_000, idleMs: 20 });
  const begun = await begin(sessions);
  await begun.text();
  const { status, body } = await send(sessions, { method: "notifications/initialized" }, within(begun));
  expect([status, body]).toEqual([202, null]);
  for (const deadline = Date.now() + 30_000; sessions.size() > 0 && Date.now() < deadline; ) await Bun.sleep(5);
  expect(sessions.size()).toBe(0);
});

test("every client that listens is told that the tools and the prompts changed", async () => {
  const { sessions, bugs } = open();
  const begun = await begin(sessions);
  await begun.text();
  const request = new Request(url, { headers: { ...headers, ...within(begun) } });
  const listening = await sessions.answer(request, undefined, "ann");
  sessions.listsChanged();
  const told: string[] = [];
  for await (const chunk of listening?.body ?? []) {
    told.push(new TextDecoder().decode(chunk));
    if (/tools\/list_changed[\s\S]*prompts\/list_changed/.test(told.join(""))) break;
  }
  expect(told.join("")).toContain("notifications/tools/list_changed");
  expect(bugs).toEqual([]);
});

test("each answer can be taken up again where a client lost it", async () => {
  const { sessions } = open();
  const begun = await begin(sessions);
  await begun.text();
  const text = await (await send(sessions, ping, within(begun))).text();
  const last = [...text.matchAll(/^id: (\S+)$/gm)].map(([, id]) => id);
  expect(last.length).toBeGreaterThan(0);
  const request = new Request(url, { headers: { ...headers, ...within(begun), "last-event-id": last[0] ?? "" } });
  const again = await sessions.answer(request, undefined, "ann");
  const reader = again?.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  expect(new TextDecoder().decode(value)).toContain('"id":2');
  await reader?.cancel();
});

test("a client whose stream broke opens another one in its session", async () => {
  const { sessions, bugs } = open();
  const begun = await begin(sessions);
  await begun.text();
  const request = () => new Request(url, { headers: { ...headers, ...within(begun) } });
  const first = await sessions.answer(request(), undefined, "ann");
  expect(first?.status).toBe(200);
  await first?.body?.cancel();
  const second = await sessions.answer(request(), undefined, "ann");
  expect(second?.status).toBe(200);
  await second?.body?.cancel();
  expect(bugs).toEqual([]);
});
