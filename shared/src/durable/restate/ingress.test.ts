import { afterAll, expect, spyOn, test } from "bun:test";
import { silentLog } from "../../core/runs/engine.ts";
import { Ingress } from "./ingress.ts";

/** Two addresses of one cluster that answer as they are told. */
const status = [200, 200];
const asked: { readonly at: number; readonly path: string; readonly key: string | null }[] = [];
const servers = status.map((_, at) =>
  Bun.serve({
    ...{ port: 0, hostname: "127.0.0.1" },
    fetch(request) {
      const { pathname, search } = new URL(request.url);
      asked.push({ at, path: `${request.method} ${pathname}${search}`, key: request.headers.get("idempotency-key") });
      return new Response("said", { status: status[at] ?? 500 });
    },
  }),
);
afterAll(() => Promise.all(servers.map((server) => server.stop(true))));

function open() {
  const said: string[] = [];
  const log = {
    error: (_: object, message: string) => void said.push(`error: ${message}`),
    warn: (_: object, message: string) => void said.push(`warn: ${message}`),
  };
  const urls = servers.map(({ port }) => `http://127.0.0.1:${port}`);
  const ingress = new Ingress(urls, log);
  const send = async (over: object = {}) => {
    asked.splice(0);
    return await ingress.send({ service: "s.kind", runId: "r/1", ...over });
  };
  return { send, said, at: () => asked.map(({ at }) => at) };
}

test("a drive names the run, how long it waits, and the key under which it is begun once", async () => {
  const { send } = open();
  expect(await send()).toBe(true);
  expect(asked).toEqual([{ at: 0, path: "POST /s.kind/r%2F1/drive/send", key: null }]);
  expect(await send({ delayMs: 1_500, onceAs: "wake-3" })).toBe(true);
  expect(asked).toEqual([{ at: 0, path: "POST /s.kind/r%2F1/drive/send?delay=1500ms", key: "wake-3" }]);
});

test("an address that fails is passed over, the one that answered is asked first, and a refusal is final", async () => {
  const { send, said, at } = open();
  status[0] = 503;
  expect([await send(), at()]).toEqual([true, [0, 1]]);
  expect([await send(), at()]).toEqual([true, [1]]);
  status[0] = 200;
  expect([await send(), at()]).toEqual([true, [1]]);
  status[1] = 404;
  expect([await send(), at()]).toEqual([false, [1]]);
  status[1] = 500;
  expect([await send(), at()]).toEqual([true, [1, 0]]);
  status[1] = 200;
  expect(said).toEqual([]);
});

test("while none of them answers that is said once, and that one does again once too", async () => {
  const { send, said } = open();
  status.fill(503);
  expect([await send(), await send()]).toEqual([false, false]);
  const [down, up] = [
    "error: Restate cannot be reached: runs are accepted, and wait for it.",
    "warn: Restate can be reached again.",
  ];
  expect(said).toEqual([down]);
  status.fill(200);
  expect([await send(), await send()]).toEqual([true, true]);
  expect(said).toEqual([down, up]);
  const gone = new Ingress(["http://127.0.0.1:1"], { error: (_, message) => void said.push(message), warn() {} });
  expect(await gone.send({ service: "s", runId: "r" })).toBe(false);
  expect(said).toHaveLength(3);
});

test("an address that takes a call and never answers it is passed over after two seconds", async () => {
  const never = () => new Promise<Response>(() => undefined);
  const silent = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: never });
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  const waits: number[] = [];
  using _ = spyOn(AbortSignal, "timeout").mockImplementation((ms) => timeout(waits.push(ms) === 1 ? 20 : ms));
  const ingress = new Ingress(
    [silent, servers[0]].map((server) => `http://127.0.0.1:${server?.port}`),
    silentLog,
  );
  expect([await ingress.send({ service: "s", runId: "r" }), waits]).toEqual([true, [2_000, 2_000]]);
  await silent.stop(true);
}, 10_000);
