import { expect, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { RunEvent } from "manyhands/internal/core/runs/run";
import { workspaceKey } from "manyhands/internal/machine/workspace/open-workspace";
import { echo, startGateway, type TestFlow, type TestGateway } from "../../testing/gateway.ts";

const long = "word ".repeat(100);

/** A flow that asks an agent of the same home, whose run says what it was told and calls a tool. */
const asking: TestFlow = {
  runnable: { ...echo, name: "asking", kind: "asking" },
  async execute(run) {
    const askId = `${run.id}/1`;
    const message = { messageId: askId, parts: [{ type: "text", text: "Weigh the parcel" }] } as const;
    const ask = { askId, agent: "helper" };
    run.emit({ type: "agent-asked", ...ask, url: "http://127.0.0.1:1", text: "Weigh", parts: message.parts, hops: 1 });
    run.emit({ type: "agent-accepted", ...ask, taskId: taskOf(run.id), contextId: "weighing" });
    run.emit({ type: "agent-answered", ...ask, state: "completed", files: [] });
    return { answer: "" };
  },
};

const helper: TestFlow = {
  runnable: { ...echo, type: "agent", name: "helper", kind: "agent:helper", ownKind: "helper" },
  execute: async () => ({ answer: "" }),
};

/** The id of the task that stands for the agent's. */
const taskOf = (id: string) => `f${id.slice(1)}`;

async function start(gateway: TestGateway, name: string, body: object, token?: string): Promise<string> {
  const headers = {
    "Content-Type": "application/json",
    Prefer: "wait=20",
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
  };
  const response = await fetch(`${gateway.url}/flows/${name}`, { method: "POST", headers, body: JSON.stringify(body) });
  return (JSON.parse(await response.text()) as { id: string }).id;
}

/** Starts the flow and the agent's run beside it. */
async function family(gateway: TestGateway) {
  const id = await start(gateway, "asking", { input: "Ship it", budget: { usd: 2 } });
  const said: RunEvent[] = [
    { type: "message-received", messageId: `${id}/1`, parts: [{ type: "text", text: "Weigh the parcel" }] },
    { type: "tool-started", callId: "c", name: "bash", arguments: '{"command":"weigh"}' },
    { type: "tool-ended", callId: "c", name: "bash", text: `${long}1.2 kg`, isError: false, milliseconds: 5 },
  ];
  const { run } = await gateway.engine.start({
    id: taskOf(id),
    kind: "helper",
    principal: "local",
    contextId: "weighing",
    input: { message: { messageId: `${id}/1`, parts: [] }, hops: 1 },
    dedupe: { key: JSON.stringify(["helper", "local", `${id}/1`]), hash: "" },
    canceled: true,
    events: said,
  });
  return { id, task: run.id };
}

type Frame = {
  readonly runId?: string;
  readonly seq?: number;
  readonly cut?: true;
  readonly event?: { readonly type: string; readonly text?: string };
  readonly asked?: { readonly id: string; readonly name: string; readonly place: string };
};

async function tree({ url }: TestGateway, id: string, query = ""): Promise<Frame[]> {
  const text = await (await fetch(`${url}/runs/${id}/tree${query}`)).text();
  return text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6))] : []));
}

test("a run's tree has the events of the runs it asked for, and goes on after what the reader has", async () => {
  await using gateway = await startGateway({ flows: [asking, helper] });
  const { id, task } = await family(gateway);
  const frames = await tree(gateway, id, "?texts=100");
  expect(frames.filter(({ asked }) => asked)).toMatchObject([
    { asked: { runId: id, id: task, name: "helper", place: "here" } },
  ]);
  const typesOf = (run: string) => frames.flatMap(({ runId, event }) => (runId === run ? [event?.type] : []));
  expect(typesOf(id).at(-1)).toBe("run-ended");
  expect(typesOf(task)).toEqual(["message-received", "tool-started", "tool-ended", "run-ended"]);
  const ended = frames.find(({ event }) => event?.type === "tool-ended");
  expect(ended).toMatchObject({ cut: true, event: { text: `${long.slice(0, 100)}…` } });
  const rest = await tree(gateway, id, `?after=${id}:${typesOf(id).length},${task}:3`);
  expect(rest.slice(1).map(({ runId, seq }) => [runId, seq])).toEqual([[task, 4]]);
  const whole = await fetch(`${gateway.url}/runs/${task}/events/3`);
  expect(await whole.json()).toMatchObject({ seq: 3, event: { type: "tool-ended", text: `${long}1.2 kg` } });
  expect((await fetch(`${gateway.url}/runs/${task}/events/9`)).status).toBe(404);
});

