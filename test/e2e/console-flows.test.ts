import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright";
import { type ConsoleBrowser, openBrowser } from "../../gateway/src/testing/console-browser.ts";
import { until } from "../servers/gateway-server.ts";
import { type RehearsedSystem, startRehearsedSystem } from "../servers/rehearsed-system.ts";

const orders = "region,revenue\nnorth,120\nsouth,80\nnorth,30\n";

let system: RehearsedSystem;
let browser: ConsoleBrowser;

beforeAll(async () => {
  [system, browser] = await Promise.all([startRehearsedSystem(), openBrowser()]);
  await mkdir(join(system.folder, "given"));
  await writeFile(join(system.folder, "given/orders.csv"), orders);
}, 60_000);
afterAll(() => Promise.all([browser?.close(), system?.[Symbol.asyncDispose]()]));

const given = (name: string) => join(system.folder, "given", name);
const chips = (page: Page) => page.getByRole("list", { name: "Files" });

/** Drags a file of this machine over the form and lets it go there, as a person's hand does. */
async function drop(page: Page, path: string): Promise<void> {
  const { x, y, width, height } = (await page.locator(".composer").boundingBox()) ?? {
    x: 0,
    y: 0,
    width: 0,
    height: 0,
  };
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files: [path], dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"] as const)
    await session.send("Input.dispatchDragEvent", { type, x: x + width / 2, y: y + height / 2, data });
  await session.detach();
}

/** Copies a picture, as a tool for screenshots does, and pastes it. */
async function pastePicture(page: Page): Promise<void> {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.evaluate(`(async () => {
    const canvas = new OffscreenCanvas(3, 2);
    canvas.getContext("2d").fillRect(0, 0, 3, 2);
    const picture = await canvas.convertToBlob({ type: "image/png" });
    await navigator.clipboard.write([new ClipboardItem({ "image/png": picture })]);
  })()`);
  await page.getByLabel("Task", { exact: true }).focus();
  await page.keyboard.press("Control+v");
}

async function choose(page: Page, flow: string): Promise<void> {
  await page.getByRole("button", { name: "Flow or agent" }).click();
  await page.getByRole("menuitemradio", { name: flow }).first().click();
}

const ended = (page: Page) => page.locator('.head .st[data-state="completed"]').waitFor();

test("a file that is dropped and a picture that is pasted reach the agent, which works with them", async () => {
  await using opened = await browser.page(`${system.url}/`);
  const { page } = opened;
  await choose(page, "DataAnalysis");
  await drop(page, given("orders.csv"));
  await chips(page).getByText("orders.csv").waitFor();
  await pastePicture(page);
  await chips(page).getByText("image.png").waitFor();
  expect(await page.getByLabel("Task", { exact: true }).inputValue()).toBe("");
  await page.getByLabel("Task", { exact: true }).fill("Which region sold most?");
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByText("Most: north 150.").first().waitFor();
  await ended(page);
  await page.locator(".head").getByRole("link", { name: "Open run" }).click();
  await page.getByRole("tab", { name: /Files/ }).click();
  await page.locator(".file-list").getByRole("button", { name: "orders.csv" }).click();
  await page.locator(".file-shown").getByRole("cell", { name: "120" }).waitFor();
  await page.locator(".file-list").getByRole("button", { name: "image.png" }).click();
  const widths = () =>
    page
      .locator("img.picture")
      .evaluateAll((all) => all.map((image) => (image as unknown as { naturalWidth: number }).naturalWidth));
  await until(async () => (await widths()).includes(3));
});

test("a file that was dropped by mistake is taken out again and is not sent", async () => {
  await using opened = await browser.page(`${system.url}/`);
  const { page } = opened;
  await choose(page, "DataAnalysis");
  await drop(page, given("orders.csv"));
  await page.getByRole("button", { name: "Remove orders.csv" }).click();
  await chips(page).waitFor({ state: "detached" });
  await page.getByLabel("Task", { exact: true }).fill("Which region sold most?");
  const sent = page.waitForRequest((request) => request.method() === "POST");
  await page.getByRole("button", { name: "Start" }).click();
  expect((await sent).postDataJSON().input).toEqual({ text: "Which region sold most?" });
});

