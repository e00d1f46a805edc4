import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { profileFiles } from "manyhands/internal/machine/browser-profile/profile-files";
import { createProfileStore } from "manyhands/internal/machine/browser-profile/profile-store";
import { serveCard } from "../testing/card-server.ts";
import { accessibilityFaults, type ConsoleBrowser, openBrowser } from "../testing/console-browser.ts";
import { startGateway, type TestGateway } from "../testing/gateway.ts";

let gateway: TestGateway;
let browser: ConsoleBrowser;

beforeAll(async () => {
  [gateway, browser] = await Promise.all([startGateway(), openBrowser()]);
});
afterAll(() => Promise.all([browser?.close(), gateway?.[Symbol.asyncDispose]()]));

test("a skill is read in full and approved as it was read; one that has changed since is refused, and removed", async () => {
  const folder = join(gateway.home, "skills", "weekly-figures");
  await mkdir(join(folder, "scripts"), { recursive: true });
  const write = (text: string) =>
    writeFile(join(folder, "SKILL.md"), `---\nname: weekly-figures\ndescription: Sums up a week.\n---\n${text}\n`);
  await write("Run the **script**. <b>Always</b>.");
  await writeFile(join(folder, "scripts", "sum.py"), "print(1)\n");
  await using opened = await browser.page(`${gateway.url}/#/settings/skills`);
  const { page } = opened;
  const skill = page.locator('[data-skill="weekly-figures"]');
  await skill.getByText("Waits for your approval").waitFor();
  expect(await page.locator("[data-skill]").first().getAttribute("data-skill")).toBe("weekly-figures");
  await page.getByRole("button", { name: "Read: weekly-figures" }).click();
  await skill.getByText("Run the script. <b>Always</b>.", { exact: true }).waitFor();
  await skill.getByText("scripts/sum.py").click();
  await skill.getByText("print(1)").waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await write("Run something else.");
  await skill.getByRole("button", { name: "Approve this skill" }).click();
  await page.locator(".toast.bad").waitFor();
  await page.getByRole("button", { name: "Close: weekly-figures" }).click();
  await page.getByRole("button", { name: "Read: weekly-figures" }).click();
  await skill.getByText("Run something else.", { exact: true }).waitFor();
  await skill.getByRole("button", { name: "Approve this skill" }).click();
  await skill.getByText("Approved", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Remove: weekly-figures" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await skill.waitFor({ state: "detached" });
  expect(await readdir(join(gateway.home, "skills"))).not.toContain("weekly-figures");
});

test("an agent is added by its address, given a task from its entry, and removed", async () => {
  await using agent = serveCard("Greeter");
  await using opened = await browser.page(`${gateway.url}/#/agents`);
  const { page } = opened;
  await page.getByText("No agents").waitFor();
  const add = async (address: string) => {
    await page.getByRole("button", { name: "Add an agent" }).first().click();
    await page.getByLabel("Address of the agent or its card").fill(address);
    await page.getByRole("dialog").getByRole("button", { name: "Add", exact: true }).click();
  };
  await add("http://127.0.0.1:9");
  await page.locator(".toast.bad").waitFor();
  await page.keyboard.press("Escape");
  await add(agent.url);
  const entry = page.locator("[data-agent]", { hasText: "Greeter" });
  await entry.getByText("Up", { exact: true }).waitFor();
  await entry.getByRole("link", { name: "Give it a task" }).click();
  await page.getByRole("button", { name: "Flow or agent" }).getByText("Greeter").waitFor();
  await page.goto(`${gateway.url}/#/agents`);
  await entry.getByRole("button", { name: "Remove" }).click();
  await page.getByText("No agents").waitFor();
});

test("kept log-ins are listed by their sites, without what is in them, and deleted", async () => {
  const cookies = [{ name: "session", value: "sesame", domain: "shop.example", path: "/" }];
  const profile = await createProfileStore(profileFiles(gateway.home)).open("local", "main", "c");
  await profile.save({ cookies, origins: [] });
  await profile.release();
  await using opened = await browser.page(`${gateway.url}/#/settings/browser`);
  const { page } = opened;
  await page.getByText("shop.example").waitFor();
  expect(await page.content()).not.toContain("sesame");
  await page.getByRole("button", { name: "Delete: main" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("shop.example").waitFor({ state: "detached" });
  expect(await readdir(join(gateway.home, "browser-profiles"))).toEqual(["key"]);
});

test("a conversation is deleted with its runs, asked once", async () => {
  const init = {
    method: "POST",
    headers: { "Content-Type": "application/json", Prefer: "wait=20" },
    body: '{"input": "to be forgotten"}',
  };
  const { id, contextId } = (await (await fetch(`${gateway.url}/flows/echo`, init)).json()) as {
    id: string;
    contextId: string;
  };
  await using opened = await browser.page(`${gateway.url}/#/c/${contextId}`);
  const { page } = opened;
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Delete conversation" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  expect((await fetch(`${gateway.url}/runs/${id}`)).status).toBe(200);
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Delete conversation" }).click();
  await dialog.getByRole("button", { name: /Delete/ }).click();
  await page.getByText("The conversation is deleted.").waitFor();
  await page.getByRole("heading", { name: "What needs doing?" }).waitFor();
  expect((await fetch(`${gateway.url}/runs/${id}`)).status).toBe(404);
});

test("what is in use stands on one line with its name, in each language", async () => {
  for (const locale of ["en", "zh-CN"]) {
    await using opened = await browser.page(`${gateway.url}/#/settings/model`, { locale });
    const { page } = opened;
    await page.locator("dl dd").first().waitFor();
    // In one look: what is still being loaded moves the rest.
    const [names, values] = (await page.evaluate(
      `["dt", "dd"].map((part) => [...document.querySelectorAll("dl " + part)].map((one) => one.getBoundingClientRect().top))`,
    )) as number[][];
    expect(names?.length).toBeGreaterThan(0);
    expect([locale, names]).toEqual([locale, values]);
  }
});
