import { expect, spyOn, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { type SseFrame, sseResponse } from "./sse.ts";

const options = { heartbeatMs: 60_000, headers: {}, release: () => undefined, failure: () => ({ data: "failed" }) };

async function until(check: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 60_000; !check(); await Bun.sleep(10)) {
    if (Date.now() > deadline) throw new Error("It did not happen within five seconds");
  }
}

test("a stream has its own headers beside those of every stream, and a plain frame is no JSON", async () => {
  async function* frames(): AsyncGenerator<SseFrame> {
    yield { data: "[DONE]", plain: true };
  }
  using begun = spyOn(globalThis, "setTimeout");
  using ended = spyOn(globalThis, "clearTimeout");
  const response = await sseResponse(frames(), { ...options, headers: { "X-Own": "1", "Cache-Control": "own" } });
  expect([response.headers.get("x-own"), response.headers.get("cache-control")]).toEqual(["1", "own"]);
  expect(response.headers.get("content-type")).toContain("text/event-stream");
  expect(await response.text()).toBe("data: [DONE]\n\n");
  // No heartbeat is left that would beat for nobody.
  const beats = begun.mock.results.filter((_, at) => [200, 60_000].includes(begun.mock.calls[at]?.[1] ?? 0));
  expect(beats.length).toBeGreaterThan(0);
  for (const { value } of beats) expect(ended.mock.calls.flat()).toContain(value as NodeJS.Timeout);
});

test("a reader that never reads stops the frames, and its leaving releases them and ends their source", async () => {
  const frameBytes = 64 * 1024;
  let made = 0;
  let released = false;
  let ended = false;
  async function* endless(): AsyncGenerator<SseFrame> {
    try {
      for (;;) {
        made++;
        yield { data: "x".repeat(frameBytes) };
      }
    } finally {
      ended = true;
    }
  }
  const release = () => {
    released = true;
  };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: () => sseResponse(endless(), { ...options, release }),
  });
  const socket: Socket = connect(server.port ?? 0, "127.0.0.1");
  try {
    socket.pause();
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await until(() => made > 0);
    let before = -1;
    for (let still = 0; still < 10; still = made === before ? still + 1 : 0) {
      before = made;
      await Bun.sleep(20);
      expect(made * frameBytes).toBeLessThan(16 * 1024 * 1024);
    }
    socket.destroy();
    await until(() => released && ended);
  } finally {
    socket.destroy();
    await server.stop(true);
  }
});

test("a failure before the first frame rejects; a later one is a frame, and the end", async () => {
  async function* failing(after: number): AsyncGenerator<SseFrame> {
    for (let n = 1; n <= after; n++) yield { data: n, id: n };
    throw new Error("broken");
  }
  expect(sseResponse(failing(0), options)).rejects.toThrow("broken");
  expect(await (await sseResponse(failing(1), options)).text()).toBe('id: 1\ndata: 1\n\ndata: "failed"\n\n');
});

test("a frame has its id before it, an error is named as one, and a stream that is over is released once", async () => {
  let released = 0;
  async function* frames(): AsyncGenerator<SseFrame> {
    yield { data: { n: 1 }, id: 7 };
    yield { data: { code: "x" }, error: true, id: 0 };
  }
  const response = await sseResponse(frames(), { ...options, release: () => void released++ });
  expect(await response.text()).toBe('id: 7\ndata: {"n":1}\n\nid: 0\nevent: error\ndata: {"code":"x"}\n\n');
  expect(released).toBe(1);
});

test("a stream ends with its first failure, whatever its source would have after that", async () => {
  let asked = 0;
  const next = async () => {
    if (++asked === 2) throw new Error("gone");
    return { done: asked > 5, value: { data: asked } } as IteratorResult<SseFrame>;
  };
  const response = await sseResponse({ next }, options);
  expect(await response.text()).toBe('data: 1\n\ndata: "failed"\n\n');
  expect(asked).toBe(2);
});

test("silence is filled with comments, and nothing is lost", async () => {
  const quiet = Promise.withResolvers<void>();
  async function* slow(): AsyncGenerator<SseFrame> {
    yield { data: 1 };
    await quiet.promise;
    yield { data: 2 };
  }
  let text = "";
  for await (const piece of (await sseResponse(slow(), { ...options, heartbeatMs: 20 })).body ?? []) {
    text += new TextDecoder().decode(piece);
    if (text.split("keep-alive").length > 2) quiet.resolve();
  }
  expect(text).toMatch(/^data: 1\n\n(: keep-alive\n\n){2,}data: 2\n\n/);
});

