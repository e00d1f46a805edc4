import { expect, spyOn, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentCard } from "@a2a-js/sdk";
import { bearerCredentials } from "manyhands/internal/a2a/client/credentials";
import { type CardPolicy, cardPolicy } from "manyhands/internal/a2a/signing/card-policy";
import { AppError } from "manyhands/internal/core/errors";
import { keptFile } from "manyhands/internal/machine/workspace/own-files/kept-file";
import { anyCard } from "manyhands/internal/testing/a2a/card";
import { serveCard } from "../testing/card-server.ts";
import * as breakers from "./breaker.ts";
import type { AgentAddress } from "./known-agent.ts";
import { isDue, nameFrom, openRegistry, type Registry } from "./registry.ts";
import { registryFile } from "./registry-file.ts";

type Place = AsyncDisposable & {
  open(configured?: Omit<AgentAddress, "source">[], policy?: CardPolicy): Promise<Registry>;
};

/** Registries that share one home, closed with it. */
async function place(): Promise<Place> {
  const home = await mkdtemp(join(tmpdir(), "registry-"));
  const opened: Registry[] = [];
  return {
    async open(configured = [], policy = anyCard) {
      const registry = await openRegistry({
        configured,
        file: registryFile(keptFile(join(home, "agents.json"))),
        policy,
        everyMs: 3_600_000,
        breaker: { failures: 2, pauseMs: 60_000, maxPauseMs: 60_000 },
        reserved: ["debate"],
        report: (bug) => {
          throw bug;
        },
      });
      opened.push(registry);
      return registry;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(opened.map((registry) => registry.close()));
      await rm(home, { recursive: true });
    },
  };
}

const signal = () => AbortSignal.timeout(60_000);

test("an agent registered by its address has its card, and outlives the gateway", async () => {
  await using home = await place();
  await using agent = serveCard("Greeter One");
  const first = await home.open();
  expect(await first.add({ url: agent.url })).toMatchObject({
    name: "greeter-one",
    health: "up",
    source: "registered",
  });
  const second = await home.open();
  expect(second.list().map(({ name }) => name)).toEqual(["greeter-one"]);
  await second.refresh();
  expect(second.get("greeter-one")?.card?.skills[0]?.id).toBe("greet");
  expect((await second.connect({ name: "greeter-one", url: agent.url }, signal())).card.name).toBe("Greeter One");
});

test("the same address again is the same agent, another one under its name is refused", async () => {
  await using home = await place();
  await using agent = serveCard("Greeter");
  await using other = serveCard("Greeter");
  const registry = await home.open();
  await registry.add({ url: agent.url });
  await registry.add({ url: `${agent.url}/` });
  expect(registry.list()).toHaveLength(1);
  await expect(registry.add({ url: other.url })).rejects.toMatchObject({ code: "conflict" });
  await expect(registry.add({ url: other.url, name: "debate" })).rejects.toThrow("is the name of a flow");
  expect((await registry.add({ url: other.url, name: "greeter-2" })).name).toBe("greeter-2");
});

test("the same address with another token is the same agent, which is sent the new one from then on", async () => {
  await using home = await place();
  await using agent = serveCard("Greeter");
  const sent: (string | null)[] = [];
  const registry = await home.open();
  for (const token of ["old", "new", undefined]) await registry.add({ url: agent.url, ...(token && { token }) });
  agent.answer = ({ headers }) => {
    sent.push(headers.get("Authorization"));
    return new Response();
  };
  await registry.fetch(agent.url)(agent.url);
  expect([registry.list().map(({ name }) => name), sent]).toEqual([["greeter"], ["Bearer new"]]);
});

test("an agent that is down is looked at again within seconds, however seldom the others are", async () => {
  await using home = await place();
  await using agent = serveCard("Greeter");
  agent.answer = () => new Response("", { status: 503 });
  const registry = await home.open([{ name: "greeter", url: agent.url }]);
  const health = async (wanted: string) => {
    for (const late = Date.now() + 30_000; registry.get("greeter")?.health !== wanted && Date.now() < late; )
      await Bun.sleep(20);
    return registry.get("greeter")?.health;
  };
  expect(await health("down")).toBe("down");
  agent.answer = undefined;
  expect(await health("up")).toBe("up");
});

