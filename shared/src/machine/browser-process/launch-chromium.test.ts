import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { appearance } from "./appearance.ts";
import { launchChromium } from "./launch-chromium.ts";
import type { OwnStart } from "./own-browser.ts";
import { playwrightChromium } from "./playwright.ts";
import { type BrowserSettings, browserDefaults } from "./settings.ts";

const isRoot = process.getuid?.() === 0;
let base: string;
let executable: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "manyhands-launch-"));
  await chmod(base, 0o755);
  await mkdir(join(base, "program"));
  await mkdir(join(base, "told"));
  // The browser runs as another user.
  await chmod(join(base, "told"), 0o777);
  executable = join(base, "program/chromium");
  // In place of a browser: says how it was started, and ends.
  const script = [
    "#!/bin/sh",
    'if [ "$*" = --version ]; then echo "Chromium 140.0.1"; exit; fi',
    ...[
      "printf '%s\\n' \"$@\" >ARGS",
      "env >ENV",
      "{ pwd; id -u; } >PLACE",
      "echo 'error: that is all' >&2; exit 3",
      "",
    ],
  ].join("\n");
  const told = join(base, "told");
  const named = ["ARGS", "ENV", "PLACE"].reduce((text, name) => text.replace(`>${name}`, `>${told}/${name}`), script);
  await writeFile(executable, named, { mode: 0o755 });
});
afterEach(() => rm(base, { recursive: true }));

/** How a browser with these settings is started. */
async function started(changes: Partial<BrowserSettings> = {}, own?: OwnStart) {
  const settings = { ...browserDefaults, folder: base, policy: { allow: [], deny: [], only: [] }, ...changes };
  const parent = join(base, "server");
  for (const name of await readdir(join(base, "told"))) await rm(join(base, "told", name));
  await mkdir(parent, { recursive: true });
  await chmod(parent, 0o711);
  const launching = launchChromium(parent, executable, { proxyUrl: "http://127.0.0.1:1", settings, own });
  await expect(launching).rejects.toMatchObject({
    code: "unavailable",
    message: `The browser ${executable} did not start: error: that is all`,
  });
  // Whatever became of it, nothing of it is left.
  expect(await readdir(parent)).toEqual([]);
  const [args = [], env = [], place = []] = await Promise.all(
    ["ARGS", "ENV", "PLACE"].map(async (name) => (await readFile(join(base, "told", name), "utf8")).trim().split("\n")),
  );
  const wordOf = (name: string) => args.findLast((arg) => arg.startsWith(`${name}=`))?.slice(name.length + 1);
  return { args, place, wordOf, env: Object.fromEntries(env.map((line) => line.split(/=(.*)/s))) };
}

test("a browser resolves no name, sends nothing past the proxy, has its own sandbox, and nothing of the server's", async () => {
  process.env.MANYHANDS_TEST_KEY = "canary";
  const { args, env, place, wordOf } = await started().finally(() => delete process.env.MANYHANDS_TEST_KEY);
  for (const needed of [
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    ...["--disable-quic", "--dns-prefetch-disable", "--no-pings", "--disable-domain-reliability", "--disable-sync"],
    ...["--proxy-server=http://127.0.0.1:1", "--proxy-bypass-list=<-loopback>", "--window-size=1280,800"],
  ])
    expect(args).toContain(needed);
  for (const insecure of ["--no-sandbox", "--disable-web-security", "--disable-site-isolation-trials"])
    expect(args).not.toContain(insecure);
  expect(wordOf("--disable-features")).toEndWith(",WebUIOmniboxPopup,WebUIOmniboxAimPopup");
  const [, home = ""] = /^(.*)\/profile$/.exec(wordOf("--user-data-dir") ?? "") ?? [];
  expect(home.startsWith(join(base, "server/browser-"))).toBe(true);
  expect(env).toMatchObject({ PATH: "/usr/local/bin:/usr/bin:/bin", HOME: `${home}/home`, LANG: "C.UTF-8" });
  expect(JSON.stringify(env)).not.toContain("canary");
  expect(place).toEqual([`${home}/tmp`, isRoot ? "65534" : String(process.getuid?.())]);
});

