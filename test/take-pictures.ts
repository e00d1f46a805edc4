import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import { startChromium } from "manyhands/internal/testing/browser/lean-chromium";
import type { Page } from "playwright";
import { startLivePlace } from "./servers/live-page.ts";

/**
 * Takes the pictures of the console that README and docs show: `bun test/take-pictures.ts`. Runs
 * the demo in a home of its own, starts the system there, and looks at it in Chromium.
 */
const root = resolve(import.meta.dir, "..");
const docs = join(root, "docs");
const folder = mkdtempSync(join(tmpdir(), "pictures-"));
const readyWithinMs = 60_000;

const ports = ["GATEWAY_PORT", "MANUS_PORT", "BROWSER_PORT", "SWE_PORT", "DATA_ANALYSIS_PORT"];
const chosen = Object.fromEntries(ports.map((name) => [name, `${freePort()}`]));
const url = `http://127.0.0.1:${chosen.GATEWAY_PORT}`;
const env = { PATH: process.env.PATH ?? "", HOME: folder, MANYHANDS_HOME: join(folder, "home"), ...chosen };

const command = (...args: string[]) =>
  Bun.spawn([process.execPath, join(root, "gateway/src/main.ts"), ...args], {
    cwd: folder,
    env,
    stdout: "ignore",
    stderr: "inherit",
  });

async function ready(): Promise<void> {
  for (const deadline = performance.now() + readyWithinMs; performance.now() < deadline; await Bun.sleep(200)) {
    const answer = await fetch(`${url}/agents`).catch(() => undefined);
    const { agents = [] } = answer?.ok ? ((await answer.json()) as { agents?: { health: string }[] }) : {};
    if (agents.length > 3 && agents.every(({ health }) => health === "up")) return;
  }
  throw new Error(`${url} is not ready.`);
}

type Started = { readonly id: string; readonly contextId: string };

async function demoRun(): Promise<Started> {
  const { runs } = (await (await fetch(`${url}/runs?flow=planning`)).json()) as { runs: Started[] };
  const [run] = runs;
  if (run === undefined) throw new Error("The demo left no run.");
  return run;
}

/**
 * The pages of the console never fall silent: this long after its text, a page has drawn the rest.
 */
const drawnMs = 1_500;

/** A picture of a place once it shows `text`, after `act` if given. */
async function take(
  page: Page,
  { place, text, file, act }: { place: string; text: string; file: string; act?: () => Promise<void> },
): Promise<void> {
  await page.goto("about:blank");
  await page.goto(`${url}/${place}`);
  await page.getByText(text).first().waitFor();
  await act?.();
  await Bun.sleep(drawnMs);
  await page.screenshot({ path: join(docs, file) });
}

/** Chooses the first call of the tree and zooms in on it. */
async function openFirstCall(page: Page): Promise<void> {
  await page
    .getByRole("treeitem", { name: /bash|python_execute|sql_query/ })
    .first()
    .click();
  for (const key of ["+", "+"]) await page.keyboard.press(key);
}

/** A second run to compare with: the demo's task again, whose web site is gone by now. */
async function runAgain({ id }: Started): Promise<Started> {
  return post(`/runs/${id}/rerun`, {});
}

/** Runs the example of every flow, so that the list of runs has something to show. */
async function runExamples(): Promise<void> {
  const { flows } = (await (await fetch(`${url}/flows`)).json()) as {
    flows: { name: string; example?: object }[];
  };
  for (const { name, example } of flows) if (example !== undefined) await post(`/flows/${name}`, example);
}

/** Posts, and waits until the run that this starts has ended. */
async function post(path: string, body: object): Promise<Started> {
  const headers = { "Content-Type": "application/json", Prefer: "wait=60" };
  const response = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  const started = (await response.json()) as Started;
  await (await fetch(`${url}/runs/${started.id}/events`)).text();
  return started;
}

/** A picture of an agent's page that a person has taken over. */
async function takeLivePage(page: Page): Promise<void> {
  await using place = await startLivePlace();
  const { id } = await place.ask();
  await page.goto(`${place.gateway.url}/#/runs/${id}/live`);
  await page.getByRole("button", { name: "Take over" }).click();
  await page.locator("[data-live-screen] img").waitFor();
  await page.locator("[data-live-screen]").click({ position: { x: 300, y: 100 } });
  await Bun.sleep(drawnMs);
  await page.screenshot({ path: join(docs, "pictures/live.png") });
}

const demo = command("demo");
if ((await demo.exited) !== 0) throw new Error("The demo failed.");
const system = command("start");
const browser = await startChromium();
try {
  await ready();
  mkdirSync(join(docs, "pictures"), { recursive: true });
  const run = await demoRun();
  await runExamples();
  const again = await runAgain(run);
  const desk = { viewport: { width: 1360, height: 850 } };
  const light = await browser.newPage({ ...desk, colorScheme: "light" });
  const dark = await browser.newPage({ ...desk, colorScheme: "dark" });
  const phone = await browser.newPage({ viewport: { width: 390, height: 844 }, colorScheme: "light" });
  const timeline = { place: `#/runs/${run.id}`, text: "Timeline" };
  await take(light, { place: "#/", text: "What needs doing?", file: "pictures/start.png" });
  await take(light, { ...timeline, file: "console.png" });
  await take(dark, { ...timeline, file: "pictures/run-dark.png" });
  await take(light, { ...timeline, file: "pictures/waterfall.png", act: () => openFirstCall(light) });
  await take(light, { place: `#/c/${run.contextId}`, text: "Spent", file: "pictures/conversation.png" });
  await take(light, { place: "#/runs", text: "Worked on by", file: "pictures/runs.png" });
  await take(light, { place: `#/compare?a=${run.id}&b=${again.id}`, text: "Calls of", file: "pictures/compare.png" });
  await take(light, { place: "#/settings", text: "Appearance", file: "pictures/settings.png" });
  await take(phone, { ...timeline, file: "pictures/phone.png" });
  await takeLivePage(light);
} finally {
  await browser.close();
  system.kill();
  await system.exited;
  rmSync(folder, { recursive: true, force: true });
}