test("registrations and removals by another gateway of the home are seen at the next check", async () => {
  await using home = await place();
  await using agent = serveCard("Greeter");
  const one = await home.open();
  const other = await home.open();
  await one.add({ url: agent.url });
  await other.refresh();
  expect(other.get("greeter")?.health).toBe("up");
  await one.remove("greeter");
  await other.refresh();
  expect(other.get("greeter")).toBeUndefined();
});

test("an agent of the settings is listed before it answers, and cannot be removed", async () => {
  await using home = await place();
  await using agent = serveCard("Greeter");
  agent.answer = () => new Response("<h1>502</h1>", { status: 502 });
  const registry = await home.open([{ name: "greeter", url: agent.url }]);
  await registry.refresh();
  expect(registry.get("greeter")).toMatchObject({ health: "down", reason: expect.stringContaining("502") });
  agent.answer = undefined;
  await registry.refresh();
  expect(registry.get("greeter")?.health).toBe("up");
  await expect(registry.remove("greeter")).rejects.toMatchObject({ code: "conflict" });
});

test("a changed card is reported with its changes", async () => {
  await using home = await place();
  await using agent = serveCard("Greeter");
  const registry = await home.open([{ name: "greeter", url: agent.url }]);
  await registry.refresh();
  const skill = { ...agent.card.skills[0], id: "insult" } as (typeof agent.card.skills)[number];
  agent.card = { ...agent.card, version: "2.0.0", skills: [skill] };
  await registry.refresh();
  expect(registry.get("greeter")?.changes).toMatchObject([
    { what: ['version was "1.0.0", is "2.0.0"', 'skill "insult" is new', 'skill "greet" is gone'] },
  ]);
});

test("an agent that keeps failing is not called, and the refusal says when it is tried again", async () => {
  await using home = await place();
  await using agent = serveCard("Greeter");
  agent.answer = () => new Response("", { status: 503 });
  const registry = await home.open([{ name: "greeter", url: agent.url }]);
  for (let look = 0; look < 3; look++) await registry.refresh();
  const before = agent.asked();
  expect(registry.get("greeter")?.breaker).toBe("open");
  await expect(registry.connect({ name: "greeter", url: agent.url }, signal())).rejects.toThrow("it is tried again in");
  expect(agent.asked()).toBe(before);
});

test("a card that the policy refuses keeps the agent out, with the reason", async () => {
  await using home = await place();
  await using agent = serveCard("Greeter");
  const registry = await home.open(
    [{ name: "greeter", url: agent.url }],
    cardPolicy({ trust: () => ({ demand: "must-be-signed", keys: [] }) }),
  );
  await registry.refresh();
  expect(registry.get("greeter")).toMatchObject({ health: "refused", reason: expect.stringContaining("no signature") });
  await expect(registry.connect({ name: "greeter", url: agent.url }, signal())).rejects.toMatchObject({
    code: "forbidden",
  });
  await expect(registry.add({ url: agent.url, name: "again" })).rejects.toMatchObject({ code: "forbidden" });
});

test("an agent whose card becomes unacceptable is not used until the card is acceptable again", async () => {
  await using home = await place();
  await using agent = serveCard("Greeter");
  const onlyFirst: CardPolicy = async ({ version }) => {
    if (version !== "1.0.0") throw new AppError("forbidden", "Its card is not signed any more.");
  };
  const greeter = { name: "greeter", url: agent.url };
  const registry = await home.open([greeter], onlyFirst);
  await registry.refresh();
  expect((await registry.connect(greeter, signal())).card.version).toBe("1.0.0");
  const { card } = agent;
  agent.card = { ...card, version: "2.0.0" };
  await registry.refresh();
  expect(registry.get("greeter")?.health).toBe("refused");
  await expect(registry.connect(greeter, signal())).rejects.toMatchObject({
    code: "forbidden",
    message: expect.stringContaining("not signed any more"),
  });
  agent.card = card;
  await registry.refresh();
  expect((await registry.connect(greeter, signal())).card.version).toBe("1.0.0");
});