test("what the settings ask for is among the browser's arguments", async () => {
  const { args } = await started({
    ...{ disableSecurity: true, headless: true, extraArgs: ["--own='a b'"], viewport: { width: 800, height: 600 } },
  });
  for (const asked of ["--disable-web-security", "--disable-site-isolation-trials", "--own='a b'"])
    expect(args).toContain(asked);
  expect(args).toContain("--window-size=800,600");
});

test("a browser with its user's own data has those, as their owner, and finds the user's keys", async () => {
  const folder = join(base, "own");
  await mkdir(folder);
  if (isRoot) await chown(folder, 4242, 4242);
  const access = { username: "name", password: "word", revoke: () => undefined };
  const bus = "unix:path=/run/bus";
  const usual = process.env.DBUS_SESSION_BUS_ADDRESS;
  process.env.DBUS_SESSION_BUS_ADDRESS = bus;
  const both = async () => [await started({}, { folder, access, listeners: new Set() }), await started()] as const;
  const [{ args, env, place, wordOf }, ours] = await both().finally(() => {
    if (usual === undefined) delete process.env.DBUS_SESSION_BUS_ADDRESS;
    else process.env.DBUS_SESSION_BUS_ADDRESS = usual;
  });
  expect(wordOf("--user-data-dir")).toBe(folder);
  expect(wordOf("--disk-cache-dir")).toStartWith(join(base, "server/browser-"));
  for (const hiding of ["--password-store=basic", "--use-mock-keychain"]) expect(args).not.toContain(hiding);
  expect([env.DBUS_SESSION_BUS_ADDRESS, ours.env.DBUS_SESSION_BUS_ADDRESS]).toEqual([bus, undefined]);
  expect(place[1]).toBe(isRoot ? "4242" : String(process.getuid?.()));
  expect(await readdir(base)).toContain("own");
});

test("a context of the user's own goes through the proxy with its credentials, and says which browser it is", async () => {
  const folder = join(base, "own");
  await mkdir(folder);
  if (isRoot) await chown(folder, 4242, 4242);
  const chromium = await playwrightChromium();
  const refused = () => Promise.reject(new Error("error: refused"));
  using own = spyOn(chromium, "launchPersistentContext").mockImplementation(refused);
  using plain = spyOn(chromium, "launch").mockImplementation(refused as never);
  const settings = { ...browserDefaults, folder: base, policy: { allow: [], deny: [], only: [] } };
  const options = { proxyUrl: "http://127.0.0.1:1", settings };
  const access = { username: "name", password: "word", revoke: () => undefined };
  const start = { folder, access, listeners: new Set<never>() };
  for (const more of [{}, { own: start }, { own: start, settings: { ...settings, headless: false } }])
    await expect(launchChromium(base, executable, { ...options, ...more })).rejects.toThrow("error: refused");
  const proxy = { server: "http://127.0.0.1:1", bypass: "<-loopback>" };
  const signals = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false };
  const common = { headless: true, chromiumSandbox: true, timeout: 30_000, ...signals };
  expect(plain.mock.calls[0]?.[0]).toMatchObject({ ...common, proxy });
  const [, given] = own.mock.calls[0] ?? [];
  expect(given).toMatchObject({
    ...common,
    ...{ proxy: { ...proxy, username: "name", password: "word" }, acceptDownloads: true, serviceWorkers: "block" },
    userAgent: expect.stringContaining("Chrome/140.0.0.0"),
  });
  const shown = own.mock.calls[1]?.[1];
  expect([shown?.headless, shown?.userAgent]).toEqual([false, undefined]);
});

test("pages see what the settings say, and certificates and policies count unless the settings switch them off", () => {
  const settings = { ...browserDefaults, folder: "", policy: { allow: [], deny: [], only: [] } };
  expect(appearance(settings)).toEqual({
    ...{ viewport: { width: 1280, height: 800 }, locale: "en-US", serviceWorkers: "block" },
    ...{ ignoreHTTPSErrors: false, bypassCSP: false },
  });
  const geolocation = { latitude: 1, longitude: 2, accuracy: 3 };
  expect(appearance({ ...settings, disableSecurity: true, timezone: "Europe/Rome", geolocation })).toMatchObject({
    ...{ ignoreHTTPSErrors: true, bypassCSP: true, timezoneId: "Europe/Rome", geolocation, serviceWorkers: "block" },
  });
});
