import { expect, spyOn, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "manyhands/internal/config/config";
import * as serving from "manyhands/internal/http/serve";
import { guardedFiles } from "manyhands/internal/machine/sandbox/guarded-names";
import * as workspaces from "manyhands/internal/machine/workspace/read-workspace";
import * as deletions from "manyhands/internal/runs/deletions";
import * as access from "manyhands/internal/server/access";
import * as remote from "manyhands/internal/server/protocols/open-grpc";
import * as webhooks from "manyhands/internal/server/protocols/open-webhooks";
import * as running from "manyhands/internal/server/run-server";
import * as engines from "manyhands/internal/server/storage/open-engine";
import * as sharing from "manyhands/internal/server/storage/open-shared";
import * as agents from "../flows/agents-of-registry.ts";
import * as starts from "../starts/open-starts.ts";
import * as apps from "./gateway-app.ts";
import * as works from "./gateway-engine.ts";
import * as memories from "./open-gateway-memory.ts";
import * as registries from "./open-gateway-registry.ts";
import * as settings from "./open-settings.ts";
import { serveGateway } from "./serve-gateway.ts";

/** Has what a function of a module resolves with say that it is closed, and fail then. */
function noting<Module extends object, Name extends keyof Module>(module: Module, name: Name, closed: string[]) {
  const open = module[name] as (...given: unknown[]) => unknown;
  const ending = async (...given: unknown[]) => {
    const made = (await open(...given)) as { close(...given: unknown[]): Promise<void> };
    const close = async (...how: unknown[]) => {
      closed.push(`${String(name)} ${how.map((one) => JSON.stringify(one)).join()}`.trim());
      await made.close(...how);
      throw new Error(`${String(name)} failed`);
    };
    return { ...made, close };
  };
  return spyOn(module, name as never).mockImplementation(ending as never) as unknown as Disposable;
}

/** The sentences of all failures that an error is made of. */
function failuresIn(error: unknown): string[] {
  return error instanceof AggregateError ? error.errors.flatMap(failuresIn) : [(error as Error).message];
}

const warned: string[] = [];
const silent = { info: () => undefined, warn: (text: string) => void warned.push(text), error: () => undefined };

test("what a gateway is made of knows what it has to, and is closed again, all of it whatever fails, the runs first and what they share last", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-parts-"));
  const config = await loadConfig({
    cwd: home,
    env: {
      ...{ MANYHANDS_HOME: home, MANYHANDS_TOKEN: "own-token", PORT: "0", PUBLIC_URL: "https://team.example" },
      ...{ MANYHANDS_AUTH_OIDC_ISSUER: "https://id.example", MANYHANDS_AUTH_OIDC_CLIENT_ID: "console" },
      MANYHANDS_AUTH_OIDC_SESSION_HOURS: "3",
      ...Object.fromEntries(
        ["MANUS", "SWE", "BROWSER", "DATA_ANALYSIS"].map((one) => [`${one}_URL`, "http://127.0.0.1:9"]),
      ),
    },
  });
  const closed: string[] = [];
  using _1 = noting(engines, "openEngine", closed);
  using _2 = noting(sharing, "openShared", closed);
  using _3 = noting(access, "openAuthentication", closed);
  using _4 = noting(registries, "openGatewayRegistry", closed);
  const opening = memories.openGatewayMemory;
  using _5 = spyOn(memories, "openGatewayMemory").mockImplementation((...given) => ({
    ...opening(...given),
    async close() {
      closed.push("openGatewayMemory");
      throw new Error("openGatewayMemory failed");
    },
  }));
  const stopping = starts.openStarts;
  using started = spyOn(starts, "openStarts").mockImplementation((...given) => ({
    ...stopping(...given),
    start: () => () => void closed.push("openStarts"),
  }));
  const guard = () => undefined;
  using _8 = spyOn(access, "openLocalUsers").mockResolvedValue({ guard, note: "Who connects cannot be told." });
  using called = spyOn(remote, "openGrpc");
  using app = spyOn(apps, "gatewayApp");
  using deleting = spyOn(deletions, "createDeletions");
  using read = spyOn(workspaces, "createReadWorkspaces");
  using sent = spyOn(webhooks, "openWebhooks");
  using listed = spyOn(agents, "agentsOfRegistry");
  using worked = spyOn(works, "workOn");
  const { openSettings } = settings;
  using set = spyOn(settings, "openSettings").mockImplementation((...given) => {
    const opened = openSettings(...given);
    const close = () => opened.mcp.close().then(() => Promise.reject(new Error("mcp failed")));
    return { ...opened, mcp: { ...opened.mcp, close } };
  });
  using served = spyOn(serving, "serve");
  using _6 = spyOn(process.stdout, "write").mockReturnValue(true);
  let ready: Promise<void> | undefined;
  using _7 = spyOn(running, "runServer").mockImplementation(async (_, start) => {
    ready = start(config, silent as never, { name: "gateway", mcpStdio: false });
  });
  await serveGateway();
  await ready;

  const [triggers, about] = started.mock.calls[0] ?? [];
  expect([triggers, about?.publicUrl, about?.tokens === undefined]).toEqual([
    config.triggers,
    "https://team.example",
    false,
  ]);
  about?.webhooks(["hook.example"]);
  expect(sent.mock.calls.at(-1)).toEqual([config, ["hook.example"]]);
  expect(sent.mock.calls.every(([given]) => given === config)).toBe(true);
  expect(read.mock.calls).toEqual([[home, guardedFiles]]);
  const [given] = app.mock.calls[0] ?? [];
  expect([given?.elsewhere, given?.reachAgent].map((one) => typeof one)).toEqual(["function", "function"]);
  expect(given?.signIn?.sessionMs).toBe(3 * 3_600_000);
  expect([given?.runs === about?.runs, given?.engine === about?.engine]).toEqual([true, true]);
  const kinds = deleting.mock.calls[0]?.[0].kinds?.();
  expect(kinds).toEqual(expect.arrayContaining(["planning", "agent:swe", "swe"]));
  // Of the flows and the agents each is reached where people outside reach it.
  const places = worked.mock.calls.map(([flow, url]) => [flow.name.replace("agent:", ""), url]);
  expect(places).toContainEqual(["planning", "https://team.example/a2a/planning"]);
  expect(places).toContainEqual(["swe", "https://team.example/a2a/swe"]);
  expect(Array.from(listed.mock.calls[0]?.[1] ?? [], ({ name }) => name)).toContain("planning");
  expect(listed.mock.calls[0]?.[2]).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(set.mock.calls[0]?.[0]).toMatchObject({ cwd: process.cwd(), env: process.env, config });

  // Whoever may not connect may do so by neither port, and where that cannot be told it is said.
  expect([called.mock.calls[0]?.[1].guard, served.mock.calls[0]?.[1].guard]).toEqual([guard, guard]);
  expect(warned).toContain("Who connects cannot be told.");

  const [listening] = served.mock.results;
  if (listening?.type !== "return") throw new Error("It does not listen.");
  const failed = ["openEngine", "mcp", "openGatewayRegistry", "openGatewayMemory", "openAuthentication", "openShared"];
  const stopped = await listening.value.stop().catch((error: unknown) => error);
  expect(failuresIn(stopped)).toEqual(failed.map((one) => `${one} failed`));
  expect(closed).toEqual([
    ...["openStarts", 'openEngine {"graceMs":5000}', "openGatewayRegistry", "openGatewayMemory"],
    ...["openAuthentication", "openShared"],
  ]);
  await rm(home, { recursive: true });
});
