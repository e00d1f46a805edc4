import { expect, spyOn, test } from "bun:test";
import { AgentCard } from "@a2a-js/sdk";
import * as clients from "manyhands/internal/a2a/client/client";
import type { CardPolicy } from "manyhands/internal/a2a/signing/card-policy";
import { AppError } from "manyhands/internal/core/errors";
import { anyCard } from "manyhands/internal/testing/a2a/card";
import { serveCard } from "../testing/card-server.ts";
import { knownAgent } from "./known-agent.ts";

const live = AbortSignal.timeout(60_000);

/** An agent on a server of cards, with a breaker that opens at the first failure. */
function met(url: string, policy: CardPolicy = anyCard) {
  const breaker = { failures: 1, pauseMs: 60_000, maxPauseMs: 60_000 };
  return knownAgent({ name: "greeter", url, source: "registered" }, { policy, inside: (one) => one, breaker });
}
const broken = () => new Response("", { status: 500 });

test("before its first check nothing is known of an agent, after it when it was", async () => {
  await using server = serveCard("Greeter");
  const agent = met(server.url);
  expect(agent.state()).toEqual({
    name: "greeter",
    url: server.url,
    source: "registered",
    health: "unknown",
    breaker: "closed",
    changes: [],
  });
  expect(agent.unseenMs()).toBe(Number.POSITIVE_INFINITY);
  const before = Date.now();
  await agent.look(live);
  expect(agent.state()).toMatchObject({ health: "up", card: { name: "Greeter" }, changes: [] });
  expect(agent.state().checkedAt).toBeGreaterThanOrEqual(before);
  expect(agent.unseenMs()).toBeLessThan(60_000);
});

test("a server that was down and has its card again is back; calls that failed are not fixed by a card", async () => {
  await using server = serveCard("Greeter");
  const agent = met(server.url);
  server.answer = broken;
  await agent.look(live);
  const reason = `greeter at ${server.url} could not be reached or did not answer in A2A`;
  expect(agent.state()).toMatchObject({ health: "down", breaker: "open", reason });
  await expect(agent.connect(live)).rejects.toMatchObject({ code: "unavailable" });
  server.answer = undefined;
  await agent.look(live);
  expect(agent.state()).toMatchObject({ health: "up", breaker: "closed" });
  expect(agent.state()).not.toHaveProperty("reason");
  const client = await agent.connect(live);
  server.answer = broken;
  await expect(client.get("t", { signal: live })).rejects.toMatchObject({ code: "unavailable" });
  server.answer = undefined;
  await agent.look(live);
  expect(agent.state()).toMatchObject({ health: "up", breaker: "open", reason: expect.any(String) });
});

test("an agent whose card is refused is not used, but not broken either, and the reason goes with the refusal", async () => {
  await using server = serveCard("Greeter");
  let refuses = true;
  const agent = met(server.url, async () => {
    if (refuses) throw new AppError("forbidden", "It is not signed.");
  });
  await agent.look(live);
  expect(agent.state()).toMatchObject({ health: "refused", reason: "It is not signed.", breaker: "closed" });
  const asked = server.asked();
  await expect(agent.connect(live)).rejects.toThrow("greeter may not be used: It is not signed.");
  expect(server.asked()).toBe(asked);
  refuses = false;
  await agent.look(live);
  expect(agent.state().health).toBe("up");
});

test("the same card keeps its client; of a card that changes the newest twenty changes are told, the newest last", async () => {
  await using server = serveCard("Greeter");
  const agent = met(server.url);
  const first = await agent.connect(live);
  await agent.look(live);
  expect(await agent.connect(live)).toBe(first);
  const before = agent.state();
  for (let n = 1; n <= 21; n++) {
    server.card = { ...server.card, version: `2.0.${n}` };
    await agent.look(live);
  }
  const told = agent.state().changes.map(({ what }) => what.join());
  expect(told).toHaveLength(20);
  expect([told[0], told.at(-1)]).toEqual(['version was "2.0.1", is "2.0.2"', 'version was "2.0.20", is "2.0.21"']);
  expect((await agent.connect(live)).card.version).toBe("2.0.21");
  expect(before.changes).toEqual([]);
});

