import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { createDeliveries } from "manyhands/internal/a2a/push/deliveries";
import { pushKind } from "manyhands/internal/a2a/push/push-run";
import { createWebhooks } from "manyhands/internal/a2a/push/webhooks";
import { keyFiles, openHomeKeys } from "manyhands/internal/a2a/signing/home-keys";
import { startAgentServer } from "./agent-server.ts";
import { eventually, rpc, textMessage, type Wire, wire } from "./rpc.ts";
import { agentName } from "./scripted-agent.ts";
import { startReceiver } from "./webhook.ts";

const quick = { firstPauseMs: 5, longestPauseMs: 20, patienceMs: 200, keptMs: 60_000 };
const open = (...allow: string[]) => createWebhooks({ allow, deny: [], only: [] });

const stateOf = ({ body }: { readonly body: unknown }) =>
  (body as Wire).statusUpdate?.status.state as string | undefined;
const seqOf = ({ body }: { readonly body: unknown }) =>
  ((body as Wire).statusUpdate ?? (body as Wire).artifactUpdate).metadata["manyhands/seq"] as number;

async function send(url: string, text: string, receiver?: object, over: object = {}): Promise<Wire> {
  const configuration = { returnImmediately: true, ...(receiver && { taskPushNotificationConfig: receiver }) };
  const { body } = await rpc(url, "SendMessage", textMessage(text, over, configuration));
  return body.error ?? body.result.task;
}

test("a receiver sent with a message is notified of every event, once and in order, with its token and its credentials", async () => {
  await using hook = startReceiver();
  const agent = await startAgentServer({ webhooks: open(hook.host) });
  try {
    const authentication = { scheme: "Bearer", credentials: "hook-secret" };
    const task = await send(agent.url, "work 20", { url: hook.url, token: "t-1", authentication });
    await eventually(() => hook.received.map(stateOf).includes("TASK_STATE_COMPLETED") || undefined);
    const seqs = hook.received.map(seqOf);
    expect(seqs).toEqual(seqs.map((_, n) => (seqs[0] ?? 0) + n));
    expect(seqs.at(-1)).toBe((await agent.engine.get(task.id))?.lastEvent ?? 0);
    const told = hook.received[0]?.headers;
    expect(told?.get("X-A2A-Notification-Token")).toBe("t-1");
    expect(told?.get("Authorization")).toBe("Bearer hook-secret");
    expect(told?.get("A2A-Version")).toBe("1.0");
    expect(told?.get("Content-Type")).toBe("application/a2a+json");
    expect(hook.received.every(({ body }) => !JSON.stringify(body).includes("hook-secret"))).toBeTrue();
  } finally {
    await agent.stop();
  }
});

test("each notification is signed for its receiver and body, as its bearer token or beside its credentials", async () => {
  const home = await mkdtemp(join(tmpdir(), "push-keys-"));
  await using hook = startReceiver();
  const agent = await startAgentServer({ webhooks: open(hook.host), keys: await openHomeKeys(keyFiles(home)) });
  try {
    const authentication = { scheme: "Bearer", credentials: "hook-secret" };
    const basic = { scheme: "Basic", credentials: "aG9vazpzZWNyZXQ=" };
    await send(agent.url, "answer yes", { url: `${hook.url}/own`, authentication });
    await send(agent.url, "answer yes", { url: `${hook.url}/basic`, authentication: basic }, { messageId: "basic" });
    await send(agent.url, "answer yes", { url: `${hook.url}/free` }, { messageId: "free" });
    const last = (path: string) =>
      hook.received.filter((one) => one.path === path).find((one) => stateOf(one) === "TASK_STATE_COMPLETED");
    await eventually(() => (last("/hook/own") && last("/hook/basic") && last("/hook/free")) || undefined);
    const jwks = createRemoteJWKSet(new URL(`${agent.url}/.well-known/jwks.json`));
    for (const { path, headers, body } of hook.received) {
      const jwt = headers.get("X-A2A-Notification-Signature") ?? "";
      const own = { "/hook/own": "Bearer hook-secret", "/hook/basic": "Basic aG9vazpzZWNyZXQ=" }[path];
      expect(headers.get("Authorization")).toBe(own ?? `Bearer ${jwt}`);
      const audience = `http://${hook.host}${path}`;
      const { payload } = await jwtVerify(jwt, jwks, { issuer: agent.url, audience, maxTokenAge: "5m" });
      const sha256 = new Bun.CryptoHasher("sha256").update(JSON.stringify(body)).digest("hex");
      expect(payload).toMatchObject({ request_body_sha256: sha256, jti: expect.any(String), exp: expect.any(Number) });
    }
  } finally {
    await agent.stop();
    await rm(home, { recursive: true });
  }
});

