import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { workspaceKey } from "manyhands/internal/machine/workspace/open-workspace";
import type { Page } from "playwright";
import { accessibilityFaults, type ConsoleBrowser, openBrowser } from "../testing/console-browser.ts";
import { startGateway, type TestGateway } from "../testing/gateway.ts";

const pdf = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>/Contents 4 0 R>>endobj
4 0 obj<</Length 44>>stream
BT /F1 24 Tf 40 100 Td (Hello whales) Tj ET
endstream endobj
trailer<</Root 1 0 R>>`;

/** Whoever is told of it, is told here. */
const spied: string[] = [];
const spy = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: ({ url }) => new Response(`${spied.push(url)}`),
});

/** A page that tries everything to run, to load, to send and to lead away. */
const hostilePage = `<html><head><base href="${spy.url.origin}/"><title>Report</title>
<meta http-equiv="refresh" content="0;url=${spy.url.origin}/meta">
<link rel="dns-prefetch" href="//spy.invalid"><link rel="stylesheet" href="${spy.url.origin}/a.css">
<style>h1 { color: rgb(1, 2, 3); background: url(${spy.url.origin}/css.png) }</style></head>
<body onload="parent.hacked = 1"><h1>Revenue</h1><a href="${spy.url.origin}/link">a link</a><script>top.hacked = 2; document.title = "ran"</script>
<img src="x" onerror="parent.hacked = 3"><img src="${spy.url.origin}/a.png">
<noscript><p title="</noscript><meta http-equiv=refresh content='0;url=${spy.url.origin}/noscript'>"></noscript>
<form action="${spy.url.origin}/form"><button>Send</button></form>
<iframe src="${spy.url.origin}/frame"></iframe></body></html>`;

const files: Readonly<Record<string, string>> = {
  "report/index.html": hostilePage,
  "report/paper.pdf": pdf,
  "data/deep/orders.csv": "day,sum\n2026-04-01,12.50\n2026-04-02,7\n",
  "data/deep/many.csv": `n\n${Array.from({ length: 600 }, (_, at) => `row ${at + 1}\n`).join("")}`,
  "data/deep/people.tsv": "name\tcity\nAnn\tUtrecht, NL\n",
  "notes.md": "# Findings\n\nThe **best** month is April.\n",
  "visualization/sales.json": JSON.stringify({
    ...{ title: "<b>Sales</b>", language: "en", csvFilePath: "sales.csv", insights: [], shown: [] },
    columns: [
      { name: "month", kind: "name" },
      { name: "units", kind: "number" },
    ],
    rows: [
      ["Jan", 3],
      ["<img src=x onerror=parent.hacked=4>", 5],
    ],
    spec: {
      mark: { type: "bar", href: `${spy.url.origin}/href` },
      encoding: {
        x: { field: "month", type: "nominal" },
        y: { field: "units", type: "quantitative" },
        url: { value: `${spy.url.origin}/mark.png` },
      },
      params: [{ name: "sent", expr: `warn('${spy.url.origin}') || parent.hacked` }],
      transform: [
        { lookup: "month", from: { data: { url: `${spy.url.origin}/data.json` }, key: "month", fields: ["x"] } },
      ],
    },
  }),
  "visualization/plain.json": JSON.stringify({
    ...{ title: "<b>Plain</b>", language: "en", csvFilePath: "sales.csv", insights: [], shown: [] },
    columns: [
      { name: "month", kind: "name" },
      { name: "units", kind: "number" },
    ],
    rows: [
      ["Jan", 3],
      ["<img src=x onerror=parent.hacked=4>", 5],
    ],
    spec: {
      mark: "bar",
      encoding: { x: { field: "month", type: "nominal" }, y: { field: "units", type: "quantitative" } },
    },
  }),
  "visualization/plain.html": "<h1>the page of the chart</h1>",
  "main.py": 'print("whales")\n',
  "nothing.txt": "",
  "long.csv": `n,word\n${"7,whale\n".repeat(400_000)}`,
  "long.log": "spout\n".repeat(400_000),
  "broken.png": "no picture",
};

let gateway: TestGateway;
let browser: ConsoleBrowser;
let id: string;

beforeAll(async () => {
  [gateway, browser] = await Promise.all([startGateway(), openBrowser({ whole: true })]);
  const body = JSON.stringify({
    input: { text: "Count", files: [{ name: "../out/sum.txt", bytes: Buffer.from("42").toString("base64") }] },
    contextId: "filed",
  });
  const headers = { "Content-Type": "application/json", Prefer: "wait=20" };
  ({ id } = (await (await fetch(`${gateway.url}/flows/echo`, { method: "POST", headers, body })).json()) as {
    id: string;
  });
  const root = join(gateway.home, "workspaces", workspaceKey("echo/local", "filed"), "files");
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await Bun.write(join(root, path), content);
  }
});
afterAll(() => Promise.all([browser?.close(), gateway?.[Symbol.asyncDispose](), spy.stop(true)]));

const open = (look = {}) => browser.page(`${gateway.url}/#/runs/${id}?tab=files`, look);
const choose = (page: Page, name: string) => page.locator(".file-list").getByRole("button", { name }).click();
const shown = (page: Page) => page.locator(".file-shown");