test("a check that is given up says nothing about the agent", async () => {
  await using server = serveCard("Greeter");
  const agent = met(server.url);
  await expect(agent.look(AbortSignal.abort(new Error("closing")))).rejects.toThrow("closing");
  expect(agent.state()).toMatchObject({ health: "unknown", breaker: "closed" });
  expect(agent.state()).not.toHaveProperty("checkedAt");
});

test("an agent that is reached from inside elsewhere is asked there, with its token, and judged by its own address", async () => {
  await using server = serveCard("Greeter");
  const url = "http://greeter.example";
  const judged: unknown[] = [];
  const policy: CardPolicy = async ({ name }, address) => void judged.push([name, address.name, address.url]);
  const inside = (one: string) => one.replace(url, server.url);
  const breaker = { failures: 1, pauseMs: 60_000, maxPauseMs: 60_000 };
  const agent = knownAgent({ name: "greeter", url, token: "t", source: "registered" }, { policy, inside, breaker });
  server.card = {
    ...server.card,
    supportedInterfaces: server.card.supportedInterfaces.map((one) => ({
      ...one,
      url: one.url.replace(server.url, url),
    })),
  };
  await agent.look(live);
  expect([agent.state().health, agent.state().reason]).toEqual(["up", undefined]);
  expect(judged).toEqual([["Greeter", "greeter", url]]);
  const sent: (string | null)[] = [];
  server.answer = ({ headers }) => {
    sent.push(headers.get("Authorization"));
    return new Response("", { status: 404 });
  };
  const client = await agent.connect(live);
  await client.get("t", { signal: live }).catch(() => undefined);
  await agent.fetch(server.url);
  expect(new Set(sent)).toEqual(new Set(["Bearer t"]));
});

test("a hiccup of an agent's server is waited out within a call", async () => {
  await using server = serveCard("Greeter");
  const agent = met(server.url);
  let asked = 0;
  const { card } = server;
  server.answer = () => (++asked === 1 ? broken() : Response.json(AgentCard.toJSON(card)));
  await agent.look(live);
  expect([agent.state().health, asked > 1]).toEqual(["up", true]);
});

test("an agent that wants a bearer token is used with the one it was registered with, and not without", async () => {
  await using server = serveCard("Greeter");
  server.card = AgentCard.fromJSON({
    ...(AgentCard.toJSON(server.card) as object),
    securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: "Bearer" } } },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
  });
  const breaker = { failures: 1, pauseMs: 60_000, maxPauseMs: 60_000 };
  const deps = { policy: anyCard, inside: (one: string) => one, breaker };
  const health = async (token?: string) => {
    const agent = knownAgent({ name: "greeter", url: server.url, token, source: "registered" }, deps);
    const before = agent.state();
    await agent.look(live);
    // What was told earlier stays as it was.
    expect(before).toMatchObject({ health: "unknown", changes: [] });
    return agent.state().health;
  };
  expect([await health("t"), await health()]).toEqual(["up", "refused"]);
});

test("an agent has twenty seconds for each answer, and whoever looks for it may leave", async () => {
  await using server = serveCard("Greeter");
  using creating = spyOn(clients, "createA2aClient");
  const gone = new AbortController();
  await met(server.url).connect(gone.signal);
  const retry = { retries: 2, firstPauseMs: 100 };
  expect(creating.mock.calls[0]?.[1]).toMatchObject({ responseMs: 20_000, retry, signal: gone.signal });
  using limits = spyOn(AbortSignal, "timeout");
  await met(server.url).look(live);
  expect(limits.mock.calls).toContainEqual([5_000]);
});