test("receivers are created, read, listed, replaced and removed over JSON-RPC, HTTP+JSON and 0.3", async () => {
  await using hook = startReceiver();
  const agent = await startAgentServer({ webhooks: open(hook.host) });
  try {
    const card = await wire(fetch(`${agent.url}/.well-known/agent-card.json`));
    expect(card.capabilities.pushNotifications).toBeTrue();
    const asked = await rpc(agent.url, "SendMessage", textMessage("ask Really?"));
    const { id: taskId } = asked.body.result.task;
    const call = async (method: string, params: object) => (await rpc(agent.url, method, params)).body;
    expect((await call("ListTaskPushNotificationConfigs", { taskId })).result).toEqual({ configs: [] });
    const made = await call("CreateTaskPushNotificationConfig", { taskId, id: "mine", url: hook.url });
    expect(made.result).toMatchObject({ taskId, id: "mine", url: hook.url });
    expect((await call("GetTaskPushNotificationConfig", { taskId, id: "mine" })).result).toEqual(made.result);
    await call("CreateTaskPushNotificationConfig", { taskId, id: "mine", url: `${hook.url}/two` });
    const { configs } = (await call("ListTaskPushNotificationConfigs", { taskId })).result;
    expect(configs.map(({ url }: Wire) => url)).toEqual([`${hook.url}/two`]);

    const rest = `${agent.url}/tasks/${taskId}/pushNotificationConfigs`;
    const headers = { "A2A-Version": "1.0", "Content-Type": "application/json" };
    const body = JSON.stringify({ url: `${hook.url}/rest` });
    const created = await wire(fetch(rest, { method: "POST", headers, body }));
    expect(created).toEqual(await wire(fetch(rest, { method: "POST", headers, body })));
    expect((await wire(fetch(rest, { headers }))).configs).toHaveLength(2);
    const paged: Wire[] = [];
    for (let pageToken = ""; paged.length < 2; ) {
      const page = (await call("ListTaskPushNotificationConfigs", { taskId, pageSize: 1, pageToken })).result;
      const query = new URLSearchParams({ pageSize: "1", pageToken });
      expect(await wire(fetch(`${rest}?${query}`, { headers }))).toEqual(page);
      expect(page.configs).toHaveLength(1);
      paged.push(...page.configs);
      pageToken = page.nextPageToken ?? "";
      expect(pageToken === "").toBe(paged.length === 2);
    }
    expect(paged.map(({ url }) => url).toSorted()).toEqual([`${hook.url}/rest`, `${hook.url}/two`]);
    expect(await wire(fetch(`${rest}/${created.id}`, { headers }))).toEqual(created);
    expect((await fetch(`${rest}/${created.id}`, { method: "DELETE", headers })).status).toBe(200);
    expect((await fetch(`${rest}/${created.id}`, { method: "DELETE", headers })).status).toBe(200);
    expect((await fetch(`${rest}/${created.id}`, { headers })).status).toBe(404);

    const old = async (method: string, params: object) =>
      (await rpc(agent.url, `tasks/pushNotificationConfig/${method}`, params, { headers: { "A2A-Version": "0.3" } }))
        .body;
    await call("DeleteTaskPushNotificationConfig", { taskId, id: "mine" });
    await old("set", { taskId, pushNotificationConfig: { url: `${hook.url}/old`, token: "t" } });
    expect((await old("get", { id: taskId })).result.pushNotificationConfig.url).toBe(`${hook.url}/old`);
    expect((await old("list", { id: taskId })).result).toHaveLength(1);
    await send(agent.url, "yes", undefined, { taskId });
    await eventually(() => hook.received.find(({ body }) => (body as Wire).status?.state === "completed"));
    const ofOld = hook.received.filter(({ path }) => path === "/hook/old");
    expect(ofOld.map(({ body }) => (body as Wire).kind)).toEqual(ofOld.map(() => "task"));
    // The others were sent the task's state when they subscribed, and nothing after they were
    // removed.
    const ofOthers = hook.received
      .filter((one) => !ofOld.includes(one))
      .map(({ body }) => (body as Wire).task.status.state);
    expect(new Set(ofOthers)).toEqual(new Set(["TASK_STATE_INPUT_REQUIRED"]));
    const { pushNotificationConfig } = (await old("get", { id: taskId })).result;
    await old("delete", { id: taskId, pushNotificationConfigId: pushNotificationConfig.id });
    expect((await old("list", { id: taskId })).result).toEqual([]);
  } finally {
    await agent.stop();
  }
});