test("the files of a workspace stand in their folders, and each is shown as what it is", async () => {
  await using opened = await open();
  const { page } = opened;
  await page.locator(".file-list summary", { hasText: "data/deep" }).waitFor();
  await choose(page, "orders.csv");
  await shown(page).getByRole("cell", { name: "12.50" }).waitFor();
  await choose(page, "people.tsv");
  await shown(page).getByRole("cell", { name: "Utrecht, NL" }).waitFor();
  await choose(page, "many.csv");
  await shown(page).getByText("First 500 of 600 rows.").waitFor();
  await shown(page).getByRole("button", { name: "Show all" }).click();
  await shown(page).getByRole("cell", { name: "row 600" }).waitFor();
  await choose(page, "notes.md");
  await shown(page).getByRole("heading", { name: "Findings" }).waitFor();
  await choose(page, "main.py");
  await shown(page).getByText('print("whales")').waitFor();
  await choose(page, "nothing.txt");
  await shown(page).getByText("This file is empty.").waitFor();
  await choose(page, "broken.png");
  await shown(page).getByText("No preview for this kind of file.").waitFor();
  await choose(page, "long.csv");
  await shown(page).getByText("The beginning of the file: 200 kB of 3.2 MB.").waitFor();
  await shown(page).getByRole("cell", { name: "whale" }).first().waitFor();
  await choose(page, "long.log");
  await shown(page).getByText("The beginning of the file: 200 kB of 2.4 MB.").waitFor();
  await shown(page).getByText("spout").first().waitFor();
  await choose(page, "paper.pdf");
  const showsPdfs = await page.evaluate("navigator.pdfViewerEnabled");
  await shown(page)
    .locator(showsPdfs ? `iframe[src^="blob:${gateway.url}"]` : "p.t3")
    .waitFor();
  // By keys alone: a folder closes and opens.
  const folder = page.locator(".file-list summary", { hasText: "data/deep" });
  await folder.focus();
  await page.keyboard.press("Enter");
  await page.locator(".file-list").getByRole("button", { name: "orders.csv" }).waitFor({ state: "hidden" });
});

test("a page that an agent wrote looks like itself, and runs, loads, sends and leads to nothing", async () => {
  await using opened = await open();
  const { page } = opened;
  await choose(page, "index.html");
  const frame = page.frameLocator(".page-shown");
  const heading = frame.getByRole("heading", { name: "Revenue" });
  await heading.waitFor();
  const inside = page.frames().find((one) => one.url().endsWith("/frame"));
  expect(await inside?.evaluate("getComputedStyle(document.querySelector('h1')).color")).toBe("rgb(1, 2, 3)");
  expect(await inside?.evaluate("[origin, document.title]")).toEqual(["null", "Report"]);
  const attempt = async (code: string) => inside?.evaluate(code).then(String, (error) => `refused: ${error.name}`);
  for (const code of ["parent.document.title", "localStorage.length", "document.cookie"])
    expect(await attempt(code)).toStartWith("refused");
  await frame.getByText("a link").click();
  expect(await inside?.evaluate("document.querySelectorAll('script, link, base, meta, iframe, [href]').length")).toBe(
    0,
  );
  expect(await page.evaluate("window.hacked")).toBeUndefined();
  expect(await heading.count()).toBe(1);
  expect(spied).toEqual([]);
  await page.getByRole("button", { name: "Show its text" }).click();
  await shown(page).getByText("parent.hacked = 1").waitFor();
});

/** Whatever leads away, or has names resolved, in each of its ways. */
const leading = `<head><base href="/b"><link rel="preload" href="/l"><meta http-equiv="refresh" content="9">
<meta name="kept"><script src="/s"></script></head><body><h1>Kept</h1><iframe></iframe><object></object><embed>
<a href="/a" target="_top" ping="/p">a</a><map><area href="/m" ping="/p" target="_top"></map>
<svg><a xlink:href="/x"><text>x</text></a></svg><form action="/f" target="_top"><button>f</button></form></body>`;

