import { expect, spyOn, test } from "bun:test";
import { principalHeader } from "../../core/caller.ts";
import { askerForTest } from "../../testing/a2a/asker.ts";
import { badAgentForTest } from "../../testing/a2a/bad-agent.ts";
import * as clients from "../client/client.ts";
import type { Fetch } from "../client/client-fetch.ts";
import { createPeers, type PeersOptions } from "./peers.ts";

/** Peers whose requests are recorded, with the principal they name; `send` answers them. */
async function recorded(send: Fetch, more: Pick<PeersOptions, "isOwn"> = {}) {
  const asker = await askerForTest(async () => null);
  const sent: (readonly [url: string, principal: string | null, accept: string | null])[] = [];
  const record: Fetch = (input, init) => {
    const { url, headers } = new Request(input as Request, init);
    sent.push([url, headers.get(principalHeader), headers.get("accept")]);
    return send(input, init);
  };
  const { engine, artifacts } = asker;
  const peers = createPeers({ engine, artifacts, fetch: () => record, ...more });
  return { peers, sent, [Symbol.asyncDispose]: () => asker[Symbol.asyncDispose]() };
}

test("a principal is named to an agent of this system at its own server, and to nobody else", async () => {
  const [own, foreign] = ["https://own.example", "https://foreign.example"];
  await using made = await recorded(async () => new Response(), { isOwn: ({ url }) => url.startsWith(own) });
  const alices = made.peers.actingFor("alice");
  const toOwn = alices.fetch({ name: "own", url: `${own}/agent` });
  await toOwn(`${own}/agent/file.txt`, { headers: { accept: "text/plain" } });
  await toOwn(new Request(`${own}/other.txt`));
  await toOwn(`${foreign}/file.txt`);
  await toOwn(new Request(`${foreign}/other.txt`));
  await alices.fetch({ name: "foreign", url: foreign })(`${foreign}/file.txt`);
  await alices.actingFor("bob").fetch({ name: "own", url: own })(own);
  expect(made.sent).toEqual([
    [`${own}/agent/file.txt`, "alice", "text/plain"],
    [`${own}/other.txt`, "alice", null],
    [`${foreign}/file.txt`, null, null],
    [`${foreign}/other.txt`, null, null],
    [`${foreign}/file.txt`, null, null],
    [`${own}/`, "bob", null],
  ]);
});

test("an agent's card is read once for a while, and for each name and address anew", async () => {
  using agent = badAgentForTest({}, {});
  let isAway = true;
  await using made = await recorded((input, init) =>
    isAway ? Promise.reject(new TypeError("refused")) : fetch(input, init),
  );
  const { peers, sent } = made;
  const read = async (name: string, url: string) => {
    sent.length = 0;
    await peers.client({ name, url });
    return sent.length;
  };
  await expect(read("bad", agent.url)).rejects.toMatchObject({ code: "unavailable" });
  isAway = false;
  expect(await read("bad", agent.url)).toBe(1);
  expect(await read("bad", agent.url)).toBe(0);
  expect(await read("worse", agent.url)).toBe(1);
  expect(await read("bad", agent.url.replace("127.0.0.1", "localhost"))).toBe(1);
  expect(await read("bad", agent.url)).toBe(0);
  using _ = spyOn(performance, "now").mockReturnValue(performance.now() + 60_001);
  expect(await read("bad", agent.url)).toBe(1);
});

test("of more agents than are remembered the one whose card was read first is forgotten", async () => {
  using connecting = spyOn(clients, "createA2aClient").mockResolvedValue({ actingFor: () => ({}) } as never);
  await using asker = await askerForTest(async () => null);
  const { engine, artifacts } = asker;
  const peers = createPeers({ engine, artifacts });
  const connect = (n: number) => peers.client({ name: "swe", url: `https://${n}.example` });
  for (let n = 0; n < 200; n++) await connect(n);
  await connect(0);
  expect(connecting).toHaveBeenCalledTimes(200);
  await connect(200);
  await connect(1);
  expect(connecting).toHaveBeenCalledTimes(201);
  await connect(0);
  expect(connecting).toHaveBeenCalledTimes(202);
});

test("an agent is connected to where it is reached, in short tries, as its peers are", async () => {
  using connecting = spyOn(clients, "createA2aClient").mockResolvedValue({ actingFor: () => ({}) } as never);
  await using asker = await askerForTest(async () => null);
  const { engine, artifacts } = asker;
  const inside = (url: string) => url.replace("outside", "inside");
  const admitted: unknown[] = [];
  const admit = async (...given: unknown[]) => void admitted.push(given);
  const send: Fetch = async () => new Response();
  const peers = createPeers({ engine, artifacts, inside, admit, fetch: () => send });
  const address = { name: "swe", url: "https://outside.example" };
  const { signal } = new AbortController();
  await peers.client(address, signal);
  const [[url, options] = []] = connecting.mock.calls;
  expect([url, options]).toMatchObject([
    address.url,
    { fetch: send, inside, signal, responseMs: 20_000, retry: { retries: 2, firstPauseMs: 100 } },
  ]);
  await options?.admit?.("its card" as never);
  expect(admitted).toEqual([["its card", address]]);
});

test.each([
  ["http://127.0.0.1:1", "http://127.0.0.1:2", "http://127.0.0.1:2"],
  ["http://localhost:1/a", "http://[::1]:2/a", "http://[::1]:2/a"],
  // Another machine keeps its address, and nobody's task moves to another machine.
  ["https://agent.example", "http://127.0.0.1:2", "https://agent.example"],
  ["http://127.0.0.1:1", "https://agent.example", "http://127.0.0.1:1"],
  ["http://127.0.0.1:1", undefined, "http://127.0.0.1:1"],
])("an agent asked at %s whose name is now at %s is reached at %s", async (asked, now, reached) => {
  await using asker = await askerForTest(async () => null);
  const { engine, artifacts } = asker;
  const known = (name: string) => (name === "swe" && now !== undefined ? { name, url: now } : undefined);
  const peers = createPeers({ engine, artifacts, known });
  expect(peers.at({ name: "swe", url: asked })).toEqual({ name: "swe", url: reached });
});

test("bounds that are not given are the usual ones", async () => {
  await using asker = await askerForTest(async () => null);
  const { engine, artifacts } = asker;
  const usual = createPeers({ engine, artifacts }).bounds;
  const times = { followMs: 30_000, quietMs: 600_000, patienceMs: 120_000 };
  expect(usual).toEqual({ hops: 8, ...times, fileBytes: 64 * 1024 ** 2, files: 50 });
  expect(createPeers({ engine, artifacts, bounds: { files: 2 } }).bounds).toEqual({ ...usual, files: 2 });
});

test("an agent that cannot be asked is named in the error, with its address and without the secrets in it", async () => {
  await using asker = await askerForTest(async () => null);
  const { engine, artifacts } = asker;
  const busy = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("Not now.", { status: 503 }) });
  const address = `127.0.0.1:${busy.port}`;
  const peers = createPeers({ engine, artifacts });
  const failure = () => peers.client({ name: "swe", url: `http://ann:secret@${address}/of?key=secret` }).catch(String);
  expect(await failure()).toBe(`AppError: swe at http://${address}/of answered with HTTP status 503`);
  await busy.stop(true);
  expect(await failure()).toBe(`AppError: swe at http://${address}/of could not be reached or did not answer in A2A`);
});