test("a task has at most ten receivers: each can be replaced or repeated, and removing one makes room", async () => {
  const agent = await startAgentServer({ webhooks: open() });
  try {
    const { id: taskId } = await send(agent.url, "ask Really?");
    const call = async (verb: string, params: object) =>
      (await rpc(agent.url, `${verb}TaskPushNotificationConfig`, { taskId, ...params })).body;
    const set = async (id: number, path = "hook") =>
      (await call("Create", { id: `${id}`, url: `https://example.com/${path}` })).error?.code;
    for (let id = 1; id <= 10; id++) expect(await set(id)).toBeUndefined();
    expect(await set(11)).toBe(-32602);
    expect([await set(10), await set(10, "moved")]).toEqual([undefined, undefined]);
    expect((await call("Get", { id: "10" })).result.url).toBe("https://example.com/moved");
    expect(await set(11)).toBe(-32602);
    await call("Delete", { id: "1" });
    expect(await set(11)).toBeUndefined();
  } finally {
    await agent.stop();
  }
});

test("a receiver added after the task's last event is sent the current state", async () => {
  await using hook = startReceiver();
  const agent = await startAgentServer({ webhooks: open(hook.host) });
  try {
    const { body } = await rpc(agent.url, "SendMessage", textMessage("answer yes"));
    const taskId = body.result.task.id;
    await rpc(agent.url, "CreateTaskPushNotificationConfig", { taskId, url: hook.url });
    const told = await eventually(() => hook.received[0]);
    expect((told.body as Wire).task).toMatchObject({ id: taskId, status: { state: "TASK_STATE_COMPLETED" } });
  } finally {
    await agent.stop();
  }
});

test("a receiver's run waits without a body while the task does, and tells what happens then, the task only once", async () => {
  await using hook = startReceiver();
  const agent = await startAgentServer({ webhooks: open(hook.host), pushBounds: { ...quick, quietMs: 20 } });
  const pushed = async (contextId: string) =>
    (await agent.engine.list({ kind: pushKind(agentName), contextId, limit: 1 })).runs[0];
  const parked = (contextId: string) =>
    eventually(async () => {
      const run = await pushed(contextId);
      return run?.status === "waiting" && run.waiting !== undefined ? run : undefined;
    });
  try {
    const task = await send(agent.url, "ask Blue?");
    await eventually(async () => (await agent.engine.get(task.id))?.waiting);
    await rpc(agent.url, "CreateTaskPushNotificationConfig", { taskId: task.id, url: hook.url });
    const before = await parked(task.id);
    await Bun.sleep(100);
    expect(await pushed(task.id)).toEqual(before);
    expect(hook.received).toHaveLength(1);
    await rpc(agent.url, "SendMessage", textMessage("yes", { taskId: task.id }));
    await eventually(() => hook.received.map(stateOf).includes("TASK_STATE_COMPLETED") || undefined);
    const { lastEvent = 0 } = (await agent.engine.get(task.id)) ?? {};
    const seqs = hook.received.slice(1).map(seqOf);
    expect(seqs).toEqual(seqs.map((_, n) => (seqs[0] ?? 0) + n));
    expect(seqs.at(-1)).toBe(lastEvent);
    expect(hook.received.filter(({ body }) => (body as Wire).task !== undefined)).toHaveLength(1);
  } finally {
    await agent.stop();
  }
});

test("a receiver that was down is notified in order when it is up again, even by the next process", async () => {
  await using hook = startReceiver();
  const home = await mkdtemp(join(tmpdir(), "push-"));
  hook.answer = () => new Response(null, { status: 503 });
  const options = { webhooks: open(hook.host), home, pushBounds: { ...quick, patienceMs: 60_000 } };
  let agent = await startAgentServer(options);
  try {
    const task = await send(agent.url, "work 5", { url: hook.url });
    await eventually(async () => ((await agent.engine.get(task.id))?.status === "completed" ? true : undefined));
    await agent.stop();
    let answers = 0;
    // It accepts some notifications and refuses others: a refused one is sent again before the
    // next.
    hook.answer = () => new Response(null, { status: ++answers % 3 === 0 ? 500 : 200 });
    agent = await startAgentServer(options);
    await eventually(() => hook.received.map(stateOf).includes("TASK_STATE_COMPLETED") || undefined);
    const { lastEvent = 0 } = (await agent.engine.get(task.id)) ?? {};
    expect(hook.received.map(seqOf)).toEqual(Array.from({ length: lastEvent - 1 }, (_, n) => n + 2));
  } finally {
    await agent.stop();
    await rm(home, { recursive: true });
  }
});

