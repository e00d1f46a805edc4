import { expect, spyOn, test } from "bun:test";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../config/config.ts";
import * as making from "../../machine/browser/create-browsers.ts";
import { startEgressProxy } from "../../machine/egress/proxy.ts";
import { openWorkspace } from "../../machine/workspace/open-workspace.ts";
import { processesOf } from "../../testing/browser/browsers.ts";
import { openBrowser } from "./open-browser.ts";

async function configured(settings: string) {
  const home = await mkdtemp(join(tmpdir(), "manyhands-open-browser-"));
  await Bun.write(join(home, "manyhands.toml"), `home = "."\n${settings}`);
  const config = await loadConfig({ cwd: home, env: {} });
  return { home, config, [Symbol.asyncDispose]: () => rm(home, { recursive: true, force: true }) };
}

test("OpenManus's keys for the browser and our own take effect", async () => {
  const site = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("hello") });
  const host = `127.0.0.1:${site.port}`;
  const proxied: string[] = [];
  const operators = await startEgressProxy({ policy: { allow: [host], deny: [], only: [] } });
  const { username, password } = operators.admit(({ target }) => proxied.push(target));
  await using at = await configured(`
[egress]
allow = ["${host}"]
[browser]
disable_security = true
extra_chromium_args = ["--some-argument=of-the-operator"]
window_width = 900
window_height = 700
locale = "de-DE"
[browser.proxy]
server = "${operators.url}"
username = "${username}"
password = "${password}"
`);
  const { browsers } = await openBrowser(at.config);
  try {
    const workspace = await openWorkspace({ home: at.home, principal: "alice", contextId: "c1" });
    const { signal } = new AbortController();
    const browsing = await browsers?.open(workspace, signal);
    const seen = await browsing?.act(
      async (page) => {
        await page.goto(`http://${host}/page`);
        return await page.evaluate("[innerWidth, innerHeight, navigator.language]");
      },
      { signal, timeoutMs: 8_000 },
    );
    expect(seen).toEqual([900, 700, "de-DE"]);
    expect(proxied).toContain(`http://${host}/page`);
    const started = processesOf(at.home);
    expect(started).not.toEqual([]);
    for (const argument of ["--some-argument=of-the-operator", "--disable-web-security"])
      expect(processesOf(argument).some((pid) => started.includes(pid))).toBe(true);
  } finally {
    await browsers?.close();
    await Promise.all([operators.close(), site.stop(true)]);
  }
});

/** What a browser is opened with under these settings; nothing is started. */
async function settingsOf(toml: string, parts: Parameters<typeof openBrowser>[1] = {}) {
  await using at = await configured(toml);
  using create = spyOn(making, "createBrowsers").mockReturnValue({} as never);
  await openBrowser(at.config, parts);
  return { ...create.mock.calls[0]?.[0], home: at.home };
}
const remote = '[browser]\ncdp_url = "http://127.0.0.1:1"';

test("every bound of the settings counts, in the browser's units, and so does each part that is given", async () => {
  const bounds = await settingsOf(`${remote}
headless = false
patience_seconds = 7
idle_seconds = 8
max_contexts = 3
max_tabs = 4
max_download_bytes = 5000
timezone = "Europe/Berlin"
geolocation = { latitude = 0, longitude = 13.4 }
[egress]
deny = ["evil.example"]`);
  expect(bounds).toMatchObject({
    ...{ patienceMs: 7_000, idleMs: 8_000, contexts: 3, tabs: 4, downloadBytes: 5_000, headless: false },
    ...{ cdpUrl: "http://127.0.0.1:1", ownContext: false, folder: join(bounds.home, "browser") },
    ...{ timezone: "Europe/Berlin", geolocation: { latitude: 0, longitude: 13.4 } },
    policy: { deny: ["evil.example"] },
  });
  const parts = {
    secretIn: () => undefined,
    profile: { name: "main", store: {} as never },
    loopback: async () => ({}) as never,
  };
  expect(await settingsOf(remote, parts)).toMatchObject(parts);
});

test("the browser's own proxy goes before that of all requests, and there may be none", async () => {
  const all = '[egress]\nproxy = "http://all.example:1"';
  const own = '[browser.proxy]\nserver = "http://own.example:1"\nusername = "me"\npassword = "word"';
  const shown = { server: "http://own.example:1", username: "me", password: "word" };
  expect((await settingsOf(`${remote}\n${own}\n${all}`)).upstream).toEqual(shown);
  expect((await settingsOf(`${remote}\n${all}`)).upstream).toEqual({ server: "http://all.example:1" });
  expect((await settingsOf(remote)).upstream).toBeUndefined();
});

test.each(["cdp_url", "wss_url"])("a browser that runs elsewhere, at %s, needs no program here", async (key) => {
  const url = key === "cdp_url" ? "http://127.0.0.1:1" : "ws://127.0.0.1:1";
  const settings = await settingsOf(`[browser]\n${key} = "${url}"\nchrome_instance_path = "/nowhere/chromium"`);
  expect(settings).toMatchObject({ [key === "cdp_url" ? "cdpUrl" : "wssUrl"]: url });
});

test("a user's own browser is used where the settings say so without a doubt", async () => {
  expect(await settingsOf(`${remote}\ncontext = "own"`)).toMatchObject({ ownContext: true });
});

test("without a browser there is a reason, and a missing configured one is an error in the settings", async () => {
  await using off = await configured("[browser]\nenabled = false");
  expect(await openBrowser(off.config)).toMatchObject({ browsers: undefined, missing: expect.stringContaining("off") });
  await using wrong = await configured('[browser]\nchrome_instance_path = "/nowhere/chromium"');
  expect(await openBrowser(wrong.config).catch((error) => error.code)).toBe("config_invalid");
});

test("what a killed server left of its browser is removed when the next server starts, even without browsing", async () => {
  await using at = await configured("");
  const folder = join(at.home, "browser");
  await mkdir(join(folder, `${process.pid}-1-${crypto.randomUUID()}`, "browser-x"), { recursive: true });
  const { browsers } = await openBrowser(at.config);
  expect(await readdir(folder)).toEqual([]);
  await browsers?.close();
});
