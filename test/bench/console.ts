import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { RunEvent } from "manyhands/internal/core/runs/run";
import { createEmbeddedEngine } from "manyhands/internal/durable/sqlite/embedded-engine";
import { startChromium } from "manyhands/internal/testing/browser/lean-chromium";
import type { Browser, CDPSession, Page } from "playwright";
import { median, startServer, timed } from "./servers/bench-server.ts";

/**
 * How long the console takes to open a run of 10,000 events, how smoothly it scrolls and what
 * memory it needs; how long a first page of 100,000 runs takes beside one of 100, and searching
 * them; what the first load weighs, and an idle minute. Run it with `bun test/bench/console.ts`; it
 * exits with 1 if a target is missed. `BENCH_RUNS` takes another number of runs.
 */
const folder = mkdtempSync(join(tmpdir(), "bench-"));
const entry = resolve(import.meta.dir, "../../gateway/src/server/main.ts");
const manyRuns = Number(process.env.BENCH_RUNS ?? 100_000);
const events = 10_000;
const longRun = "11111111-1111-7111-8111-111111111111";
const rounds = 25;

const usage = { inputTokens: 900, cachedInputTokens: 600, outputTokens: 40, costUsd: 0.001, source: "provider" };

/** Turns of a reply and two calls, as an agent's run has them. */
function turns(count: number): RunEvent[] {
  const told: RunEvent[] = [
    { type: "message-received", messageId: "m", parts: [{ type: "text", text: "A long task" }] },
  ];
  for (let turn = 1; told.length < count - 1; turn++) {
    const ids = [`a${turn}`, `b${turn}`];
    told.push({ type: "step-started", step: turn, maxSteps: 9_999 });
    const toolCalls = ids.map((id) => ({ id, name: "bash", arguments: `{"command":"step ${turn}"}` }));
    told.push({ type: "model-replied", text: "I go on.", toolCalls, usage, model: "m", milliseconds: 5 });
    for (const callId of ids) {
      told.push({ type: "tool-started", callId, name: "bash", arguments: `{"command":"step ${turn} of ${callId}"}` });
      const text = `line of output ${turn}\n`.repeat(20);
      told.push({ type: "tool-ended", callId, name: "bash", text, isError: turn % 97 === 0, milliseconds: 3 });
    }
  }
  return told.slice(0, count - 1);
}

/** Fills a home with ended runs, and one with many events. */
async function fill(home: string, runs: number): Promise<void> {
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  const start = (id: string | undefined, told: readonly RunEvent[], text: string) =>
    engine.start({
      ...(id !== undefined && { id }),
      kind: "sequential",
      principal: "local",
      contextId: "bench",
      input: { message: { messageId: "m", parts: [{ type: "text", text }] }, hops: 0 },
      canceled: true,
      events: told,
    });
  const together = 500;
  for (let from = 0; from < runs; from += together) {
    const some = Array.from({ length: Math.min(together, runs - from) }, (_, at) => {
      const text = `Task ${from + at} of the bench`;
      return start(undefined, [{ type: "message-received", messageId: "m", parts: [{ type: "text", text }] }], text);
    });
    await Promise.all(some);
  }
  await start(longRun, turns(events), "A long task");
  await engine.close();
}

const few = await startServer(folder, "few", entry, (home) => fill(home, 100));
const many = await startServer(folder, "many", entry, (home) => fill(home, manyRuns));

/** Median milliseconds of the first page, both lists in turn. */
async function listing() {
  const query = "/runs?limit=50&count=1000";
  const [short, long]: [number[], number[]] = [[], []];
  for (let round = -5; round < rounds; round++)
    for (const [{ url }, times] of [[few, short] as const, [many, long] as const]) {
      const time = await timed(async () => (await fetch(url + query)).json());
      if (round >= 0) times.push(time);
    }
  const search = await timed(async () => (await fetch(`${many.url}/runs?q=nowhere&limit=50`)).json());
  return { few: median(short), many: median(long), search };
}

/** Compressed bytes of what the first page loads. */
async function firstLoad(browser: Browser): Promise<{ bytes: number; interactive: number }> {
  const page = await browser.newPage();
  let bytes = 0;
  page.on("response", async (response) => {
    if (!response.url().includes("/console/") && new URL(response.url()).pathname !== "/") return;
    const { responseBodySize } = await response.request().sizes();
    bytes += responseBodySize;
  });
  await page.goto(`${few.url}/`);
  await page.locator("main h1").first().waitFor();
  const loaded = bytes;
  const again = await timed(async () => {
    await page.reload();
    await page.locator("main h1").first().waitFor();
  });
  await page.close();
  return { bytes: loaded, interactive: again };
}