test("a flow's own model calls are told apart from those of the agents that it asked", async () => {
  const input = { text: "Which region sold most?", files: [{ name: "orders.csv", bytes: btoa(orders) }] };
  const branches = [{ name: "data", when: "Questions that a table answers", agent: "data-analysis" }];
  const headers = { "Content-Type": "application/json", Prefer: "wait=60" };
  const init = { method: "POST", headers, body: JSON.stringify({ input, options: { branches } }) };
  const { id } = (await (await fetch(`${system.url}/flows/conditional`, init)).json()) as { id: string };
  await using opened = await browser.page(`${system.url}/#/runs/${id}`);
  const { page } = opened;
  const own = page.getByRole("complementary", { name: "What was done" }).locator(".facts");
  await own.getByText("1 model call of its own").waitFor();
  expect(await own.getByText("Tool calls").count()).toBe(0);
  await page.getByRole("treeitem", { name: /sql_query/ }).waitFor();
  await page.getByRole("tab", { name: /Events/ }).click();
  await page.getByRole("button", { name: /model-replied choose_branch/ }).waitFor();
  await page
    .getByRole("button", { name: /message-received Which region sold most/ })
    .first()
    .waitFor();
});

/** What each pattern is given in the form, and what it then comes to. */
const composed = [
  {
    pattern: "Sequential",
    name: "first-then",
    members: [{ agent: "data-analysis", Instruction: "{goal}" }, { agent: "manus" }],
    task: "Compute the revenue per region from orders.csv, then write a short summary for the management.",
    file: true,
    answers: "summary.md says that north 150 is the most",
    toml: 'flow = "sequential"',
  },
  {
    pattern: "Parallel",
    name: "at-once",
    members: [{ agent: "manus" }, { agent: "swe" }, { agent: "data-analysis" }],
    task: "Name one advantage of working this way, in one sentence.",
    answers: "Whoever knows data looks at the data",
    toml: 'flow = "parallel"',
  },
  {
    pattern: "Conditional",
    name: "who-fits",
    members: [
      { agent: "data-analysis", "Name of the branch": "data", When: "Questions that a table answers" },
      { agent: "manus", "Name of the branch": "other", When: "Everything else" },
    ],
    task: "Which region sold most?",
    file: true,
    answers: "Most: north 150.",
    toml: 'flow = "conditional"',
  },
  {
    pattern: "Loop",
    name: "until-short",
    members: [{ agent: "manus" }],
    criteria: "One slogan of at most five words, for a bakery.",
    task: "Write a slogan for a bakery, at most five words long.",
    answers: "Warm bread, every single morning",
    toml: 'flow = "loop"',
  },
  {
    pattern: "Debate",
    name: "two-sides",
    members: [
      { agent: "manus", Position: "Before: tests first make the design clear." },
      { agent: "swe", Position: "After: tests follow once the shape of the code is known." },
    ],
    task: "Should a small team write its tests before the code or after it?",
    answers: "With the code, in the same piece of work",
    toml: 'flow = "debate"',
  },
  {
    pattern: "Planning",
    name: "by-plan",
    members: [{ agent: "data-analysis" }, { agent: "manus" }],
    task: "Find out from orders.csv which region sold most, and write a short report about it.",
    file: true,
    answers: "report.md says that north 150 is the most",
    toml: 'flow = "planning"',
  },
] as const;

test.each(composed)(
  "a flow of the pattern $pattern is composed in Build, saved, and run from the page to its right end",
  async (flow) => {
    await using opened = await browser.page(`${system.url}/#/build`);
    const { page } = opened;
    await page.getByRole("button", { name: flow.pattern, exact: true }).click();
    await page.getByLabel("Name", { exact: true }).fill(flow.name);
    await page.getByLabel("Title").fill(`Ours: ${flow.name}`);
    if ("criteria" in flow) await page.getByRole("textbox", { name: "It is done when" }).fill(flow.criteria);
    for (const [at, { agent, ...fields }] of flow.members.entries()) {
      await page.getByRole("button", { name: "Add" }).click();
      await page.getByLabel(`Agent ${at + 1}`).selectOption(agent);
      for (const [label, text] of Object.entries<string>(fields))
        await page.getByLabel(`${label} ${at + 1}`).fill(text);
    }
    await page.getByRole("button", { name: "Check" }).click();
    await page.getByText("It can be saved.").waitFor();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    const mine = page.getByRole("region", { name: "Your flows" });
    await mine.getByRole("link", { name: `Ours: ${flow.name}` }).click();
    const toml = await readFile(join(system.folder, "manyhands.toml"), "utf8");
    expect(toml).toContain(`[flows.${flow.name}]\n${flow.toml}\n`);
    await page.getByRole("button", { name: "Flow or agent" }).getByText(`Ours: ${flow.name}`).waitFor();
    if ("file" in flow) await drop(page, given("orders.csv"));
    await page.getByLabel("Task", { exact: true }).fill(flow.task);
    await page.getByRole("button", { name: "Start" }).click();
    await ended(page);
    await page.getByText(flow.answers).first().waitFor();
    expect(await page.locator(".head h1").innerText()).toContain(flow.task.slice(0, 20));
  },
);