test("a receiver that refuses every second notification for longer than the patience still gets all of them", async () => {
  await using hook = startReceiver();
  let answers = 0;
  hook.answer = () => new Response(null, { status: ++answers % 2 === 0 ? 500 : 200 });
  const agent = await startAgentServer({ webhooks: open(hook.host), pushBounds: quick });
  try {
    const task = await send(agent.url, "work 30", { url: hook.url });
    await eventually(() => hook.received.map(stateOf).includes("TASK_STATE_COMPLETED") || undefined);
    const { lastEvent = 0 } = (await agent.engine.get(task.id)) ?? {};
    expect(hook.received.map(seqOf)).toEqual(Array.from({ length: lastEvent - 1 }, (_, n) => n + 2));
  } finally {
    await agent.stop();
  }
});

test("a receiver that asks for a later attempt is tried again, whatever status it uses", async () => {
  await using hook = startReceiver();
  const later = [408, 425, 429, 500, 503];
  hook.answer = () => new Response(null, { status: later.shift() ?? 204 });
  const agent = await startAgentServer({ webhooks: open(hook.host), pushBounds: { ...quick, patienceMs: 60_000 } });
  try {
    await send(agent.url, "answer yes", { url: hook.url });
    await eventually(() => hook.received.map(stateOf).includes("TASK_STATE_COMPLETED") || undefined);
    expect(later).toEqual([]);
  } finally {
    await agent.stop();
  }
});

test("a receiver that refuses permanently is given up at once, one that keeps failing later, and the task is unaffected", async () => {
  await using hook = startReceiver();
  const agent = await startAgentServer({ webhooks: open(hook.host), pushBounds: quick });
  const end = (taskId: string) =>
    eventually(async () => {
      const { runs } = await agent.engine.list({ kind: "scripted/push", contextId: taskId, limit: 1 });
      return runs[0]?.status === "failed" ? runs[0].error : undefined;
    });
  try {
    let asked = 0;
    hook.answer = () => {
      asked++;
      return new Response(null, { status: 410 });
    };
    const gone = await send(agent.url, "answer yes", { url: hook.url });
    expect(await end(gone.id)).toMatchObject({ code: "rejected", message: expect.stringContaining("410") });
    expect(asked).toBe(1);
    hook.answer = () => new Response(null, { status: 503 });
    const down = await send(agent.url, "answer yes", { url: hook.url });
    expect(await end(down.id)).toMatchObject({ code: "unavailable", message: expect.stringContaining("503") });
    const { body } = await rpc(agent.url, "GetTask", { id: down.id });
    expect(body.result.status.state).toBe("TASK_STATE_COMPLETED");
    expect(await (await fetch(`${agent.url}/metrics`)).text()).toContain(
      'manyhands_receivers{agent="scripted",status="failed"} 2',
    );
  } finally {
    await agent.stop();
  }
});

const inside = [
  "http://127.0.0.1:1/",
  "http://2130706433/",
  "http://0x7f.1/",
  "http://[::ffff:7f00:1]/",
  "http://[64:ff9b::7f00:1]/",
  "http://localhost./",
  "http://169.254.169.254/latest",
  "http://private.test/",
  "http://user@example.com/",
  "file:///etc/passwd",
];

test("a private address is refused when it is registered, and no task starts", async () => {
  const resolve = async () => ["10.0.0.7"];
  const agent = await startAgentServer({ webhooks: createWebhooks({ allow: [], deny: [], only: [] }, { resolve }) });
  try {
    const { id: taskId } = await send(agent.url, "ask Really?");
    for (const url of inside) {
      const { body } = await rpc(agent.url, "CreateTaskPushNotificationConfig", { taskId, url });
      expect([url, body.error?.code]).toEqual([url, -32602]);
      expect([url, (await send(agent.url, "answer yes", { url })).code]).toEqual([url, -32602]);
    }
    const { total } = await agent.engine.list({ limit: 1 });
    expect(total).toBe(1);
  } finally {
    await agent.stop();
  }
});

