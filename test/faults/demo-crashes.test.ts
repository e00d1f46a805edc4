import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { TaskState } from "@a2a-js/sdk";
import { createA2aClient } from "manyhands/internal/a2a/client/client";
import type { OutgoingMessage } from "manyhands/internal/a2a/client/outgoing-message";
import type { TaskUpdate } from "manyhands/internal/a2a/client/task-update";
import type { StoredEvent } from "manyhands/internal/core/runs/engine";
import { createEmbeddedEngine } from "manyhands/internal/durable/sqlite/embedded-engine";
import { freePort } from "manyhands/internal/http/free-port";
import { ordersReport } from "manyhands/internal/models/rehearsal/orders/orders-report";
import { sweepSize } from "manyhands/internal/testing/sweep-size";
import { startManus } from "../servers/manus-server.ts";
import { startCountedModel } from "./counted-model.ts";

const orders = resolve(import.meta.dir, "../../gateway/demo/orders.csv");
const lanes = 2;
/** Kill at every n-th durable write, in turn just before it and just after. */
const stride = sweepSize({ quick: 11, usual: 5, full: 1 });
const patience = 60_000;

type Outcome = {
  readonly crashed: boolean;
  readonly events: readonly StoredEvent[];
  readonly seen: readonly number[];
  readonly asked: number;
  readonly report: string;
  readonly state: TaskState | undefined;
};

/**
 * The demo task against a server that kills itself at the given durable write, and is then
 * restarted.
 */
async function demo(crashAt: string): Promise<Outcome> {
  const home = await mkdtemp(join(tmpdir(), "manyhands-crash-"));
  const model = await startCountedModel();
  const env = {
    MANYHANDS_HOME: home,
    PORT: `${freePort()}`,
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: "none",
    MANYHANDS_MODEL: "rehearsal",
  };
  let server = startManus({ ...env, CRASH_AT: crashAt });
  let crashed = false;
  const watched = server.exited.then((code) => {
    crashed = code === 137;
    if (crashed) server = startManus(env);
  });
  try {
    await Promise.race([server.ready.catch(() => undefined), watched]);
    await server.ready;
    const message: OutgoingMessage = {
      messageId: "the-demo",
      contextId: "demo",
      parts: [
        { content: { $case: "text", value: ordersReport.task }, filename: "", mediaType: "", metadata: undefined },
        {
          content: { $case: "raw", value: Buffer.from(await Bun.file(orders).bytes()) },
          filename: "orders.csv",
          mediaType: "text/csv",
          metadata: undefined,
        },
      ],
    };
    const updates = await followDemo(server.url, message);
    const end = updates.findLast((update) => update.kind === "end");
    const task = end?.kind === "end" ? end.task : undefined;
    const file = task?.artifacts.find(({ name }) => name === "report.md")?.parts[0]?.content;
    const report = file?.$case === "url" ? await (await fetch(file.value)).text() : "";
    await server.stop();
    const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
    const events = task === undefined ? [] : await engine.events(task.id);
    await engine.close();
    const seen = updates.flatMap((update) => ("seq" in update && update.seq !== undefined ? [update.seq] : []));
    return { crashed, events, seen, asked: model.asked(), report, state: task?.status?.state };
  } finally {
    await server.stop("SIGKILL");
    await model.close();
    await rm(home, { recursive: true, force: true });
  }
}

/** Everything the client reports of the demo, over as many connections as it takes. */
async function followDemo(url: string, message: OutgoingMessage): Promise<TaskUpdate[]> {
  const signal = AbortSignal.timeout(patience);
  const retry = { retries: 40, firstPauseMs: 50 };
  const client = await createA2aClient(url, { retry, signal });
  const updates: TaskUpdate[] = [];
  for await (const update of client.stream(message, { signal })) updates.push(update);
  return updates;
}

/**
 * The report without its last section: after an interrupted call the numbers may be computed
 * another way, which that section says.
 */
function numbersOf(report: string): string {
  return report.split("## How it was counted")[0] ?? "";
}

function check(at: string, { events, seen, asked, report, state }: Outcome, expected: string): void {
  const label = `CRASH_AT=${at}`;
  expect([label, state]).toEqual([label, TaskState.TASK_STATE_COMPLETED]);
  expect([label, numbersOf(report)]).toEqual([label, numbersOf(expected)]);
  expect([label, events.map(({ seq }) => seq)]).toEqual([label, events.map((_, index) => index + 1)]);
  const ofType = (type: string) => events.filter(({ event }) => event.type === type).map(({ event }) => event);
  expect([label, ofType("run-ended").length]).toEqual([label, 1]);
  const ended = ofType("tool-ended").map((event) => String(event.callId));
  expect([label, ended]).toEqual([label, [...new Set(ended)]]);
  const replies = ofType("model-replied").length;
  expect(asked - replies, `${label}: replies that were paid for and not recorded`).toBeLessThanOrEqual(1);
  expect([label, seen]).toEqual([label, [...new Set(seen)].sort((one, other) => one - other)]);
}

test("kill -9 at any durable write of the demo: it finishes, and no recorded step is repeated", async () => {
  const whole = await demo("100000");
  expect(whole.crashed).toBe(false);
  expect(whole.report).toContain("76,704.20");
  let next = 1;
  let ended = false;
  const lane = async () => {
    while (!ended) {
      const n = next;
      next += stride;
      const at = n % 2 === 0 ? `${n}+` : `${n}`;
      const outcome = await demo(at);
      check(at, outcome, whole.report);
      if (!outcome.crashed) ended = true;
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  expect(next).toBeGreaterThan(20);
}, 600_000);
