import { expect, spyOn, test } from "bun:test";
import { localCaller } from "manyhands/internal/core/caller";
import { startGateway, type TestGateway } from "../testing/gateway.ts";

const posted = (body: object) => ({ method: "POST", body: JSON.stringify(body) });

/** The answer to a request that came by no network. */
async function ask({ fetch, url }: TestGateway, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { Host: new URL(url).host, "Content-Type": "application/json", "A2A-Version": "1.0" };
  return fetch(new Request(`${url}${path}`, { ...init, headers }));
}

/**
 * Opens every kind of stream over a run that sleeps, and notes after how much silence each speaks.
 */
async function silences(gateway: TestGateway): Promise<readonly (readonly [string, boolean])[]> {
  const started = await ask(gateway, "/flows/echo", posted({ input: "sleep" }));
  const { runId } = (await started.json()) as { runId: string };
  const subscribe = { jsonrpc: "2.0", id: 1, method: "SubscribeToTask", params: { id: runId } };
  const chat = { model: "echo", stream: true, messages: [{ role: "user", content: "sleep" }] };
  const streams = [
    ["events", `/runs/${runId}/events`, {}],
    ["tree", `/runs/${runId}/tree`, {}],
    ["a2a", "/a2a/echo", posted(subscribe)],
    ["chat", "/v1/chat/completions", posted(chat)],
  ] as const;
  const heard: (readonly [string, boolean])[] = [];
  for (const [name, path, init] of streams) {
    const reader = (await ask(gateway, path, init)).body?.getReader();
    const timers = spyOn(globalThis, "setTimeout");
    // What is there already comes at once; then silence is waited out.
    const reading = (async () => {
      while ((await reader?.read())?.done === false);
    })();
    const waits = () => timers.mock.calls.some(([, milliseconds]) => milliseconds === paceOf.ms);
    // How many turns that takes depends on the disk.
    for (const end = performance.now() + patienceMs; performance.now() < end && !waits(); )
      await new Promise((resolve) => setImmediate(resolve));
    heard.push([name, waits()]);
    timers.mockRestore();
    await reader?.cancel();
    await reading;
  }
  return heard;
}

const paceOf = { ms: 0 };
const patienceMs = 10_000;

test.each([
  [4_321, 4_321],
  [undefined, 8_000],
])("every stream breaks its silence after the same time: of %p, %i milliseconds", async (heartbeatMs, ms) => {
  await using gateway = await startGateway({ app: { heartbeatMs } as { heartbeatMs: number } });
  paceOf.ms = ms;
  expect(await silences(gateway)).toEqual(["events", "tree", "a2a", "chat"].map((name) => [name, true]));
});

test("of many requests that come at once only some begin before others are heard", async () => {
  let begun = 0;
  const identify = () => {
    begun++;
    for (const until = performance.now() + 2; performance.now() < until; );
    return localCaller;
  };
  await using gateway = await startGateway({ app: { identify } });
  const many = Array.from({ length: 60 }, () => ask(gateway, "/flows"));
  await new Promise((resolve) => setImmediate(resolve));
  expect(begun).toBeLessThan(60);
  expect(new Set((await Promise.all(many)).map(({ status }) => status))).toEqual(new Set([200]));
  expect(begun).toBe(60);
});