test("a name that resolves to a private address later is not connected to, and a redirect is not followed", async () => {
  await using hook = startReceiver();
  await using secret = startReceiver();
  let asked = 0;
  const rebinding = createWebhooks(
    { allow: [], deny: [], only: [] },
    { resolve: async () => [asked++ === 0 ? "93.184.216.34" : "127.0.0.1"] },
  );
  const agent = await startAgentServer({ webhooks: rebinding, pushBounds: quick });
  const other = await startAgentServer({ webhooks: open(hook.host), pushBounds: quick });
  const failed = (server: typeof agent, taskId: string) =>
    eventually(async () => {
      const { runs } = await server.engine.list({ kind: "scripted/push", contextId: taskId, limit: 1 });
      return runs[0]?.status === "failed" ? runs[0].error?.message : undefined;
    });
  try {
    const port = new URL(secret.url).port;
    const task = await send(agent.url, "answer yes", { url: `http://rebind.test:${port}/` });
    expect(await failed(agent, task.id)).toContain("not public");
    hook.answer = () => Response.redirect(secret.url, 307);
    const sent = await send(other.url, "answer yes", { url: hook.url });
    expect(await failed(other, sent.id)).toContain("HTTP status 307");
    expect(secret.received).toEqual([]);
  } finally {
    await Promise.all([agent.stop(), other.stop()]);
  }
});

test("the receivers of another caller's task cannot be seen, created or removed", async () => {
  const agent = await startAgentServer({ webhooks: open() });
  try {
    const { id: taskId } = await send(agent.url, "ask Really?");
    const url = "https://example.com/hook";
    const { body: own } = await rpc(agent.url, "CreateTaskPushNotificationConfig", { taskId, id: "mine", url });
    expect(own.error).toBeUndefined();
    for (const verb of ["Create", "Get", "Delete"] as const) {
      const params = { taskId, id: "mine", ...(verb === "Create" && { url }) };
      const { body } = await rpc(agent.url, `${verb}TaskPushNotificationConfig`, params, { user: "eve" });
      const missing = await rpc(agent.url, `${verb}TaskPushNotificationConfig`, { ...params, taskId: "none" });
      expect([verb, body.error.code]).toEqual([verb, -32001]);
      expect(body.error.message.replace(taskId, "none")).toBe(missing.body.error.message);
    }
    const { body } = await rpc(agent.url, "ListTaskPushNotificationConfigs", { taskId }, { user: "eve" });
    expect(body.error.code).toBe(-32001);
  } finally {
    await agent.stop();
  }
});

test("what was given up is listed with the reason, to its own principal alone, and sent again from where it stopped, once", async () => {
  await using hook = startReceiver();
  const agent = await startAgentServer({ webhooks: open(hook.host), pushBounds: quick });
  const deliveries = createDeliveries(agent.engine, () => [pushKind(agentName)]);
  const failed = () => deliveries.list("local", { all: false, limit: 10 });
  try {
    const asked = await send(agent.url, "ask Really?", { url: hook.url, token: "never-shown" });
    await eventually(() => hook.received.length > 0 || undefined);
    const before = hook.received.length;
    hook.answer = () => new Response(null, { status: 410 });
    await send(agent.url, "yes", undefined, { taskId: asked.id });
    const [lost] = await eventually(async () => ((await failed()).length > 0 ? failed() : undefined));
    expect(JSON.stringify(lost)).not.toContain("never-shown");
    expect(lost).toMatchObject({
      taskId: asked.id,
      url: hook.url,
      state: "failed",
      reason: expect.stringContaining("410"),
    });
    const id = lost?.id ?? "";
    expect(await deliveries.list("alice", { all: true, limit: 10 })).toEqual([]);
    for (const act of [deliveries.get, deliveries.retry])
      await expect(act(id, "alice")).rejects.toMatchObject({ code: "not_found" });
    hook.answer = undefined;
    const [one, other] = await Promise.all([deliveries.retry(id, "local"), deliveries.retry(id, "local")]);
    expect(one?.id).toBe(other?.id ?? "");
    await eventually(() => hook.received.map(stateOf).includes("TASK_STATE_COMPLETED") || undefined);
    const seqs = hook.received.slice(before).map(seqOf);
    expect(seqs).toEqual(seqs.map((_, n) => (lost?.after ?? -1) + 1 + n));
    await expect(deliveries.retry(one.id, "local")).rejects.toMatchObject({ code: "conflict" });
  } finally {
    await agent.stop();
  }
});
