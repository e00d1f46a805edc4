import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createBrowsers } from "manyhands/internal/machine/browser/create-browsers";
import { browserDefaults } from "manyhands/internal/machine/browser-process/settings";
import { openWorkspace } from "manyhands/internal/machine/workspace/open-workspace";
import { estimateText } from "manyhands/internal/models/tokens";
import { browserTools } from "manyhands/internal/tools/browser/browser-tools";
import { createSnapshotStates } from "manyhands/internal/tools/observation/elements/snapshot-state";
import { observe } from "manyhands/internal/tools/observation/observe";

/**
 * What a browser tool costs compared with Playwright's own call on the same page in the same
 * minute, and the time and tokens of observing a page of 2,000 elements. Run it with
 * `bun test/bench/browser.ts`; it exits with 1 if a target is missed.
 */
const rounds = 40;
const row = (i: number) =>
  `<tr><td><a href="/i/${i}">Item ${i}</a><td>about <b>x</b> of ${i}<td><input aria-label="amount ${i}"><td><button onclick="this.title = Date.now()">Buy ${i}</button></tr>`;
const html = `<h1>Shop</h1><table>${Array.from({ length: 250 }, (_, i) => row(i)).join("")}</table>`;
const site = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: () => new Response(html, { headers: { "content-type": "text/html" } }),
});

const home = mkdtempSync(join(tmpdir(), "bench-"));
const workspace = await openWorkspace({ home, principal: "bench", contextId: "1" });
const policy = { allow: [`127.0.0.1:${site.port}`], deny: [], only: [] };
const browsers = createBrowsers({ ...browserDefaults, folder: join(home, "browser"), policy });
const looks = createSnapshotStates();
const tools = browserTools({ browsers, looks });
const { signal } = new AbortController();

async function call(name: string, input: Record<string, unknown>): Promise<string> {
  const tool = tools.find((one) => one.name === name);
  const result = await tool?.call(input, {
    signal,
    workspace,
    key: "bench",
    resultCharacters: 12_000,
    progress: () => undefined,
    ask: async () => "",
    fetch: () => Promise.reject(new Error("no web")),
  });
  if (result === undefined || result.isError) throw new Error(result?.text ?? name);
  return result.text;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

/**
 * Lets the page draw the previous action's changes, as it would while a model thinks; otherwise the
 * next measurement would include that.
 */
const rest = () => page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");

/** How much longer one takes than the other; they alternate in going first. */
async function over(tool: () => Promise<unknown>, bare: () => Promise<unknown>, toolFirst: boolean): Promise<number> {
  const order = toolFirst ? [tool, bare] : [bare, tool];
  const took: number[] = [];
  for (const work of order) {
    // A turn begins with a look.
    await look();
    await rest();
    took.push(await timed(work));
  }
  const [first = Number.NaN, second = Number.NaN] = took;
  return toolFirst ? first - second : second - first;
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

await call("browser_go_to_url", { url: `http://127.0.0.1:${site.port}/` });
const browsing = await browsers.open(workspace, signal);
const { page } = browsing.active();
const look = () => observe(browsing, { looks, vision: false, signal });
const firstLook = await timed(look);
const { text = "" } = (await look()) ?? {};
const refOf = (name: string) => new RegExp(`${name}" \\[(e\\d+)\\]`).exec(text)?.[1] ?? "";

const clicks: number[] = [];
const fills: number[] = [];
for (let round = 0; round < rounds; round++) {
  const [mine, theirs] = [2 + (round % 10), 12 + (round % 10)];
  const turn = round % 2 === 0;
  clicks.push(
    await over(
      () => call("browser_click_element", { ref: refOf(`Buy ${mine}`) }),
      () => page.locator("button").nth(theirs).click(),
      turn,
    ),
  );
  fills.push(
    await over(
      () => call("browser_input_text", { ref: refOf(`amount ${mine}`), text: `${round}` }),
      () => page.locator("input").nth(theirs).fill(`${round}`),
      turn,
    ),
  );
}
const outlines: number[] = [];
for (let round = 0; round < rounds / 2; round++) outlines.push(await timed(() => page.ariaSnapshot({ mode: "ai" })));
const observations: number[] = [];
for (let round = 0; round < rounds / 2; round++) observations.push(await timed(look));
const seen: number[] = [];
for (let round = 0; round < 8; round++)
  seen.push(await timed(() => observe(browsing, { looks, vision: true, signal })));

await browsers.close();
await site.stop(true);
rmSync(home, { recursive: true, force: true });

console.log(
  `     first look ${firstLook.toFixed(0)} ms; with an image ${median(seen).toFixed(0)} ms; Playwright's outline alone ${median(outlines).toFixed(0)} ms`,
);
const figures = [
  { name: "browser_click_element over Playwright", value: median(clicks), unit: " ms", most: 15 },
  { name: "browser_input_text over Playwright", value: median(fills), unit: " ms", most: 15 },
  { name: "look at 2,000 elements", value: median(observations), unit: " ms", most: 150 },
  { name: "its text", value: estimateText(text), unit: " tokens", most: 1_200 },
];
for (const { name, value, unit, most } of figures) {
  console.log(`${value <= most ? "ok  " : "MISS"} ${name}: ${value.toFixed(2)}${unit} (at most ${most}${unit})`);
}
process.exit(figures.every(({ value, most }) => value <= most) ? 0 : 1);
