import { afterEach, beforeEach, expect, mock, spyOn, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findChromium } from "./find-chromium.ts";
import { playwrightChromium } from "./playwright.ts";

let folder: string;
/** The commands of the machine. */
let commands: readonly string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "manyhands-find-"));
  commands = [];
  spyOn(Bun, "which").mockImplementation((name) => (commands.includes(name) ? `/bin/${name}` : null));
  spyOn(await playwrightChromium(), "executablePath").mockReturnValue(join(folder, "chromium-12/chrome-linux/chrome"));
});
afterEach(async () => {
  mock.restore();
  await rm(folder, { recursive: true });
});

const windowless = { headless: true };
const refusal = (needs: Parameters<typeof findChromium>[0]) =>
  findChromium(needs).catch(({ code, message }) => [code, message]);

test("the configured browser is the one that is found, and no other one takes its place", async () => {
  commands = ["chromium"];
  expect(await findChromium({ ...windowless, executable: process.execPath })).toBe(process.execPath);
  expect(await refusal({ ...windowless, executable: "/nowhere" })).toEqual(["config_invalid", expect.anything()]);
});

test("without windows a headless shell is preferred, with windows or the user's data a whole browser is needed", async () => {
  commands = ["google-chrome", "chromium-headless-shell"];
  expect(await findChromium(windowless)).toBe("/bin/chromium-headless-shell");
  expect(await findChromium({ headless: false })).toBe("/bin/google-chrome");
  expect(await findChromium({ ...windowless, userDataDir: "/home/me/agent" })).toBe("/bin/google-chrome");
  commands = ["google-chrome"];
  expect(await findChromium(windowless)).toBe("/bin/google-chrome");
});

test("a machine without one uses what Playwright downloaded, the headless shell first", async () => {
  const [whole, shell] = ["chromium-12/chrome-linux/chrome", "chromium_headless_shell-12/linux/headless_shell"];
  await Bun.write(join(folder, whole), "");
  expect(await findChromium(windowless)).toBe(join(folder, whole));
  await Bun.write(join(folder, shell), "");
  expect(await findChromium(windowless)).toBe(join(folder, shell));
  expect(await findChromium({ headless: false })).toBe(join(folder, whole));
});

test("a machine without a browser that will do says what installs one", async () => {
  expect(await refusal(windowless)).toEqual(["unavailable", expect.stringContaining("setup")]);
  commands = ["chromium-headless-shell"];
  expect(await refusal({ headless: false })).toEqual(["unavailable", expect.stringContaining("package chromium")]);
});
