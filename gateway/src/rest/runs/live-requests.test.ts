import { expect, spyOn, test } from "bun:test";
import type { Engine, RunRecord } from "manyhands/internal/core/runs/engine";
import type { RunEvent } from "manyhands/internal/core/runs/run";
import { type AskedAgent, createFamilies } from "manyhands/internal/runs/family";
import type { Runs } from "manyhands/internal/runs/runs";
import { restForTest } from "../../testing/rest.ts";
import { liveRoutes } from "./live-routes.ts";

type Sent = {
  readonly agent: AskedAgent;
  readonly principal: string;
  readonly url: string;
  readonly init: RequestInit;
};

/** The routes over a run of ann's that asked an agent twice; `answer` is what agents answer. */
function routes(answer: (init: RequestInit) => Response | Promise<Response> = () => Response.json({})) {
  const sent: Sent[] = [];
  const own: string[][] = [];
  const ask = (askId: string, url: string): RunEvent => ({
    ...{ type: "agent-asked", askId, agent: "swe", url, text: "", parts: [], hops: 1 },
  });
  const accept = (askId: string, taskId: string): RunEvent => ({
    ...{ type: "agent-accepted", askId, agent: "swe", taskId, contextId: "c" },
  });
  const events = [ask("a", "http://one"), accept("a", "t/1"), ask("b", "http://two"), accept("b", "t2")];
  const rest = restForTest(
    liveRoutes({
      runs: {
        async own(...asked: string[]) {
          own.push(asked);
          return { id: "r1", kind: "manus", principal: "ann" } as RunRecord;
        },
      } as unknown as Runs,
      families: createFamilies({
        get: async () => undefined,
        events: async () => events.map((event) => ({ event })),
      } as unknown as Engine),
      reachAgent: (agent, principal) => ({
        url: agent.url ?? "http://own",
        async fetch(url, init = {}) {
          sent.push({ agent, principal, url: String(url), init });
          return answer(init);
        },
      }),
    }),
  );
  return { ...rest, sent, own };
}

test("a run's own page is asked for where its agent is now, that of a task where the task was given", async () => {
  const { ask, sent, own } = routes();
  for (const query of ["", "?task=t%2F1", "?task=t2&screen=desktop"]) await ask("GET", `/runs/r1/live${query}`);
  expect(sent.map(({ agent, url, principal }) => [agent, url, principal])).toEqual([
    [{ name: "manus", url: undefined }, "http://own/live/r1", "ann"],
    [{ name: "swe", url: "http://one" }, "http://one/live/t%2F1", "ann"],
    [{ name: "swe", url: "http://two" }, "http://two/live/t2?screen=desktop", "ann"],
  ]);
  expect(own).toEqual(Array(3).fill(["r1", "ann"]));
  expect((await ask("GET", "/runs/r1/live?task=t3")).status).toBe(404);
});

test("nothing follows an agent elsewhere, a watcher that goes is gone there too, and pictures are kept nowhere", async () => {
  const { ask, sent } = routes();
  const gone = new AbortController();
  const shown = await ask("GET", "/runs/r1/live", { signal: gone.signal });
  const names = ["Content-Type", "Cache-Control", "X-Accel-Buffering"];
  expect(names.map((name) => shown.headers.get(name))).toEqual(["text/event-stream", "no-store", "no"]);
  const json = { do: "input", inputs: [{ type: "text", text: "x" }] };
  const limits = spyOn(AbortSignal, "timeout");
  expect(await (await ask("POST", "/runs/r1/live", { json, signal: gone.signal })).json()).toEqual({ done: true });
  expect(limits.mock.calls).toEqual([[40_000]]);
  limits.mockRestore();
  const [watched, used] = sent.map(({ init }) => init);
  expect([watched?.redirect, used?.redirect, used?.method, used?.body]).toEqual([
    ...["error", "error", "POST", JSON.stringify(json)],
  ]);
  gone.abort();
  // What a person did is done though they leave, but not waited for without end.
  expect([watched?.signal?.aborted, used?.signal instanceof AbortSignal, used?.signal?.aborted]).toEqual([
    ...[true, true, false],
  ]);
});

test.each([
  [() => Response.json({ code: "conflict", message: "Somebody has it." }, { status: 409 }), 409, "Somebody has it."],
  [() => Response.json({ code: "rate_limited", message: "x".repeat(400) }, { status: 429 }), 429, "x".repeat(300)],
  // How this gateway signs in at an agent is no matter of the caller's.
  ...[401, 403].map(
    (status) =>
      [() => Response.json({ code: "unauthorized", message: "Bad token." }, { status }), 404, undefined] as const,
  ),
  [() => Response.json({ code: "toString", message: "Odd." }, { status: 500 }), 404, undefined],
  [() => Response.json({ code: "conflict" }, { status: 409 }), 404, undefined],
  [() => new Response("<h1>Bad gateway</h1>", { status: 502 }), 404, undefined],
  [() => Promise.reject(new TypeError("fetch failed")), 424, "The agent does not answer."],
] as const)("an agent's refusal %# is told as ours, with what the caller may know", async (answer, status, detail) => {
  const { ask, reported } = routes(answer as () => Response);
  for (const init of [{ method: "GET" }, { method: "POST", json: { do: "take" } }]) {
    const refused = await ask(init.method, "/runs/r1/live", init);
    expect([refused.status, await refused.json()]).toEqual([
      status,
      expect.objectContaining({ detail: detail ?? "No page of this task can be shown here." }),
    ]);
  }
  expect(reported).toEqual([]);
});

test.each([
  ["answers", undefined],
  ["ends its refusal", 409],
] as const)(
  "an agent that never %s is given up after ten seconds, and a page that is shown is not",
  async (_, status) => {
    const { setTimeout: real } = globalThis;
    using timers = spyOn(globalThis, "setTimeout").mockImplementation(((run: () => void, ms?: number) =>
      real(run, ms === 10_000 ? 100 : ms)) as never);
    let isSilent = true;
    const { ask } = routes(({ signal }) => {
      if (!isSilent) return new Response(new ReadableStream({ start: (one) => one.enqueue(Buffer.from("a")) }));
      if (status !== undefined) return new Response(endingWith(signal), { status });
      return new Promise((_, left) => signal?.addEventListener("abort", () => left(signal.reason)));
    });
    const refused = await ask("GET", "/runs/r1/live");
    const { detail } = (await refused.json()) as { detail: string };
    expect([refused.status, detail]).toEqual([424, "The agent does not answer."]);
    isSilent = false;
    const reader = (await ask("GET", "/runs/r1/live")).body?.getReader();
    await reader?.read();
    const state = await Promise.race([reader?.read().catch(() => "cut off"), Bun.sleep(300).then(() => "still shown")]);
    expect([state, timers.mock.calls.filter(([, ms]) => ms === 10_000).length]).toEqual(["still shown", 2]);
  },
);

/** A body that never comes, and fails with the signal as that of a real answer does. */
function endingWith(signal: AbortSignal | null | undefined): ReadableStream {
  return new ReadableStream({
    start: (controller) => signal?.addEventListener("abort", () => controller.error(signal.reason)),
  });
}

test("where no agent can be reached, no page is shown", async () => {
  const runs = { own: async () => ({ id: "r1", kind: "manus", principal: "ann" }) } as unknown as Runs;
  const { ask } = restForTest(liveRoutes({ runs, families: createFamilies({} as Engine) }));
  expect((await ask("GET", "/runs/r1/live")).status).toBe(404);
});
