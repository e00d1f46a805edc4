import { expect, test } from "bun:test";
import { callerNamed, principalHeader } from "manyhands/internal/core/caller";
import { AppError } from "manyhands/internal/core/errors";
import { askPerson } from "manyhands/internal/core/tools/question";
import { echo, startGateway, type TestFlow } from "../../testing/gateway.ts";
import type { ReachAgent } from "./live-routes.ts";

/** Asks an agent for `task-1`, and waits. */
const asking: TestFlow = {
  runnable: { ...echo, name: "asking", kind: "asking" },
  async execute(run) {
    const ask = { askId: `${run.id}/1`, agent: "manus" };
    run.emit({ type: "agent-asked", ...ask, url: "http://manus", text: "x", parts: [], hops: 1 });
    run.emit({ type: "agent-accepted", ...ask, taskId: "task-1", contextId: "c" });
    await askPerson(run, { question: "Go on?", kind: "question" });
    return {};
  },
};

/** Asks for the task that its own task names. */
const outer: TestFlow = {
  runnable: { ...echo, name: "outer", kind: "outer" },
  async execute(run, input) {
    const { message } = input as unknown as { message: { parts: readonly [{ text: string }] } };
    const ask = { askId: `${run.id}/1`, agent: "asking" };
    run.emit({ type: "agent-asked", ...ask, url: "http://asking", text: "x", parts: [], hops: 1 });
    run.emit({ type: "agent-accepted", ...ask, taskId: message.parts[0].text, contextId: "c" });
    await askPerson(run, { question: "Go on?", kind: "question" });
    return {};
  },
};

type Sent = { readonly url: string; readonly method: string; readonly body: string; readonly principal: string };

/** A gateway of two people, one of whom also has a token that only reads; their agents answer. */
async function startWithAgents() {
  const sent: Sent[] = [];
  let reads = 0;
  const reachAgent: ReachAgent = ({ url = "http://own" }, principal) => ({
    url,
    async fetch(input, init = {}) {
      sent.push({ url: String(input), method: init.method ?? "GET", body: String(init.body ?? ""), principal });
      if (init.method === "POST") return Response.json({ done: true });
      return new Response('data: {"page":"open","held":false}\n\n');
    },
  });
  const gateway = await startGateway({
    flows: [asking, outer],
    engine: (real) => ({
      ...real,
      events(...which) {
        reads++;
        return real.events(...which);
      },
    }),
    app: {
      reachAgent,
      identify({ headers }) {
        const [, name = "", scope] = /^Bearer (\w+?)(-reads)?$/.exec(headers.get("Authorization") ?? "") ?? [];
        if (name === "") throw new AppError("unauthorized", "Send a token.");
        return callerNamed(name, scope === undefined ? ["run", "read"] : ["read"]);
      },
    },
  });
  const call = (path: string, token: string, init: RequestInit = {}) => {
    const given = Object.fromEntries(new Headers(init.headers));
    const headers = { "Content-Type": "application/json", Authorization: `Bearer ${token}`, ...given };
    return fetch(`${gateway.url}${path}`, { ...init, headers });
  };
  const started = await call("/flows/asking", "ann", { method: "POST", body: JSON.stringify({ input: "x" }) });
  const { id } = (await started.json()) as { id: string };
  while ((await gateway.engine.get(id))?.status !== "waiting") await Bun.sleep(20);
  return { gateway, call, id, sent, reads: () => reads };
}

const order = (body: object) => ({ method: "POST", body: JSON.stringify(body) });
const typing = order({ do: "input", inputs: [{ type: "text", text: "pass" }] });

