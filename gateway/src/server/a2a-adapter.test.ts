import { expect, spyOn, test } from "bun:test";
import { Hono } from "hono";
import * as servers from "manyhands/internal/a2a/server/agent-app";
import { localCaller } from "manyhands/internal/core/caller";
import { errorCodes, publicError } from "manyhands/internal/core/errors";
import { createQuotas } from "manyhands/internal/runs/quotas";
import type { Runnable } from "manyhands/internal/runs/runnable";
import { echo } from "../testing/gateway.ts";
import { type A2aAdapterDeps, a2aAdapter } from "./a2a-adapter.ts";

const agent: Runnable = {
  ...echo,
  type: "agent",
  name: "far away",
  kind: "agent:far",
  title: "Far",
  description: "Is far.",
};

/** The adapter over runnables that a test may change, and how to read a card there. */
function adapterOver(runnables: Runnable[], more: Partial<A2aAdapterDeps> = {}) {
  const adapter = a2aAdapter({
    runnables: { all: () => runnables, ofKind: () => undefined },
    publicUrl: "https://team.example/base/",
    hostname: "0.0.0.0",
    heartbeatMs: 1_000,
    facts: () => ({ model: { name: "m", provider: "p" } }),
    identify: () => localCaller,
    quotas: createQuotas(undefined),
    report: (bug) => {
      throw bug;
    },
    ...more,
  } as A2aAdapterDeps);
  const app = new Hono();
  app.onError((error) => new Response(error.message, { status: errorCodes[publicError(error).code].status }));
  app.route("/", adapter.app);
  const cardAt = async (path: string, headers: Record<string, string> = {}) => {
    const response = await app.request(`http://inside${path}/.well-known/agent-card.json`, { headers });
    return response.ok ? ((await response.json()) as Record<string, unknown>) : response.status;
  };
  const textAt = async (path: string) => (await app.request(`http://inside${path}`)).text();
  return { adapter, cardAt, textAt };
}

const strict = { "A2A-Version": "1.0" };

test("each flow and agent has its card under its name, with its own address", async () => {
  const { cardAt } = adapterOver([echo, agent]);
  expect(await cardAt("/a2a/echo", strict)).toMatchObject({ name: "Echo", supportedInterfaces: expect.anything() });
  expect(JSON.stringify(await cardAt("/a2a/echo"))).toContain("https://team.example/base/a2a/echo");
  expect(await cardAt("/a2a/far%20away")).toMatchObject({ name: "Far" });
  expect([await cardAt("/a2a/nobody"), await cardAt("/a2a/%ff")]).toEqual([404, 404]);
  expect(JSON.stringify(await cardAt("/a2a/echo"))).toContain('"provider":"p"');
});

test("where a client looks for a card that was given an address without a slash at its end, it is told so", async () => {
  const { cardAt, textAt } = adapterOver([echo, agent]);
  expect(await cardAt("/a2a")).toBe(404);
  expect(await textAt("/a2a/.well-known/agent-card.json")).toContain("with a slash at its end: /a2a/NAME/");
});

test("the gateway's own address has the card of its first agent, or else of its first flow, or none", async () => {
  const second = { ...agent, name: "second", title: "Second" };
  expect(await adapterOver([echo, agent, second]).cardAt("")).toMatchObject({ name: "Far" });
  expect(await adapterOver([echo]).cardAt("")).toMatchObject({ name: "Echo" });
  expect(await adapterOver([]).cardAt("")).toBe(404);
});

test("a tenant is a flow or an agent by its name, the first one without, and no other", () => {
  const { adapter } = adapterOver([echo, agent]);
  expect(adapter.handlerOf("echo")).toBe(adapter.handlerOf("echo"));
  expect(adapter.handlerOf("")).toBe(adapter.handlerOf("far away"));
  expect(adapter.handlerOf("")).not.toBe(adapter.handlerOf("echo"));
  expect(() => adapter.handlerOf("nobody")).toThrow("nobody");
});

test("an agent that describes itself anew has a new card", async () => {
  const runnables = [agent];
  const { cardAt, adapter } = adapterOver(runnables);
  const before = adapter.handlerOf("far away");
  expect(await cardAt("/a2a/far%20away")).toMatchObject({ description: "Is far." });
  runnables[0] = { ...agent };
  expect(adapter.handlerOf("far away")).toBe(before);
  runnables[0] = { ...agent, description: "Is farther." };
  expect(await cardAt("/a2a/far%20away")).toMatchObject({ description: "Is farther." });
});

test("what the settings say of cards and extensions holds for each of them", async () => {
  const plain = adapterOver([echo]);
  const styled = adapterOver([echo], { cardStyle: "strict", a2a: { requiredExtensions: ["urn:needed:1"] } });
  expect(await plain.cardAt("/a2a/echo")).toHaveProperty("url");
  expect(await styled.cardAt("/a2a/echo")).not.toHaveProperty("url");
  const required = JSON.stringify(await styled.cardAt("/a2a/echo"));
  expect(required).toContain("urn:needed:1");
  expect(JSON.stringify(await plain.cardAt("/a2a/echo"))).not.toContain("urn:needed:1");
});

test("each of them is served with all that the gateway has for it, under its own address, whatever is told of it", () => {
  const deps = {
    ...{
      engine: {},
      artifacts: {},
      deletions: {},
      webhooks: {},
      quotas: createQuotas(undefined),
      report: () => undefined,
    },
    ...{ heartbeatMs: 4_321, cardStyle: "strict", cors: ["https://app.example"], identify: () => localCaller },
    a2a: { dedupeMs: 5, requiredExtensions: ["urn:needed:1"] },
    facts: () => ({ model: { name: "m", provider: "p" }, publicUrl: "https://evil.example" }),
  } as unknown as A2aAdapterDeps;
  using serving = spyOn(servers, "agentApp");
  const admit = (message: object) => ({ options: { of: message } }) as never;
  adapterOver([{ ...agent, admit }], deps).adapter.handlerOf("far away");
  const { facts: _, a2a, ...passed } = deps;
  expect(serving.mock.calls[0]?.[0]).toMatchObject({
    ...{ ...passed, ...a2a, kind: "agent:far", draft: "marked", hostname: "0.0.0.0" },
    facts: { model: { name: "m", provider: "p" }, publicUrl: "https://team.example/base/a2a/far away" },
  } as never);
  const message = { messageId: "m", parts: [] };
  expect(serving.mock.calls[0]?.[0].admit?.(message)).toEqual(admit(message));
  expect(serving.mock.calls[0]?.[0].definition).toMatchObject({ name: "far away", title: "Far" });
  for (const name of ["engine", "artifacts", "deletions", "webhooks", "quotas", "identify", "report"] as const)
    expect([name, serving.mock.calls[0]?.[0][name] === deps[name]]).toEqual([name, true]);
});