test("the frame takes one page, from the window around it alone, without what leads away", async () => {
  await using opened = await browser.page(`${gateway.url}/docs`);
  const { page } = opened;
  const framed = async (src: string) => {
    const heard = await page.evaluate(`new Promise((resolve) => {
      const frame = document.createElement("iframe");
      addEventListener("message", ({ data, origin }) => resolve([data, origin]), { once: true });
      if ("${src}" === "") frame.addEventListener("load", () => resolve([]));
      frame.src = "${src}";
      document.body.append(frame);
    })`);
    return { heard, frame: page.frames().at(-1) };
  };
  const frames = [await framed("/frame"), await framed("/frame"), await framed("/frame"), await framed("")];
  const [own, foreign, last, beside] = frames.map(({ frame }) => frame);
  expect(frames[0]?.heard).toEqual(["ready", "null"]);
  const arrival = "window.arrived = new Promise((resolve) => addEventListener('message', resolve)); 0";
  await foreign?.evaluate(arrival);
  await beside?.evaluate("parent.frames[1].postMessage('<h1>From beside</h1>', '*')");
  await foreign?.evaluate("window.arrived.then(() => 0)");
  expect(await foreign?.locator("h1").count()).toBe(0);

  const left = async (at: number, text: string) => {
    const frame = [own, foreign, last][at];
    await frame?.evaluate(arrival);
    await page.evaluate(`frames[${at}].postMessage(${JSON.stringify(text)}, "*")`);
    await frame?.evaluate("window.arrived.then(() => 0)");
    return await frame?.evaluate(`[...document.querySelectorAll("*")].map(({ localName, attributes }) =>
      [localName, ...[...attributes].map(({ name }) => name)].join(" ")).join(", ")`);
  };
  const kept = "html, head, meta name, body, h1, a, map, area, svg, a, text, form, button";
  expect([await left(0, leading), await left(0, "<h1>Another</h1>")]).toEqual([kept, kept]);
  expect(await left(2, "<frameset><frame src=/f></frameset>")).toBe("html, head");
});

test("the frame serves nothing by itself, and no other site may show it", async () => {
  const response = await fetch(`${gateway.url}/frame`);
  const policy = response.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("sandbox allow-scripts;");
  expect(policy).not.toContain("allow-same-origin");
  expect(policy).toContain("frame-ancestors 'self'");
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/script-src[^;]*(?:unsafe|self|\*)/);
});

test("a chart answers to the pointer in a frame of its own, and what it names is not loaded", async () => {
  await using opened = await open();
  const { page } = opened;
  for (const name of ["plain.json", "plain.html"]) {
    await choose(page, name);
    const frame = page.frameLocator(".chart-shown");
    const bars = frame.locator("svg [aria-roledescription=bar]");
    await bars.nth(1).hover();
    await frame.locator("#vg-tooltip-element.visible").getByText("<img src=x onerror=parent.hacked=4>").waitFor();
    const inside = page.frames().find((one) => one.url().endsWith("/frame/chart"));
    expect(await inside?.evaluate("[origin, document.images.length]")).toEqual(["null", 0]);
    const attempt = async (code: string) => inside?.evaluate(code).then(String, (error) => `refused: ${error}`);
    expect(await attempt("parent.document.title")).toContain("refused");
  }
  expect(await accessibilityFaults(page)).toEqual([]);
  await choose(page, "sales.json");
  await shown(page).getByText("The chart cannot be drawn here.").waitFor();
  expect(await page.evaluate("window.hacked")).toBeUndefined();
  expect(spied).toEqual([]);
});

test("the frame of charts runs its own scripts, has no origin, and no other site may show it", async () => {
  const response = await fetch(`${gateway.url}/frame/chart`);
  const policy = response.headers.get("content-security-policy") ?? "";
  expect(policy).toMatch(/^sandbox allow-scripts allow-downloads; default-src 'none'; script-src( 'sha256-[^']+'){2};/);
  expect(policy).toContain("frame-ancestors 'self'");
  const etag = response.headers.get("etag") ?? "";
  const again = await fetch(`${gateway.url}/frame/chart`, { headers: { "If-None-Match": etag } });
  expect([again.status, again.headers.get("content-security-policy")]).toEqual([304, policy]);
});

test("all files come as one archive: results and workspaces, nothing that leads out of its folder", async () => {
  await using opened = await open();
  const { page } = opened;
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download all" }).click();
  const download = await saved;
  expect(download.suggestedFilename()).toBe(`run-${id}.tar.gz`);
  const folder = join(gateway.home, "unpacked");
  await mkdir(folder);
  await Bun.$`tar -xzf ${await download.path()} -C ${folder}`.quiet();
  const names = await Array.fromAsync(new Bun.Glob("**/*").scan({ cwd: folder }));
  const unpacked = new Map(
    await Promise.all(names.map(async (name) => [name, await Bun.file(join(folder, name)).text()] as const)),
  );
  const expected = Object.entries(files).map(([path, content]) => [`echo/${path}`, content] as const);
  expect(new Map([...unpacked].toSorted())).toEqual(
    new Map([...expected, ["results/sum.txt", "42"] as const].toSorted()),
  );
});

test.each(["light", "dark"] as const)(
  "axe finds nothing in the files, and a phone needs no scrolling sideways, %s",
  async (colorScheme) => {
    await using opened = await open({ colorScheme });
    const { page } = opened;
    for (const name of ["index.html", "orders.csv", "paper.pdf"]) {
      await choose(page, name);
      await shown(page).locator("iframe, table, p.t3").first().waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
    }
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
    // What was chosen is below the list there.
    await choose(page, "orders.csv");
    const head = shown(page).getByRole("heading", { name: "orders.csv" });
    for (const deadline = Date.now() + 10_000; Date.now() < deadline; await Bun.sleep(50))
      if (((await head.boundingBox())?.y ?? 844) < 600) break;
    expect((await head.boundingBox())?.y).toBeLessThan(600);
  },
);
