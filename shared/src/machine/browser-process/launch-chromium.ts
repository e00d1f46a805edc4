import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Browser } from "playwright";
import { within } from "../../core/async/within.ts";
import { AppError, messageOf } from "../../core/errors.ts";
import { openWayArgv, stepDownArgv, unprivilegedUser } from "../process/step-down.ts";
import { appearance, userAgentOf } from "./appearance.ts";
import { leaveDialogs, type OwnContext, type OwnStart, ownerOf } from "./own-browser.ts";
import { playwrightChromium } from "./playwright.ts";
import { endProcessesOf } from "./server-folder.ts";
import type { BrowserSettings } from "./settings.ts";

/** A browser that this process started. */
export type LaunchedBrowser = {
  readonly browser: Browser;
  /** The context of the user's own data, if it was started with them. */
  readonly own: OwnContext | undefined;
  /** What confines its pages, for people. */
  readonly sandbox: string;
  /** Creates a folder that the browser can write. */
  folder(name: string): Promise<string>;
  /**
   * Kills its processes immediately, for a browser that does not respond. It is then disconnected,
   * and closed after that.
   */
  kill(): void;
  /** Ends the browser, and removes all its processes and files. */
  close(): Promise<void>;
};

/** What a browser is started with. */
type LaunchOptions = {
  readonly proxyUrl: string;
  readonly settings: BrowserSettings;
  readonly own?: OwnStart | undefined;
};

/**
 * Nothing bypasses the proxy: no name is resolved here, no UDP is sent, and the browser makes no
 * requests on its own behalf.
 */
const quiet = [
  "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
  // Older browsers know the policy by the second name; browsers ignore a name that they do not
  // know.
  "--webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--disable-quic",
  "--dns-prefetch-disable",
  "--no-pings",
  "--disable-domain-reliability",
  "--disable-sync",
];

/**
 * What costs each conversation processes and shows nobody anything: a headless Chromium keeps two
 * pages of its own ready for each window, which list suggestions below an address bar. Browsers
 * ignore a name that they do not know.
 */
export const needlessFeatures = ["WebUIOmniboxPopup", "WebUIOmniboxAimPopup"];

const insecure = ["--disable-web-security", "--disable-site-isolation-trials"];

const startMs = 30_000;
const closeMs = 5_000;
const versionMs = 10_000;

/**
 * Starts Chromium with its own sandbox, as a user without rights if we are root. Its files are
 * below `parent` only; with `own` it uses the user's own data, as their owner. Rejects with
 * `unavailable`, quoting the browser's last output, and as `ownerOf` does.
 */
export async function launchChromium(
  parent: string,
  executable: string,
  { proxyUrl, settings, own }: LaunchOptions,
): Promise<LaunchedBrowser> {
  const user = own === undefined ? unprivilegedUser() : await ownerOf(own.folder);
  const home = await mkdtemp(join(parent, "browser-"));
  const folder = async (name: string) => {
    const path = join(home, name);
    await mkdir(path, { recursive: true, mode: 0o700 });
    if (user !== undefined) await chown(path, user.uid, user.gid);
    return path;
  };
  await chmod(home, 0o711);
  for (const name of ["profile", "home", "tmp", "artifacts"]) await folder(name);
  const launcher = join(home, "launch");
  const argv = [
    ...(await openWayArgv([home, dirname(executable), ...(own === undefined ? [] : [own.folder])], user)),
    ...stepDownArgv(user),
    ...inFolder(join(home, "tmp")),
    executable,
  ];
  await writeFile(launcher, launcherScript(argv, home, own?.folder), { mode: 0o755 });
  const end = async () => {
    endProcessesOf(home);
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const started = await begin(launcher, home, { proxyUrl, settings, own });
    return {
      ...started,
      sandbox: sandboxOf(settings, user?.uid),
      folder,
      kill: () => endProcessesOf(home),
      async close() {
        await within(closeMs, (started.own?.context ?? started.browser).close());
        await end();
      },
    };
  } catch (cause) {
    await end();
    throw new AppError("unavailable", `The browser ${executable} did not start: ${lastWords(cause)}`, { cause });
  }
}