test("an agent's token is sent to its address and paths below it, and to no address that only looks similar", async () => {
  await using home = await place();
  const url = "http://127.0.0.1:1/agents/swe";
  const registry = await home.open([{ name: "swe", url: `${url}/`, token: "secret", isOwn: true }]);
  for (const own of [url, `${url}/`, `${url}/artifacts/a/b.txt`, `${url}?x=1`])
    expect([own, registry.fetch(own) === fetch, registry.isOwn(own)]).toEqual([own, false, true]);
  for (const foreign of [
    `${url}-2`,
    `${url}2/artifacts`,
    "http://127.0.0.1:1/agents",
    `${url}/../critic`,
    url.replace(":1/", ":2/"),
    url.replace("127.0.0.1", "127.0.0.2"),
    url.replace("http:", "https:"),
    "swe",
  ])
    expect([foreign, registry.fetch(foreign) === fetch, registry.isOwn(foreign)]).toEqual([foreign, true, false]);
});

test("an agent below a known one's address is asked with the credentials of that, and one elsewhere with none", async () => {
  await using home = await place();
  const seen: [string, string | null][] = [];
  await using server = Object.assign(
    Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch({ url, headers }) {
        seen.push([new URL(url).pathname.split("/.well-known")[0] ?? "", headers.get("Authorization")]);
        return new Response(null, { status: 404 });
      },
    }),
    { [Symbol.asyncDispose]: () => server.stop(true) },
  );
  const { origin } = server.url;
  const registry = await home.open([
    { name: "swe", url: `${origin}/agents/swe`, token: "secret" },
    { name: "maps", url: `${origin}/agents/maps`, credentials: bearerCredentials("own") },
  ]);
  for (const path of ["/agents/swe/part", "/agents/maps/part", "/agents/critic"])
    await registry.connect({ name: "other", url: `${origin}${path}` }, signal()).catch(() => undefined);
  const sentTo = (path: string) => new Set(seen.filter(([asked]) => asked === path).map(([, sent]) => sent));
  expect(["/agents/swe/part", "/agents/maps/part", "/agents/critic"].map(sentTo)).toEqual([
    ...[new Set(["Bearer secret"]), new Set(["Bearer own"]), new Set([null])],
  ]);
});

test("an address under a registered agent's name is asked itself, without that agent's token", async () => {
  await using home = await place();
  await using agent = serveCard("Greeter");
  await using other = serveCard("Other");
  const registry = await home.open([{ name: "greeter", url: agent.url, token: "secret" }]);
  const sent: (string | null)[] = [];
  const card = AgentCard.toJSON(other.card);
  other.answer = ({ headers }) => {
    sent.push(headers.get("Authorization"));
    return Response.json(card);
  };
  expect((await registry.connect({ name: "greeter", url: other.url }, signal())).card.name).toBe("Other");
  expect(new Set(sent)).toEqual(new Set([null]));
});

test("a protected agent without credentials is refused at once, with what it wants and the setting that gives it", async () => {
  await using home = await place();
  await using agent = serveCard("Greeter");
  const securitySchemes = { key: { apiKeySecurityScheme: { location: "header", name: "X-Door" } } };
  const securityRequirements = [{ schemes: { key: { list: [] } } }];
  agent.card = AgentCard.fromJSON({
    ...(AgentCard.toJSON(agent.card) as object),
    securitySchemes,
    securityRequirements,
  });
  const identity = { kind: "api_key", header: "x-door", secret: { text: "s" } } as const;
  const registry = await home.open([
    { name: "bare", url: agent.url },
    { name: "wrong", url: agent.url, token: "secret" },
    { name: "right", url: agent.url, credentials: { identity } },
  ]);
  await registry.refresh();
  const wanted =
    'an API key (header X-Door), which is not configured here. Set kind = "api_key" with header = "X-Door"';
  for (const name of ["bare", "wrong"])
    expect(registry.get(name)).toMatchObject({ health: "refused", reason: expect.stringContaining(wanted) });
  expect(registry.get("right")?.health).toBe("up");
  await using alone = await place();
  const empty = await alone.open();
  await expect(empty.add({ url: agent.url })).rejects.toMatchObject({
    code: "forbidden",
    message: expect.stringContaining(wanted),
  });
  expect(empty.list()).toEqual([]);
});