test("the page of a task that a run asked for is shown and used at its agent, in the name of the run's principal", async () => {
  const { gateway, call, id, sent } = await startWithAgents();
  await using _ = gateway;
  const seen = await call(`/runs/${id}/live?task=task-1`, "ann-reads");
  expect([seen.status, seen.headers.get("Content-Type")]).toEqual([200, "text/event-stream"]);
  expect(await seen.text()).toContain('"page":"open"');
  expect((await call(`/runs/${id}/live?task=task-1`, "ann", typing)).status).toBe(200);
  expect(sent.map(({ method, url, principal }) => [method, url, principal])).toEqual([
    ["GET", "http://manus/live/task-1", "ann"],
    ["POST", "http://manus/live/task-1", "ann"],
  ]);
});

test("another principal, a token that only reads, a link, another site and a form get nothing shown and nothing done", async () => {
  const { gateway, call, id, sent } = await startWithAgents();
  await using _ = gateway;
  const place = `/runs/${id}/live?task=task-1`;
  const share = (await (await call(`/runs/${id}/shares`, "ann", order({ lifeMs: 3_600_000 }))).json()) as {
    secret?: string;
  };
  const secret = JSON.stringify(share).match(/mhs_[\w-]+/)?.[0] ?? "";
  expect(secret).not.toBe("");
  expect((await call(`/shared/runs/${id}`, secret)).status).toBe(200);
  const attempts: [string, string, RequestInit?][] = [
    [place, "bob"],
    [place, "bob", typing],
    [place, "bob", { headers: { [principalHeader]: "ann" } }],
    [place, "ann-reads", typing],
    [place, "ann-reads", order({ do: "take" })],
    [place, ""],
    [place, secret],
    [`/shared${place}`, secret],
    [`/shared${place}`, secret, typing],
    [place, "ann", { ...typing, headers: { Origin: "http://evil.example" } }],
    [place, "ann", { ...typing, headers: { "Content-Type": "text/plain" } }],
    [`/runs/${id}/live?task=task-2`, "ann"],
    [`/runs/${id}/live?task=..%2Ftask-1`, "ann", typing],
    [place, "ann", order({ do: "input", inputs: [{ type: "key", key: "javascript:alert(1)" }] })],
  ];
  for (const [path, token, init] of attempts) {
    const { status } = await call(path, token, init);
    expect([path, token, status >= 400 && status < 500]).toEqual([path, token, true]);
  }
  expect(sent).toEqual([]);
});

test("the page or desktop of an agent that an asked agent asked is shown and used from the run that began it", async () => {
  const { gateway, call, id, sent } = await startWithAgents();
  await using _ = gateway;
  const started = await call("/flows/outer", "ann", { method: "POST", body: JSON.stringify({ input: id }) });
  const { id: root } = (await started.json()) as { id: string };
  while ((await gateway.engine.get(root))?.status !== "waiting") await Bun.sleep(20);
  for (const [query, place] of [
    ["task=task-1", "http://manus/live/task-1"],
    ["task=task-1&screen=desktop", "http://manus/live/task-1?screen=desktop"],
  ]) {
    expect((await call(`/runs/${root}/live?${query}`, "ann")).status).toBe(200);
    expect((await call(`/runs/${root}/live?${query}`, "ann", typing)).status).toBe(200);
    expect(sent.slice(-2)).toMatchObject([
      { url: place, method: "GET", principal: "ann" },
      { url: place, method: "POST", principal: "ann" },
    ]);
  }
  expect((await call(`/runs/${root}/live?task=task-1&screen=phone`, "ann")).status).toBe(400);
  expect((await call(`/runs/${root}/live?task=task-2`, "ann")).status).toBe(404);
});

test("what a person does to a page reads the journals once, however often they act", async () => {
  const { gateway, call, id, sent, reads } = await startWithAgents();
  await using _ = gateway;
  const act = () => call(`/runs/${id}/live?task=task-1`, "ann", typing);
  expect((await act()).status).toBe(200);
  const before = reads();
  expect(before).toBeGreaterThan(0);
  for (let again = 0; again < 3; again++) expect((await act()).status).toBe(200);
  expect([reads(), sent.length]).toEqual([before, 4]);
});
