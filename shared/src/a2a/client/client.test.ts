import { expect, test } from "bun:test";
import type { AgentCard } from "@a2a-js/sdk";
import { AppError } from "../../core/errors.ts";
import { agentOf, codeOf, reply, taskIn } from "../../testing/a2a/asked-agent.ts";
import {
  agentExtension,
  budgetExtension,
  dedupeExtension,
  hitlExtension,
  journalExtension,
  usageExtension,
} from "../extensions.ts";
import { createA2aClient } from "./client.ts";

test("an agent whose card is refused is sent nothing, and whoever asked learns why", async () => {
  await using agent = agentOf({ SendMessage: () => ({ message: reply }) });
  const seen: string[] = [];
  const admit = async ({ name }: AgentCard) => {
    seen.push(name);
    await Bun.sleep(0);
    throw new AppError("forbidden", "Not this one.");
  };
  await expect(agent.connect({ admit })).rejects.toMatchObject({ code: "forbidden", message: "Not this one." });
  expect([seen, agent.asked]).toEqual([["Other"], []]);
});

test("an agent is called at its card's own server, wherever else the card says that it is", async () => {
  await using elsewhere = agentOf({ SendMessage: () => ({ message: reply }) });
  await using agent = agentOf(
    { SendMessage: () => ({ message: reply }) },
    { interfaces: [elsewhere.url, "/own", "http://else.example"] },
  );
  await (await agent.connect()).submit({ text: "Hi" });
  expect([elsewhere.asked, agent.methods()]).toEqual([[], ["/own SendMessage"]]);
  await using other = agentOf({}, { interfaces: [`${elsewhere.url}/agent`] });
  await expect(other.connect()).rejects.toThrow(
    `The card at ${other.url} says that its agent is at ${elsewhere.url}, another server: nothing is sent there.`,
  );
});

test("public addresses of this system, of a card and within it, are called at the ones reached from here", async () => {
  await using agent = agentOf({ SendMessage: () => ({ message: reply }) }, { interfaces: ["https://a.example/in"] });
  const inside = (named: string) => named.replace("https://a.example", agent.url);
  const client = await createA2aClient("https://a.example/of/x", { inside });
  await client.submit({ text: "Hi" });
  expect([agent.read, agent.methods()]).toEqual([["/of/x/.well-known/agent-card.json"], ["/in SendMessage"]]);
});

test("a card is read below its agent's address, or at its own", async () => {
  await using agent = agentOf({});
  for (const path of ["", "/", "/of/x", "/of/x/", "/cards/x.json"]) await agent.connect({}, path);
  const usual = "/.well-known/agent-card.json";
  expect(agent.read).toEqual([usual, usual, `/of/x${usual}`, `/of/x${usual}`, "/cards/x.json"]);
});

test("a card of a megabyte is too large, an answer of two is not", async () => {
  const long = "x".repeat(2 * 1024 * 1024);
  await using agent = agentOf({ GetTask: () => ({ ...taskIn("COMPLETED"), metadata: { long } }) });
  const client = await agent.connect();
  expect((await client.get("t")).metadata?.long).toHaveLength(long.length);
  const fetchLong: typeof fetch = Object.assign(async () => Response.json({ name: long }), {
    preconnect: fetch.preconnect,
  });
  expect(await codeOf(agent.connect({ fetch: fetchLong }))).toBe("too_large");
});

test("a caller that gives up while the card is read is told its own reason", async () => {
  const caller = new AbortController();
  const asked = Promise.withResolvers<AbortSignal | undefined>();
  const hangs = (_: unknown, init?: RequestInit) => {
    asked.resolve(init?.signal ?? undefined);
    return new Promise<Response>((_resolve, reject) =>
      init?.signal?.addEventListener("abort", () => reject(init.signal?.reason)),
    );
  };
  const opening = codeOf(createA2aClient("http://a.example", { fetch: hangs, signal: caller.signal }));
  await asked.promise;
  caller.abort("enough");
  expect(await opening).toBe("enough");
});

const foreign = { uri: "https://else.example/x", required: true } as const;
const plain = "https://else.example/y";

test.each<readonly [string, Parameters<typeof agentOf>[1], readonly string[], readonly string[]]>([
  ["ours", {}, [journalExtension, dedupeExtension], [dedupeExtension]],
  [
    "ours that counts and requires more",
    { extensions: [agentExtension, usageExtension, budgetExtension, hitlExtension, plain, foreign] },
    [journalExtension, dedupeExtension, usageExtension, budgetExtension, foreign.uri],
    [dedupeExtension, usageExtension, budgetExtension, foreign.uri],
  ],
  [
    "ours that requires its journal",
    { extensions: [agentExtension, { uri: journalExtension, required: true }] },
    [journalExtension, dedupeExtension],
    [journalExtension, dedupeExtension],
  ],
  [
    "another make that knows some of ours",
    { extensions: [usageExtension, budgetExtension, hitlExtension, journalExtension, dedupeExtension, foreign] },
    [usageExtension, budgetExtension, hitlExtension],
    [usageExtension, budgetExtension, hitlExtension],
  ],
  ["another make", { extensions: [plain] }, [], []],
])(
  "of an agent of %s these extensions are activated, to read along and to wait",
  async (_, about, reading, waiting) => {
    const over = taskIn("COMPLETED");
    await using agent = agentOf(
      { SendMessage: () => ({ task: over }), SendStreamingMessage: () => [{ task: over }], GetTask: () => over },
      about,
    );
    const client = await agent.connect();
    const sent = async (call: Promise<unknown>) => {
      agent.asked.length = 0;
      await call;
      const named = agent.asked[0]?.headers.get("A2A-Extensions") ?? "";
      return named === "" ? [] : named.split(",").map((uri) => uri.trim());
    };
    expect(await sent(client.get("t"))).toEqual([...reading]);
    expect(await sent(Array.fromAsync(client.stream({ text: "Hi" })))).toEqual([...reading]);
    expect(await sent(client.submit({ text: "Hi" }))).toEqual([...reading]);
    expect(await sent(client.send({ text: "Hi" }))).toEqual([...waiting]);
  },
);