test("an address that cannot be reached, answers too much or redirects elsewhere is not registered", async () => {
  await using home = await place();
  await using agent = serveCard("Greeter");
  await using elsewhere = serveCard("Elsewhere");
  const registry = await home.open();
  await expect(registry.add({ url: "http://127.0.0.1:1" })).rejects.toMatchObject({
    code: "unreachable",
    message: expect.stringMatching(
      /^There is no agent to be had at http:\/\/127\.0\.0\.1:1: .*(?:ECONNREFUSED|refused)/i,
    ),
  });
  agent.answer = () => new Response("", { status: 401 });
  await expect(registry.add({ url: agent.url })).rejects.toMatchObject({
    code: "unreachable",
    message: expect.stringMatching(/: .* 401.* It may want another `token`\.$/),
  });
  agent.answer = () => new Response("", { status: 503 });
  await expect(registry.add({ url: agent.url })).rejects.toMatchObject({
    message: `There is no agent to be had at ${agent.url}: The agent at ${agent.url} answered with HTTP status 503.`,
  });
  const long = `http://127.0.0.1:1/${"x".repeat(600)}`;
  await expect(registry.add({ url: long })).rejects.toMatchObject({
    message: `There is no agent to be had at ${long}: ${`The agent at ${long}`.slice(0, 500)}.`,
  });
  agent.answer = () => new Response("", { status: 404 });
  await expect(registry.add({ url: agent.url })).rejects.toThrow(`${agent.url}/.well-known/agent-card.json: 404`);
  agent.answer = () => new Response(`{"name":"${"x".repeat(5_000_000)}"}`);
  await expect(registry.add({ url: agent.url })).rejects.toMatchObject({ code: "too_large" });
  agent.answer = () => Response.redirect(`${elsewhere.url}/.well-known/agent-card.json`);
  await expect(registry.add({ url: agent.url })).rejects.toMatchObject({ code: "unreachable" });
  expect(elsewhere.asked()).toBe(0);
  expect(registry.list()).toEqual([]);
});

test("a hanging agent is reported down in time, is not registered, and does not delay checks of others", async () => {
  await using home = await place();
  await using agent = serveCard("Greeter");
  await using hanging = serveCard("Hanging");
  const hang = () => new Promise<Response>(() => undefined);
  hanging.answer = hang;
  const both = [agent, hanging].map(({ url }, n) => ({ name: `agent-${n}`, url }));
  const registry = await home.open(both);
  const from = performance.now();
  const adding = registry.add({ url: hanging.url, name: "again" });
  await Promise.all([
    registry.refresh(),
    expect(adding).rejects.toMatchObject({ code: "unreachable", message: expect.stringContaining("within") }),
  ]);
  expect(performance.now() - from).toBeLessThan(60_000);
  expect(registry.get("agent-0")?.health).toBe("up");
  expect(registry.get("agent-1")).toMatchObject({ health: "down", reason: "It did not answer within 5 s." });
});

test("a name is made from any title", () => {
  expect(nameFrom("Döner & Söhne GmbH")).toBe("do-ner-so-hne-gmbh");
  expect(nameFrom("数据")).toBe("agent");
  expect(nameFrom(`--${"x".repeat(70)}`)).toBe("x".repeat(60));
});

test("an agent that is well is looked at again after a while, any other at every look", () => {
  const notWell = [
    { health: "unknown", breaker: "closed" },
    { health: "down", breaker: "closed" },
    { health: "refused", breaker: "closed" },
    { health: "up", breaker: "open" },
    { health: "up", breaker: "trying" },
  ] as const;
  for (const state of notWell) expect([state, isDue(state, 0, 1_000)]).toEqual([state, true]);
  const well = { health: "up", breaker: "closed" } as const;
  expect([0, 999, 1_000, 1_001].map((unseenMs) => isDue(well, unseenMs, 1_000))).toEqual([false, false, true, true]);
});

test("agents are looked at side by side", async () => {
  await using home = await place();
  await using one = serveCard("One");
  await using other = serveCard("Other");
  const both = Promise.withResolvers<void>();
  const waiting = new Set<object>();
  for (const server of [one, other]) {
    const card = AgentCard.toJSON(server.card);
    server.answer = async () => {
      if (waiting.add(server).size === 2) both.resolve();
      await both.promise;
      return Response.json(card);
    };
  }
  const registry = await home.open([one, other].map(({ url }, n) => ({ name: `agent-${n}`, url })));
  await registry.refresh();
  expect(registry.list().map(({ health }) => health)).toEqual(["up", "up"]);
});

