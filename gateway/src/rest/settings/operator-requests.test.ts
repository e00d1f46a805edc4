import { expect, spyOn, test } from "bun:test";
import { callerNamed } from "manyhands/internal/core/caller";
import type { FlowSettings } from "../../settings/flow-settings.ts";
import type { McpSettings } from "../../settings/mcp-settings.ts";
import type { ModelSettings } from "../../settings/model-settings.ts";
import type { SandboxSettings } from "../../settings/sandbox-settings.ts";
import * as trials from "../../settings/try-model.ts";
import { noting, restForTest } from "../../testing/rest.ts";
import { flowSettingsRoutes } from "./flow-settings-routes.ts";
import { mcpServerRoutes } from "./mcp-server-routes.ts";
import { modelSettingsRoutes } from "./model-settings-routes.ts";
import { sandboxSettingsRoutes } from "./sandbox-settings-routes.ts";

const operator = callerNamed("ann");

test("an MCP server is looked at, approved and signed in to as it is named, by who asks, and only while they wait", async () => {
  const { asked, functions } = noting({
    ...{ list: [], add: undefined, remove: undefined, enable: undefined },
    ...{ inspect: { state: "ready" }, approve: 3, signIn: "https://id.example" },
  });
  const { ask } = restForTest(mcpServerRoutes(functions as unknown as McpSettings), operator);
  const gone = new AbortController();
  const entry = { command: "true" };
  const send = async (method: string, path: string, json?: object) => {
    const answer = await ask(method, `/settings/mcp-servers${path}`, { json, signal: gone.signal });
    const text = await answer.text();
    return [answer.status, text === "" ? undefined : JSON.parse(text), answer.headers.get("Cache-Control")];
  };
  expect(await send("POST", "", { name: "a", entry })).toEqual([201, { servers: [] }, "no-store"]);
  expect(await send("POST", "/a/enable", { enabled: false })).toEqual([200, { servers: [] }, "no-store"]);
  expect(await send("POST", "/a/test")).toEqual([200, { state: "ready" }, "no-store"]);
  expect(await send("POST", "/a/approve", { seen: "s" })).toEqual([200, { tools: 3 }, "no-store"]);
  expect(await send("POST", "/a/sign-in")).toEqual([202, { address: "https://id.example" }, "no-store"]);
  expect(await send("DELETE", "/a")).toEqual([204, undefined, "no-store"]);
  expect(asked).toEqual([
    ...[["add", "a", entry], ["list"], ["enable", "a", false], ["list"], ["inspect", "a", expect.any(AbortSignal)]],
    ...[
      ["approve", "a", "s", expect.any(AbortSignal)],
      ["signIn", "a", "ann"],
      ["remove", "a"],
    ],
  ] as never);
  gone.abort();
  for (const name of ["inspect", "approve"])
    expect(asked.find(([one]) => one === name)?.at(-1)).toMatchObject({ aborted: true });
});

test("a sandbox tier and a composed flow are tried as they are given, and only what is saved is saved", async () => {
  const sandbox = noting({ view: { tier: {} }, save: undefined, try: { works: true } });
  const flows = noting({ list: [], check: { unknownAgents: [] }, save: undefined, remove: undefined });
  const { ask } = restForTest(
    [
      ...sandboxSettingsRoutes(sandbox.functions as unknown as SandboxSettings),
      ...flowSettingsRoutes(flows.functions as unknown as FlowSettings),
    ],
    operator,
  );
  const json = { tier: "bwrap" };
  await ask("POST", "/settings/sandbox/test", { json });
  expect(sandbox.asked).toEqual([["try", "bwrap"]]);
  await ask("POST", "/settings/sandbox", { json });
  expect(sandbox.asked.slice(1)).toEqual([["save", "bwrap"], ["view"]]);
  const flow = { flow: "debate", agents: ["swe"], options: { rounds: 2 } };
  await ask("POST", "/settings/flows/mine/check", { json: flow });
  expect(flows.asked).toEqual([["check", "mine", flow]]);
  await ask("POST", "/settings/flows/mine", { json: flow });
  expect((await ask("DELETE", "/settings/flows/mine")).status).toBe(204);
  expect(flows.asked.slice(1)).toEqual([["save", "mine", flow], ["list"], ["remove", "mine"]]);
  for (const [path, body] of [
    ["sandbox", { tier: "docker" }],
    ["flows/mine", { flow: "" }],
    ["flows/mine", { flow: "debate", more: 1 }],
  ] as const)
    expect([path, (await ask("POST", `/settings/${path}`, { json: body })).status]).toEqual([path, 400]);
});

test("a model is tried as it is given, and only while somebody waits to hear of it", async () => {
  const candidate = { name: "m", baseUrl: "http://127.0.0.1:9/v1" };
  const { asked, functions } = noting({ candidate, save: undefined, view: {} });
  const { ask } = restForTest(modelSettingsRoutes(functions as unknown as ModelSettings), operator);
  const gone = new AbortController();
  using tried = spyOn(trials, "tryModel").mockResolvedValue({ ok: true } as never);
  const json = { model: "m", apiKey: null };
  const answer = await ask("POST", "/settings/model/test", { json, signal: gone.signal });
  expect([await answer.json(), asked]).toEqual([{ ok: true }, [["candidate", json]]] as never);
  const [[given, signal] = []] = tried.mock.calls;
  expect([given === (candidate as never), signal?.aborted]).toEqual([true, false]);
  gone.abort();
  expect(signal?.aborted).toBe(true);
});
