import { afterAll, expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "manyhands/internal/config/config";
import { checkBrowser } from "./browser-check.ts";

const home = mkdtempSync(join(tmpdir(), "manyhands-browser-check-"));
afterAll(() => rm(home, { recursive: true }));
const configured = (env: Record<string, string>) => loadConfig({ cwd: home, env: { MANYHANDS_HOME: home, ...env } });

test("the browser is well when a page of this process opened in it and its script ran", async () => {
  const check = await checkBrowser(await configured({}));
  expect(check).toMatchObject({ name: "browser", state: "ok", text: expect.stringContaining("chromium") });
}, 30_000);

test("a browser that is switched off, or not where it is said to be, is told", async () => {
  expect(await checkBrowser(await configured({ MANYHANDS_BROWSER_ENABLED: "false" }))).toMatchObject({ state: "warn" });
  const check = await checkBrowser(await configured({ MANYHANDS_BROWSER_CDP_URL: "http://127.0.0.1:9" }));
  expect(check).toMatchObject({ state: "fail", text: "The browser at 127.0.0.1:9 cannot be reached." });
}, 30_000);