/** A registry that looks often, of one agent; `read` is called with each look. */
const watching = (
  url: string,
  { read = (): Promise<void> | void => undefined, report = (_: unknown) => undefined } = {},
) =>
  openRegistry({
    configured: [{ name: "greeter", url }],
    file: { read: async () => (await read()) ?? [], update: async () => undefined },
    policy: anyCard,
    everyMs: 5,
    reserved: [],
    report,
  });

test("a registry that is closed looks no more, waits for no answer and reports nothing", async () => {
  await using agent = serveCard("Greeter");
  const reported: unknown[] = [];
  let looks = 0;
  const registry = await watching(agent.url, { read: () => void looks++, report: (bug) => void reported.push(bug) });
  while (agent.asked() < 3) await Bun.sleep(1);
  const hanging = Promise.withResolvers<void>();
  let waiting = 0;
  agent.answer = () => {
    if (++waiting === 3) hanging.resolve();
    return new Promise<Response>(() => undefined);
  };
  const adding = registry.add({ url: agent.url, name: "again" }).catch((error: unknown) => error);
  const looking = registry.add({ url: agent.url }).catch((error: unknown) => error);
  await hanging.promise;
  await registry.close();
  const before = [agent.asked(), looks];
  expect([await adding, await looking]).toMatchObject([{ name: "AbortError" }, { name: "AbortError" }]);
  for (let look = 0; look < 10; look++) await Bun.sleep(5);
  expect([agent.asked(), looks, reported]).toEqual([...before, []]);
});

test("while an agent hangs no further looks gather, to be made up for when it answers or the registry closes", async () => {
  await using agent = serveCard("Hanging");
  agent.answer = () => new Promise<Response>(() => undefined);
  let reads = 0;
  const registry = await watching(agent.url, { read: () => void reads++, report: () => undefined });
  while (agent.asked() === 0) await Bun.sleep(1);
  const before = reads;
  await Bun.sleep(100);
  await registry.close();
  expect(reads).toBe(before);
});

test("a registry is closed once what it was reading has been read", async () => {
  await using agent = serveCard("Greeter");
  const reading = Promise.withResolvers<void>();
  const read = Promise.withResolvers<void>();
  let reads = 0;
  const slow = () => {
    if (++reads < 3) return undefined;
    reading.resolve();
    return read.promise;
  };
  const registry = await watching(agent.url, { read: slow });
  await reading.promise;
  let isClosed = false;
  const closing = registry.close().then(() => {
    isClosed = true;
  });
  await new Promise(setImmediate);
  expect(isClosed).toBe(false);
  read.resolve();
  await closing;
});

test("a caller that leaves is not kept by a stranger, and is told when asking it again is worthwhile", async () => {
  await using home = await place();
  await using agent = serveCard("Greeter");
  const registry = await home.open();
  const stranger = { name: agent.url, url: agent.url };
  expect(registry.retrySignal(stranger)).toBeUndefined();
  await expect(registry.connect(stranger, AbortSignal.abort(new Error("left")))).rejects.toThrow("left");
  agent.answer = () => new Response("", { status: 503 });
  for (let n = 0; n < 2; n++) await registry.connect(stranger, signal()).catch(() => undefined);
  expect(registry.retrySignal(stranger)?.aborted).toBe(false);
});

test("without another setting an agent is left alone after five failures in a row, for two seconds at first, a minute at most", async () => {
  using creating = spyOn(breakers, "createBreaker");
  await using agent = serveCard("Greeter");
  agent.answer = () => new Response("", { status: 404 });
  const registry = await watching(agent.url);
  while (registry.get("greeter")?.breaker !== "open") await Bun.sleep(1);
  const refused = registry.connect({ name: "greeter", url: agent.url }, signal());
  await expect(refused).rejects.toThrow("greeter has failed 5 times in a row");
  expect(creating.mock.calls[0]?.[1]).toEqual({ failures: 5, pauseMs: 2_000, maxPauseMs: 60_000 });
  await registry.close();
});