/** Opens the long run, scrolls through it, and looks at memory. */
async function longRunFigures(browser: Browser) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(`${few.url}/#/runs`);
  await page.getByText("A long task").first().waitFor();
  const times: number[] = [];
  for (let round = 0; round < 5; round++) {
    const time = await timed(async () => {
      await page.goto(`${few.url}/#/runs/${longRun}`);
      await page.locator("[role=treeitem]").first().waitFor();
      await wholeTree(page);
    });
    times.push(time);
    if (round < 4) await page.goto(`${few.url}/#/runs`);
  }
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = (await session.send("Runtime.getHeapUsage")) as { usedSize: number };
  const rows = await page.locator("[role=treeitem]").count();
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const scrolled = async (pixels: number) => {
    const rounds: number[] = [];
    for (let round = 0; round < 5; round++) {
      const before = await taskSeconds(session);
      const drawn = (await page.evaluate(scrolling(pixels))) as number;
      rounds.push((1_000 * ((await taskSeconds(session)) - before)) / drawn);
    }
    return median(rounds);
  };
  const [wheel, flung] = [await scrolled(wheelPixels), await scrolled(flungPixels)];
  await page.close();
  return { open: median(times), wheel, flung, heap: usedSize / 1024 / 1024, rows };
}

/** Waits until every event is there. */
async function wholeTree(page: Page): Promise<void> {
  await page.getByRole("tab", { name: `Events ${events.toLocaleString("en")}` }).waitFor();
}

/** Pixels between two frames: of a wheel that is turned fast, and of a bar that is dragged. */
const [wheelPixels, flungPixels] = [67, 1_500];

/**
 * The processor time of the page's main thread. A shared machine does not change it, as it does
 * frames a second.
 */
async function taskSeconds(session: CDPSession): Promise<number> {
  const { metrics } = await session.send("Performance.getMetrics");
  return metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN;
}

/** Scrolls the tree by so much for every frame, 60 times; returns how many those were. */
const scrolling = (pixels: number) => `new Promise((resolve) => {
  const box = document.querySelector(".wf");
  let frames = 0;
  const step = () => {
    frames += 1;
    box.scrollTop = frames * ${pixels};
    if (frames < 60) requestAnimationFrame(step);
    else resolve(frames);
  };
  requestAnimationFrame(step);
})`;

/** Bytes that a console receives in a minute in which nothing happens. */
async function idleBytes(browser: Browser): Promise<number> {
  const page = await browser.newPage();
  await page.goto(`${few.url}/#/runs`);
  await page.getByText("A long task").first().waitFor();
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  let bytes = 0;
  session.on("Network.dataReceived", ({ dataLength }) => {
    bytes += dataLength;
  });
  // What loading brings is not idle yet.
  for (let before = -1; before !== bytes; await Bun.sleep(5_000)) before = bytes;
  const loaded = bytes;
  await Bun.sleep(60_000);
  await page.close();
  return bytes - loaded;
}

const browser = await startChromium();
try {
  const lists = await listing();
  const load = await firstLoad(browser);
  const run = await longRunFigures(browser);
  const idle = await idleBytes(browser);
  const rows: readonly (readonly [string, number, number | undefined, "most" | "least"])[] = [
    [`first page of ${manyRuns} runs beside one of 100 (times)`, lists.many / lists.few, 1.5, "most"],
    [`first page of ${manyRuns} runs (ms)`, lists.many, undefined, "most"],
    ["first page of 100 runs (ms)", lists.few, undefined, "most"],
    ["a page of a search without a match (ms)", lists.search, 2_000, "most"],
    ["first load, compressed (kB)", load.bytes / 1000, 250, "most"],
    ["interactive (ms)", load.interactive, 1_000, "most"],
    [`${events} events open (ms)`, run.open, 1_000, "most"],
    ["a frame while a wheel is turned (ms of the main thread)", run.wheel, 8, "most"],
    ["a frame while the bar is dragged (ms of the main thread)", run.flung, undefined, "most"],
    ["memory of the page (MB)", run.heap, 150, "most"],
    ["rows in the document", run.rows, 120, "most"],
    ["received in an idle minute (bytes)", idle, 1_000, "most"],
  ];
  let missed = false;
  for (const [name, value, target, side] of rows) {
    const isMissed = target !== undefined && (side === "most" ? value > target : value < target);
    missed ||= isMissed;
    const wanted = target === undefined ? "" : ` (at ${side} ${target})`;
    console.log(`${name}: ${value < 10 ? value.toFixed(2) : value.toFixed(0)}${wanted}${isMissed ? " missed" : ""}`);
  }
  process.exitCode = missed ? 1 : 0;
} finally {
  await browser.close();
  await Promise.all([few.stop(), many.stop()]);
  rmSync(folder, { recursive: true, force: true });
}
