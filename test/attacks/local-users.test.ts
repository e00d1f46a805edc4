import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import { type ScriptedModel, startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { type GatewayServer, startGatewayServer } from "../servers/gateway-server.ts";
import { type AgentServer, startManus } from "../servers/manus-server.ts";

const secret = "long-enough";
/**
 * Only root can become another user; elsewhere `shared/src/server/access.test.ts` distinguishes
 * users by the kernel's report alone.
 */
const canBeAnother = process.platform === "linux" && process.getuid?.() === 0;

let folder: string;
let model: ScriptedModel;
let manus: AgentServer;
let gateway: GatewayServer;
let guarded: GatewayServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "manyhands-local-users-"));
  model = await startScriptedModel(() => ({ text: "Done." }));
  const ofModel = { OPENAI_BASE_URL: model.url, MANYHANDS_MODEL: "scripted" };
  manus = startManus({ ...ofModel, MANYHANDS_HOME: folder, PORT: `${freePort()}` });
  await manus.ready;
  const settings = { ...ofModel, MANUS_URL: manus.url };
  [gateway, guarded] = await Promise.all([
    startGatewayServer(join(folder, "open"), settings),
    startGatewayServer(join(folder, "guarded"), { ...settings, MANYHANDS_TOKEN: secret }),
  ]);
});

afterAll(async () => {
  await Promise.all([manus?.stop(), gateway?.stop(), guarded?.stop()]);
  await model?.close();
  await rm(folder, { recursive: true });
});

const another = ["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups", "--"];

/** The status and the body that curl gets when `who` executes it. */
async function curl(who: readonly string[], ...args: string[]): Promise<{ status: number; body: string }> {
  const child = Bun.spawn([...who, "curl", "-s", "-w", "\n%{http_code}", ...args], { stdout: "pipe" });
  const said = await new Response(child.stdout).text();
  await child.exited;
  const at = said.lastIndexOf("\n");
  return { status: Number(said.slice(at + 1)), body: said.slice(0, at) };
}

const message = (messageId: string) =>
  JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "SendMessage",
    params: { message: { messageId, role: "ROLE_USER", parts: [{ text: "Hello" }] } },
  });
const json = ["-H", "Content-Type: application/json"];

describe.skipIf(!canBeAnother)("another user of the machine", () => {
  test("reaches nothing of an agent or the gateway through any adapter at all", async () => {
    for (const path of ["/", "/tasks", "/mcp", "/artifacts/0000/x", "/.well-known/agent-card.json", "/metrics"]) {
      expect(await curl(another, `${manus.url}${path}`)).toMatchObject({ status: 401 });
    }
    for (const path of ["/", "/runs", "/agents", "/v1/models", "/mcp", "/a2a/manus/tasks", "/openapi.json"]) {
      expect(await curl(another, `${gateway.url}${path}`)).toMatchObject({ status: 401 });
    }
    const before = model.requests.length;
    expect(await curl(another, manus.url, ...json, "-d", message("m-stranger"))).toMatchObject({ status: 401 });
    const flow = await curl(another, `${gateway.url}/flows/manus`, ...json, "-d", '{"input": "Hello"}');
    expect(flow.status).toBe(401);
    expect(JSON.parse(flow.body)).toMatchObject({
      code: "unauthorized",
      detail: expect.stringContaining("MANYHANDS_TOKEN"),
    });
    expect(model.requests.length).toBe(before);
  });

  test("is not mistaken for root if it closes the connection before the server checks it", async () => {
    // Once its process has closed a socket, the kernel forgets the owner and reports root.
    const shell = `exec 3<>/dev/tcp/127.0.0.1/${new URL(gateway.url).port}; printf '%s' "$1" >&3; exec 3>&-`;
    const body = '{"input": "Hello"}';
    const request = `POST /flows/manus HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const marks = Array.from(
      { length: 100 },
      () => Bun.spawn([...another, "bash", "-c", shell, "bash", request]).exited,
    );
    await Promise.all(marks);
    const after = await curl(
      [],
      `${gateway.url}/flows/manus`,
      ...json,
      "-H",
      "Prefer: wait=30",
      "-d",
      '{"input": "mine"}',
    );
    expect(JSON.parse(after.body)).toMatchObject({ status: "completed" });
    expect((await gateway.call("/runs")).body.total).toBe(1);
  });

  test("is admitted with the token of a server that has one", async () => {
    expect(await curl(another, `${guarded.url}/runs`)).toMatchObject({ status: 401 });
    expect(await curl(another, `${guarded.url}/runs`, "-H", "Authorization: Bearer wrong")).toMatchObject({
      status: 401,
    });
    expect(await curl(another, `${guarded.url}/runs`, "-H", `Authorization: Bearer ${secret}`)).toMatchObject({
      status: 200,
    });
  });
});

test("the server's own user needs no token, on a first request and on later ones of the connection", async () => {
  const twice = await curl([], `${gateway.url}/runs`, `${gateway.url}/runs`);
  expect(twice.body).toContain('"runs"');
  expect(twice.status).toBe(200);
});