async function begin(
  launcher: string,
  home: string,
  { proxyUrl, settings, own }: LaunchOptions,
): Promise<Pick<LaunchedBrowser, "browser" | "own">> {
  const chromium = await playwrightChromium();
  const options = {
    executablePath: launcher,
    headless: settings.headless,
    chromiumSandbox: true,
    artifactsDir: join(home, "artifacts"),
    args: chromiumArgs(settings),
    env: environment(home, own !== undefined),
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    timeout: startMs,
  };
  const proxy = { server: proxyUrl, bypass: "<-loopback>" };
  if (own === undefined) return { browser: await chromium.launch({ ...options, proxy }), own: undefined };
  const { username, password } = own.access;
  const context = await chromium.launchPersistentContext(own.folder, {
    ...options,
    ...appearance(settings),
    ...(settings.headless && { userAgent: userAgentOf(await versionOf(launcher, options.env)) }),
    // Its processes are known by a folder of ours that their command line names.
    args: [...options.args, `--disk-cache-dir=${join(home, "profile")}`],
    proxy: { ...proxy, username, password },
    acceptDownloads: true,
    // The user's cookies are sealed with the keys of the user's own key ring, if there is one.
    ignoreDefaultArgs: ["--password-store=basic", "--use-mock-keychain"],
  });
  leaveDialogs(context);
  const browser = context.browser();
  if (browser === null) throw new Error("The browser of a context is not known.");
  return { browser, own: { context, listeners: own.listeners } };
}

async function versionOf(launcher: string, env: Record<string, string>): Promise<string> {
  const asked = Bun.spawn([launcher, "--version"], { env, stdin: "ignore", stderr: "ignore", timeout: versionMs });
  return /\d+\.\d+/.exec(await new Response(asked.stdout).text())?.[0] ?? "";
}

/** The arguments that Chromium is started with in addition to Playwright's own. */
function chromiumArgs({ disableSecurity, extraArgs, viewport }: BrowserSettings): string[] {
  const { width, height } = viewport;
  return [...quiet, `--window-size=${width},${height}`, ...(disableSecurity ? insecure : []), ...extraArgs];
}

function sandboxOf({ extraArgs }: BrowserSettings, uid: number | undefined): string {
  const kind = extraArgs.includes("--no-sandbox") ? "none (--no-sandbox)" : "Chromium's own";
  return uid === undefined ? kind : `${kind}, as uid ${uid}`;
}

/**
 * Playwright chooses a profile folder among the system's temporary files, where a crash would leave
 * it; our folder takes its place, except where the user's own was named. Of several lists of
 * disabled features a browser reads the last.
 */
function launcherScript(argv: readonly string[], home: string, own: string | undefined): string {
  const folder = own ?? join(home, "profile");
  const discard = `rmdir "\${word#*=}"; `;
  return `#!/bin/sh
for word do
  shift
  case $word in
    --user-data-dir=*) ${own === undefined ? discard : ""}word=${quoted(`--user-data-dir=${folder}`)} ;;
    --disable-features=*) word="$word,${needlessFeatures.join(",")}" ;;
  esac
  set -- "$@" "$word"
done
exec ${argv.map(quoted).join(" ")} "$@"
`;
}

function inFolder(path: string): string[] {
  return ["/bin/sh", "-c", 'cd "$0" && exec "$@"', path];
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * Passes nothing of our environment on, except where a window would be shown, and to the user's own
 * browser where the user's key ring is.
 */
function environment(home: string, own: boolean): Record<string, string> {
  const display = ["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR"];
  const shown = [...display, ...(own ? ["DBUS_SESSION_BUS_ADDRESS"] : [])].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: join(home, "home"),
    // Chromium creates a socket there, and a socket's path may have no more than about a hundred
    // characters.
    TMPDIR: process.platform === "linux" ? "/proc/self/cwd" : join(home, "tmp"),
    LANG: "C.UTF-8",
    ...Object.fromEntries(shown),
  };
}

function lastWords(error: unknown): string {
  const text = messageOf(error);
  if (/No usable sandbox|namespace sandbox|sandboxing failed/i.test(text))
    return 'its own sandbox does not work here (it needs user namespaces). browser.extra_chromium_args = ["--no-sandbox"] does without.';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours of a terminal begin with one
  const lines = text.replace(/\u001b\[\d+m/g, "").split("\n");
  // What the browser itself wrote comes before what Playwright says of ending it.
  const said = lines.findLast((line) => /\[err\]/.test(line)) ?? lines.findLast((line) => /error/i.test(line));
  return (said ?? lines[0] ?? "").replace(/^.*\[err\]\s*/, "").slice(0, 300);
}