test("runs are found by what they and their agents say, by agent, by cost and by time; the list names agents and limits", async () => {
  await using gateway = await startGateway({ flows: [asking, helper] });
  const { id, task } = await family(gateway);
  const other = await start(gateway, "echo", { input: "Nothing to weigh here" });
  const found = async (query: string) => {
    const page = (await (await fetch(`${gateway.url}/runs?${query}`)).json()) as { runs: { id: string }[] };
    return page.runs.map((run) => run.id);
  };
  expect(await found("q=kg+1.2")).toEqual([id]);
  expect(await found("q=nothing")).toEqual([other]);
  expect(await found("q=messageId")).toEqual([]);
  expect(await found("agent=helper")).toEqual([id]);
  expect(await found("minUsd=0.01")).toEqual([]);
  expect(await found("minUsd=0&status=completed,failed")).toEqual([other, id]);
  expect(await found(`since=${new Date(Date.now() + 60_000).toISOString()}`)).toEqual([]);
  const { runs, total } = (await (await fetch(`${gateway.url}/runs?q=kg`)).json()) as {
    runs: { match: { text: string } }[];
    total?: number;
  };
  expect(total).toBeUndefined();
  expect(runs).toMatchObject([{ agents: ["helper"], budget: { usd: 2 }, match: { runId: task, seq: 3 } }]);
  expect(runs[0]?.match.text).toMatch(/^…word .*1\.2 kg$/);
  expect(await (await fetch(`${gateway.url}/runs?limit=1&count=1`)).json()).toMatchObject({ total: 1 });
});

test("a run is exported with those it asked for, one line each for a run and for an event", async () => {
  await using gateway = await startGateway({ flows: [asking, helper] });
  const { id, task } = await family(gateway);
  const response = await fetch(`${gateway.url}/runs/${id}/export`);
  expect(response.headers.get("content-disposition")).toContain(`run-${id}.jsonl`);
  const lines = (await response.text()).trim().split("\n");
  const read = lines.map((line) => JSON.parse(line) as { type: string; id?: string; runId?: string });
  expect(read.filter(({ type }) => type === "run").map((run) => run.id)).toEqual([id, task]);
  expect(read.filter(({ runId }) => runId === task)).toHaveLength(4);
});

test("a long run is exported with every event, in order", async () => {
  await using gateway = await startGateway();
  const events = Array.from(
    { length: 1_100 },
    (_, step): RunEvent => ({ type: "step-started", step, maxSteps: 2_000 }),
  );
  const about = { kind: echo.kind, principal: "local", contextId: "long", input: null };
  const { run } = await gateway.engine.start({ ...about, events, canceled: true });
  const lines = (await (await fetch(`${gateway.url}/runs/${run.id}/export`)).text()).trim().split("\n");
  const [, ...numbers] = lines.map((line) => (JSON.parse(line) as { seq?: number }).seq);
  expect(numbers).toEqual(Array.from({ length: 1_101 }, (_, at) => at + 1));
});

test("files of a workspace are listed and read as they are now, and no path leads out of it", async () => {
  await using gateway = await startGateway({ flows: [asking, helper] });
  const { id, task } = await family(gateway);
  const files = join(gateway.home, "workspaces", workspaceKey("helper/local", "weighing"), "files");
  await mkdir(join(files, "src"), { recursive: true });
  await Bun.write(join(files, "src", "page.html"), "<script>1</script>");
  const listed = await (await fetch(`${gateway.url}/runs/${id}/files`)).json();
  expect(listed).toMatchObject({
    files: [{ runId: task, agent: "helper", path: "src/page.html", size: 18 }],
    complete: true,
  });
  const file = await fetch(`${gateway.url}/runs/${task}/file?path=src/page.html`);
  expect(await file.text()).toBe("<script>1</script>");
  expect(file.headers.get("content-type")).toBe("application/octet-stream");
  expect(file.headers.get("content-security-policy")).toContain("sandbox");
  expect([file.headers.get("content-disposition"), file.headers.get("x-content-type-options")]).toEqual([
    ...["attachment", "nosniff"],
  ]);
  for (const path of ["../meta/x", "/etc/passwd", "none"])
    expect([403, 404]).toContain((await fetch(`${gateway.url}/runs/${task}/file?path=${path}`)).status);
});

