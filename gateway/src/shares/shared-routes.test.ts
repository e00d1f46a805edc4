import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Engine } from "manyhands/internal/core/runs/engine";
import type { RunEvent } from "manyhands/internal/core/runs/run";
import { echo, startGateway, type TestFlow, type TestGateway } from "../testing/gateway.ts";

/** A flow whose run asked an agent of the same home for something. */
const asking: TestFlow = {
  runnable: { ...echo, name: "asking", kind: "asking" },
  async execute(run) {
    const ask = { askId: `${run.id}/1`, agent: "helper" };
    run.emit({ type: "agent-asked", ...ask, url: "http://127.0.0.1:1", text: "Weigh", parts: [], hops: 1 });
    run.emit({ type: "agent-accepted", ...ask, taskId: taskOf(run.id), contextId: "weighing" });
    run.emit({ type: "agent-answered", ...ask, state: "completed", files: [] });
    return { answer: "" };
  },
};
const helper: TestFlow = {
  runnable: { ...echo, type: "agent", name: "helper", kind: "agent:helper", ownKind: "helper" },
  execute: async () => ({ answer: "" }),
};
const taskOf = (id: string) => `f${id.slice(1)}`;
const ann = "Bearer t-ann";

let gateway: TestGateway;
/** How many events were read from journals. */
let read = 0;
beforeAll(async () => {
  const engine = (real: Engine): Engine => ({
    ...real,
    async events(...which) {
      const events = await real.events(...which);
      read += events.length;
      return events;
    },
  });
  gateway = await startGateway({ token: "t", flows: [asking, helper], engine });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const ask = (path: string, authorization: string, init: RequestInit = {}) =>
  fetch(`${gateway.url}${path}`, {
    ...init,
    headers: { Authorization: authorization, "Content-Type": "application/json", Prefer: "wait=20" },
  });
const post = async (path: string, authorization: string, body: object) => {
  const response = await ask(path, authorization, { method: "POST", body: JSON.stringify(body) });
  return (await response.json()) as { id: string; secret: string; url: string; expiresAt: string; status: number };
};

const fileOf = (text: string) => ({ name: "a.txt", bytes: Buffer.from(text).toString("base64") });
const hashOf = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex");

/** A run of ann's that asked an agent, and that agent's run. */
async function family(secretWord: string): Promise<{ id: string; task: string }> {
  const { id } = await post("/flows/asking", ann, { input: { text: "Ship it", files: [fileOf(secretWord)] } });
  const receipt = await gateway.artifacts.put(Buffer.from(`receipt of ${secretWord}`), { name: "b.txt" });
  const events: RunEvent[] = [
    { type: "message-received", messageId: `${id}/1`, parts: [{ type: "text", text: `Weigh ${secretWord}` }] },
    { type: "tool-started", callId: "c", name: "bash", arguments: "{}" },
    { type: "artifact-added", artifactId: "b", name: "b.txt", parts: [{ type: "file", ...receipt }] },
  ];
  await gateway.engine.start({
    ...{ id: taskOf(id), kind: "helper", principal: ann, contextId: "weighing", canceled: true, events },
    input: { message: { messageId: `${id}/1`, parts: [] }, hops: 1 },
    dedupe: { key: JSON.stringify(["helper", ann, `${id}/1`]), hash: "" },
  });
  return { id, task: taskOf(id) };
}

test("a link shows its run, those it asked for, their events and files, to anybody who has it", async () => {
  const { id, task } = await family("parcel");
  const { secret, url } = await post(`/runs/${id}/shares`, ann, {});
  expect(url).toBe(`${gateway.url}/#/shared/${secret}`);
  const reader = `Bearer ${secret}`;
  expect(await (await ask("/shared", reader)).json()).toMatchObject({ runId: id });
  expect(await (await ask(`/shared/runs/${id}`, reader)).json()).toMatchObject({ id, status: "completed" });
  const tree = await (await ask(`/shared/runs/${id}/tree`, reader)).text();
  expect(tree).toContain("Weigh parcel");
  expect(await (await ask(`/shared/runs/${id}/events`, reader)).text()).toContain("run-ended");
  expect(await (await ask(`/shared/runs/${task}/events/1`, reader)).json()).toMatchObject({ seq: 1 });
  const file = await ask(`/shared/artifacts/${hashOf("parcel")}/a.txt`, reader);
  expect([file.status, await file.text()]).toEqual([200, "parcel"]);
  const theirs = await ask(`/shared/artifacts/${hashOf("receipt of parcel")}/b.txt`, reader);
  expect([theirs.status, await theirs.text()]).toEqual([200, "receipt of parcel"]);
});

test("a link's file keeps its name, whatever is in it, and is sent again only to who does not have it", async () => {
  const { id } = await family("label");
  const { secret } = await post(`/runs/${id}/shares`, ann, {});
  const path = `/shared/artifacts/${hashOf("label")}/${encodeURIComponent("5/6? #1 é.txt")}`;
  const file = await ask(path, `Bearer ${secret}`);
  expect(file.headers.get("Content-Disposition")).toEndWith(encodeURIComponent("5/6? #1 é.txt"));
  const again = { Authorization: `Bearer ${secret}`, "If-None-Match": file.headers.get("ETag") ?? "" };
  expect((await fetch(`${gateway.url}${path}`, { headers: again })).status).toBe(304);
});

test("what a link shows again is found without reading journals again, and no longer if it was deleted", async () => {
  const { id, task } = await family("crate");
  const { secret } = await post(`/runs/${id}/shares`, ann, {});
  const paths = [`/shared/runs/${task}`, `/shared/artifacts/${hashOf("receipt of crate")}/b.txt`];
  const statuses = () => Promise.all(paths.map(async (path) => (await ask(path, `Bearer ${secret}`)).status));
  expect(await statuses()).toEqual([200, 200]);
  const before = read;
  for (let again = 0; again < 3; again++) expect(await statuses()).toEqual([200, 200]);
  expect(read).toBe(before);
  // The content stays, for a run that has it too.
  await family("receipt of crate");
  expect((await ask(`/runs/${task}`, ann, { method: "DELETE" })).ok).toBe(true);
  expect(await statuses()).toEqual([404, 404]);
});

test("a link reaches nothing else: no other run, file, workspace or list, and it does nothing", async () => {
  const { id } = await family("shared");
  const other = await family("hidden");
  const { secret } = await post(`/runs/${id}/shares`, ann, {});
  const reader = `Bearer ${secret}`;
  for (const path of ["", "/tree", "/events", "/events/1"])
    for (const run of [other.id, other.task])
      expect([path, (await ask(`/shared/runs/${run}${path}`, reader)).status]).toEqual([path, 404]);
  for (const text of ["hidden", "receipt of hidden"])
    expect([text, (await ask(`/shared/artifacts/${hashOf(text)}/a.txt`, reader)).status]).toEqual([text, 404]);
  for (const path of ["files", "file?path=a", "export", "shares", "rerun"])
    expect([path, (await ask(`/shared/runs/${id}/${path}`, reader)).status]).toEqual([path, 404]);
  // Everything that the gateway serves otherwise does not know the secret.
  const paths = ["/runs", `/runs/${id}`, `/runs/${id}/tree`, `/runs/${id}/export`, `/runs/${id}/files`, "/changes"];
  for (const path of [...paths, "/shares", "/usage", "/agents", "/flows", `/artifacts/${hashOf("shared")}/a.txt`])
    expect([path, (await ask(path, reader)).status]).toEqual([path, 401]);
  for (const path of [`/runs/${id}/answer`, `/runs/${id}/cancel`, `/runs/${id}/rerun`, `/runs/${id}/shares`, "/mcp"])
    expect([path, (await ask(path, reader, { method: "POST", body: "{}" })).status]).toEqual([path, 401]);
  for (const method of ["POST", "DELETE", "PUT"])
    expect([method, (await ask(`/shared/runs/${id}`, reader, { method })).status]).toEqual([method, 405]);
});

test("a place in a run of another family leads nowhere", async () => {
  const { id } = await family("mine");
  const other = await family("theirs");
  const { secret } = await post(`/runs/${id}/shares`, ann, {});
  const query = `after=${id}:1,${other.id}:99,${other.task}:1`;
  for (const [path, reader] of [
    [`/shared/runs/${id}/tree?${query}`, `Bearer ${secret}`],
    [`/runs/${id}/tree?${query}`, ann],
  ] as const) {
    const tree = await (await ask(path, reader)).text();
    expect(tree).toContain("Weigh mine");
    expect([tree.includes(other.task), tree.includes("theirs")]).toEqual([false, false]);
  }
});

test("a link is its owner's: another principal makes, lists and revokes none of it", async () => {
  const { id } = await family("own");
  const share = await post(`/runs/${id}/shares`, ann, { lifeMs: 60_000 });
  const bob = "Bearer t-bob";
  expect((await ask(`/runs/${id}/shares`, bob, { method: "POST", body: "{}" })).status).toBe(404);
  expect(await (await ask("/shares", bob)).json()).toEqual({ shares: [] });
  expect((await ask(`/shares/${share.id}`, bob, { method: "DELETE" })).status).toBe(404);
  const listed = await (await ask(`/shares?runId=${id}`, ann)).text();
  expect(JSON.parse(listed).shares).toMatchObject([{ id: share.id, runId: id, expiresAt: share.expiresAt }]);
  expect(listed).not.toContain(share.secret);
  const kept = await Bun.file(`${gateway.home}/shares.json`).text();
  expect(kept).toContain(share.id);
  expect(kept).not.toContain(share.secret);
});

test("a revoked link opens nothing, ends what it held open, and a deleted run takes its links along", async () => {
  const { id } = (await (
    await fetch(`${gateway.url}/flows/echo`, {
      ...{ method: "POST", body: JSON.stringify({ input: "ask me" }) },
      headers: { Authorization: ann, "Content-Type": "application/json" },
    })
  ).json()) as { id: string };
  const share = await post(`/runs/${id}/shares`, ann, {});
  const reader = `Bearer ${share.secret}`;
  const open = (await ask(`/shared/runs/${id}/events`, reader)).text();
  expect((await ask(`/shares/${share.id}`, ann, { method: "DELETE" })).status).toBe(204);
  expect((await ask(`/shared/runs/${id}`, reader)).status).toBe(401);
  expect(await open).not.toContain("run-ended");
  const second = await post(`/runs/${id}/shares`, ann, {});
  await ask(`/runs/${id}/cancel`, ann, { method: "POST" });
  expect((await ask(`/runs/${id}`, ann, { method: "DELETE" })).ok).toBe(true);
  for (const path of ["/shared", `/shared/runs/${id}`])
    expect((await ask(path, `Bearer ${second.secret}`)).status).toBe(404);
}, 30_000);
