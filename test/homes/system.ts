import { Database } from "bun:sqlite";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import { bareEnvironment } from "manyhands/internal/testing/machine/bare-environment";
import { type ReadyProcess, startReady } from "../servers/ready-process.ts";
import { type Play, startPlay } from "./play.ts";
import type { Names } from "./store.ts";

/**
 * The servers of a home: processes of some checkout, on free ports, with a scripted model and
 * tools.
 */
export type System = AsyncDisposable & {
  /** MANYHANDS_HOME. */
  readonly home: string;
  readonly path: string;
  readonly play: Play;
  readonly urls: Readonly<Record<ServerName, string>>;
  /** Those of a request in the name of somebody else; none for `local`. */
  readonly headers: Readonly<Record<string, string>>;
  /** The placeholders in its stored form. */
  readonly names: Names;
  start(name: ServerName): Promise<void>;
  startAll(): Promise<void>;
  /** Kills servers with `kill -9`. */
  kill(...some: readonly ServerName[]): Promise<void>;
  /** Runs the command line; resolves with its output. */
  cli(...args: readonly string[]): Promise<string>;
};

const entries = {
  gateway: "gateway/src/server/main.ts",
  manus: "agents/manus/src/server.ts",
  "data-analysis": "agents/data-analysis/src/server.ts",
} as const;

type ServerName = keyof typeof entries;
const servers = Object.keys(entries) as ServerName[];

/**
 * `hold`: whether replies that the play can hold back are never sent. `names`: placeholders besides
 * its addresses and folder.
 */
type SystemOptions = { readonly hold: boolean; readonly names?: Names };

/**
 * Creates one with an empty home and no server up; `await using` removes it. `checkout` is the
 * folder whose code runs.
 */
export async function startSystem(checkout: string, { hold, names = {} }: SystemOptions): Promise<System> {
  const folder = await mkdtemp(join(tmpdir(), "manyhands-system-"));
  const home = join(folder, "home");
  await mkdir(home, { mode: 0o700 });
  const play = await startPlay({ hold });
  const urls = Object.fromEntries(servers.map((name) => [name, `http://127.0.0.1:${freePort()}`])) as System["urls"];
  await writeFile(join(folder, "manyhands.toml"), settings(play, urls));
  await writeFile(join(folder, "mcp.json"), JSON.stringify({ mcpServers: { tools: mcpEntry(play) } }));
  const env = { ...bareEnvironment(), NO_COLOR: "1", COLUMNS: "100", TZ: "UTC" };
  const running = new Map<ServerName, ReadyProcess>();
  const start = async (name: ServerName) => {
    const entry = join(checkout, entries[name]);
    running.set(name, await startReady([process.execPath, entry], { cwd: folder, env }));
  };
  const kill = async (...some: readonly ServerName[]) => {
    await Promise.all(some.map((name) => running.get(name)?.stop("SIGKILL")));
    for (const name of some) running.delete(name);
  };
  return {
    home,
    path: join(home, "runs.db"),
    play,
    urls,
    headers: {},
    names: {
      "{gateway}": hostOf(urls.gateway),
      "{manus}": hostOf(urls.manus),
      "{data-analysis}": hostOf(urls["data-analysis"]),
      "{model}": hostOf(play.modelUrl),
      "{tools}": hostOf(play.toolsUrl),
      "{folder}": folder,
      ...names,
    },
    start,
    kill,
    startAll: async () => void (await Promise.all(servers.map(start))),
    async cli(...args) {
      const command = [process.execPath, join(checkout, "gateway/src/cli/main.ts"), ...args];
      const child = Bun.spawn(command, { cwd: folder, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
      const [out, said] = await Promise.all([child.stdout.text(), child.stderr.text()]);
      return out + said;
    },
    async [Symbol.asyncDispose]() {
      await kill(...servers);
      await play[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
}

/** The same system, whose requests are made in this principal's name. */
export function actingFor(system: System, principal: string): System {
  return principal === "local" ? system : { ...system, headers: { "Manyhands-Principal": principal } };
}

/** Everybody who has runs in a home. */
export function principalsOf({ path }: System): string[] {
  using db = new Database(path, { readonly: true });
  const found = db.query<{ principal: string }, []>("SELECT DISTINCT principal FROM runs ORDER BY principal").all();
  return found.map(({ principal }) => principal);
}

/** Nothing listens on it. */
const nowhere = "http://127.0.0.1:9";

const hostOf = (url: string) => new URL(url).host;

/** No sandbox: a home is the same on every machine. */
function settings({ modelUrl }: Play, urls: System["urls"]): string {
  const port = (name: ServerName) => `port = ${new URL(urls[name]).port}`;
  return `home = "home"

[llm]
base_url = "${modelUrl}"
api_key = "none"
model = "scripted"
price = { input_per_million = 1, output_per_million = 2 }

[sandbox]
tier = "off"

[retention]
runs = "never"
journals = "never"
workspaces = "never"
artifacts = "never"

[gateway]
${port("gateway")}

[agents.manus]
${port("manus")}
tools = ["files", "human", "delegate"]
delegates = ["data-analysis"]
approve = ["tools__deploy"]

[agents.data-analysis]
${port("data-analysis")}
tools = ["files", "human"]

[agents.browser]
url = "${nowhere}"

[agents.swe]
url = "${nowhere}"
`;
}

function mcpEntry({ toolsUrl }: Play) {
  return { url: toolsUrl, type: "http", approve: "never", timeout: 600_000 };
}

/** Polls until there is a value; fails with `what` after a while. */
export async function eventually<Value>(
  what: string | (() => string),
  look: () => Promise<Value | undefined | false> | Value | undefined | false,
  withinMs = 30_000,
): Promise<Value> {
  for (const deadline = performance.now() + withinMs; performance.now() < deadline; await Bun.sleep(50)) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
  }
  throw new Error(`It did not come to this in time: ${typeof what === "string" ? what : what()}`);
}