test("agents whose conversations have the same id have a workspace each, and the files of all are listed", async () => {
  const packer: TestFlow = {
    runnable: { ...echo, type: "agent", name: "packer", kind: "agent:packer", ownKind: "packer" },
    execute: async () => ({ answer: "" }),
  };
  await using gateway = await startGateway({ flows: [helper, packer] });
  const about = { principal: "local", contextId: "same", input: null, canceled: true };
  const { run: packing } = await gateway.engine.start({ ...about, kind: "packer" });
  const accepted: RunEvent = {
    ...{ type: "agent-accepted", askId: "a", agent: "packer" },
    ...{ taskId: packing.id, contextId: "same" },
  };
  const { run } = await gateway.engine.start({ ...about, kind: "helper", events: [accepted] });
  for (const agent of ["helper", "packer"]) {
    const files = join(gateway.home, "workspaces", workspaceKey(`${agent}/local`, "same"), "files");
    await mkdir(files, { recursive: true });
    await Bun.write(join(files, `${agent}.txt`), "");
  }
  const listed = (await (await fetch(`${gateway.url}/runs/${run.id}/files`)).json()) as {
    files: readonly { runId: string; path: string }[];
  };
  expect(listed.files.map(({ runId, path }) => [runId, path])).toEqual([
    [run.id, "helper.txt"],
    [packing.id, "packer.txt"],
  ]);
});

test("a run is started again with its files, options and limits, or with another text", async () => {
  await using gateway = await startGateway();
  const file = { name: "a.txt", bytes: Buffer.from("hello").toString("base64") };
  const id = await start(gateway, "echo", {
    ...{ input: { text: "once", files: [file] }, budget: { usd: 1 }, agents: ["helper"] },
    outputSchema: { type: "object" },
  });
  const again = async (body: object, key: string = crypto.randomUUID()) => {
    const headers = { "Content-Type": "application/json", "Idempotency-Key": key };
    const response = await fetch(`${gateway.url}/runs/${id}/rerun`, {
      ...{ method: "POST", headers, body: JSON.stringify(body) },
    });
    expect(response.status).toBe(202);
    return (await response.json()) as { id: string; input: string; contextId: string };
  };
  const same = await again({});
  expect(same).toMatchObject({ name: "echo", input: "once", budget: { usd: 1 } });
  expect(same.id).not.toBe(id);
  expect((await gateway.engine.get(same.id))?.input).toMatchObject({
    message: { metadata: { "manyhands/flow": { agents: ["helper"] } } },
    outputSchema: { type: "object" },
  });
  expect((await again({}, "key")).id).toBe((await again({}, "key")).id);
  const other = await again({ text: "twice" });
  expect(other.input).toBe("twice");
  const received = await gateway.engine.events(other.id, 0, 1);
  expect(received[0]?.event).toMatchObject({ parts: [{ text: "twice" }, { type: "file", name: "a.txt", size: 5 }] });
});

test("another principal's runs have no tree, events, export, files and no second start", async () => {
  await using gateway = await startGateway({ token: "t", flows: [asking] });
  const id = await start(gateway, "echo", { input: "mine" }, "t-ann");
  const headers = { Authorization: "Bearer t-bob", "Content-Type": "application/json" };
  for (const path of ["tree", "events/1", "export", "files", "file?path=a"])
    expect((await fetch(`${gateway.url}/runs/${id}/${path}`, { headers })).status).toBe(404);
  const rerun = await fetch(`${gateway.url}/runs/${id}/rerun`, { method: "POST", headers, body: "{}" });
  expect(rerun.status).toBe(404);
  const found = await fetch(`${gateway.url}/runs?q=mine`, { headers });
  expect(await found.json()).toMatchObject({ runs: [] });
});