test("frames that are there together are sent together, one that has to be waited for holds none back", async () => {
  async function* some(): AsyncGenerator<SseFrame> {
    for (let n = 0; n < 100; n++) yield { data: n };
    await Bun.sleep(200);
    for (let n = 0; n < 3; n++) yield { data: "x".repeat(20_000) };
  }
  const pieces: string[] = [];
  const began = performance.now();
  const times: number[] = [];
  for await (const piece of (await sseResponse(some(), options)).body ?? []) {
    pieces.push(new TextDecoder().decode(piece));
    times.push(performance.now() - began);
  }
  expect(pieces.map((piece) => piece.match(/^data: /gm)?.length)).toEqual([100, 2, 1]);
  expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(150);
});

test("frames that come together go out together, or in pieces if they are large, before the next are taken", async () => {
  let taken = 0;
  async function* batches(): AsyncGenerator<readonly SseFrame[]> {
    for (const size of [1, 20_000, 1]) {
      taken++;
      yield Array.from({ length: 5 }, (_, id) => ({ id, data: "x".repeat(size) }));
    }
    throw new Error("broken");
  }
  const sent: [ids: string, taken: number][] = [];
  for await (const piece of (await sseResponse(batches(), options)).body ?? []) {
    const text = new TextDecoder().decode(piece);
    const ids = text.match(/(?<=^id: )\d|failed/gm)?.join("") ?? "";
    sent.push([ids, taken]);
  }
  expect(sent.map(([ids]) => ids)).toEqual(["0123401", "23", "401234failed"]);
  expect(sent.map(([, batch]) => batch)).toEqual([2, 2, 3]);
});

test("a stream that fails before its first frame is released, and fails as it did", async () => {
  let released = 0;
  const failing = { next: () => Promise.reject(new Error("no such task")) } as unknown as AsyncIterator<SseFrame>;
  await expect(sseResponse(failing, { ...options, release: () => void released++ })).rejects.toThrow("no such task");
  expect(released).toBe(1);
});

test("a stream whose first frame is long in coming begins at once, and reports a failure of it as a frame", async () => {
  const { promise, reject } = Promise.withResolvers<SseFrame>();
  async function* waiting(): AsyncGenerator<SseFrame> {
    yield await promise;
  }
  await using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: ({ url }) => sseResponse(waiting(), { ...options, heartbeatMs: url.endsWith("brief") ? 10 : 60_000 }),
  });
  const response = await fetch(server.url, { signal: AbortSignal.timeout(20_000) });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const brief = await fetch(`${server.url}brief`, { signal: AbortSignal.timeout(20_000) });
  reject(new Error("gone"));
  for (const one of [response, brief])
    expect(await one.text()).toMatch(/^: open\n\n(: keep-alive\n\n)*data: "failed"\n\n$/);
});

test("a reader that leaves while nothing comes is sent nothing more, leaves no timer, and is let go of once", async () => {
  let released = 0;
  const coming = Promise.withResolvers<IteratorResult<SseFrame>>();
  const source = { next: () => coming.promise, return: () => coming.promise };
  using begun = spyOn(globalThis, "setTimeout");
  using ended = spyOn(globalThis, "clearTimeout");
  const response = await sseResponse(source, { ...options, heartbeatMs: 59_999, release: () => void released++ });
  const reader = response.body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe(": open\n\n");
  const waiting = reader?.read();
  await until(() => begun.mock.calls.some(([, after]) => after === 59_999));
  const at = begun.mock.calls.findIndex(([, after]) => after === 59_999);
  void reader?.cancel();
  expect(await waiting).toEqual({ done: true, value: undefined });
  await until(() => ended.mock.calls.flat().includes(begun.mock.results[at]?.value as NodeJS.Timeout));
  coming.resolve({ done: true, value: undefined });
  await Bun.sleep(0);
  expect(released).toBe(1);
});

test("a frame that cannot be written is the stream's failure, and ends its source", async () => {
  const ends: string[] = [];
  async function* frames(): AsyncGenerator<readonly SseFrame[]> {
    try {
      yield [{ data: 1 }, { data: 2n }, { data: 3 }];
      yield [{ data: 4 }];
    } finally {
      ends.push("ended");
    }
  }
  const response = await sseResponse(frames(), { ...options, release: () => void ends.push("released") });
  expect(await response.text()).toBe('data: 1\n\ndata: "failed"\n\n');
  expect(ends.toSorted()).toEqual(["ended", "released"]);
});
