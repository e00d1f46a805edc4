import { afterAll, expect, spyOn, test } from "bun:test";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withinTrace } from "../core/trace.ts";
import * as abandoned from "../machine/confinement/sweep-abandoned.ts";
import { bareEnvironment } from "../testing/machine/bare-environment.ts";
import { openLog, publicUrlOf, runServer, type ServerOptions } from "./run-server.ts";

const settings = { port: 4100, publicUrl: "https://team.example" };

test("a server's public address is the one it was given, else the one in the settings for its port, else where it listens", () => {
  const at = (port: number, told?: string) => publicUrlOf(new URL(`http://0.0.0.0:${port}`), told, settings);
  expect(at(4100, "https://told.example")).toBe("https://told.example");
  expect(at(4100)).toBe("https://team.example");
  expect(at(5000)).toBe("http://127.0.0.1:5000");
  expect(publicUrlOf(new URL("http://[::]:4100"), undefined, { port: 4100, publicUrl: undefined })).toBe(
    "http://[::1]:4100",
  );
  for (const [url, port] of [
    ["https://0.0.0.0", 443],
    ["http://0.0.0.0", 80],
  ] as const) {
    expect(publicUrlOf(new URL(url), undefined, { ...settings, port })).toBe("https://team.example");
    expect(publicUrlOf(new URL(url), undefined, settings)).toBe(url.replace("0.0.0.0", "127.0.0.1"));
  }
});

const folder = await mkdtemp(join(tmpdir(), "manyhands-run-server-"));
afterAll(() => rm(folder, { recursive: true }));

/** A server as a process of its own, whose start is this code. */
async function ended(start: string, env: Record<string, string>, ...args: string[]) {
  const child = Bun.spawn([process.execPath, await entryOf(start), ...args], {
    cwd: folder,
    env: { ...bareEnvironment(), ...env },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  return { said: await new Response(child.stderr).text(), code: await child.exited };
}

async function entryOf(start: string): Promise<string> {
  const entry = join(folder, `${crypto.randomUUID()}.ts`);
  const [room, errors] = ["run-server.ts", "../core/errors.ts"].map((file) =>
    JSON.stringify(join(import.meta.dir, file)),
  );
  await writeFile(
    entry,
    `import { runServer, sayReady } from ${room};\nimport { AppError } from ${errors};\nawait runServer("tester", async (config, logger) => { ${start} });`,
  );
  return entry;
}

test("a server with wrong settings exits with code 2, one that cannot start for another reason with 1, and says why", async () => {
  const wrong = await ended("", { MANYHANDS_LIMITS_STEPS: "many" });
  expect(wrong).toMatchObject({ code: 2, said: expect.stringMatching(/^tester: MANYHANDS_LIMITS_STEPS: /) });
  const option = await ended("", {}, "--port", "1");
  expect(option).toMatchObject({ code: 2, said: expect.stringContaining("The one option is --config FILE.") });
  const home = await ended("", { MANYHANDS_HOME: "/dev/null/home" });
  const why = "MANYHANDS_HOME cannot be /dev/null/home: the folder cannot be created (ENOTDIR).";
  expect(home).toEqual({ code: 2, said: `tester: ${why}\n` });
  const away = await ended('throw new AppError("unavailable", "Nobody is there.");', {});
  expect(away).toEqual({ code: 1, said: "tester: Nobody is there.\n" });
  const refused = await ended("process.chdir('/nowhere')", {});
  expect(refused).toEqual({ code: 1, said: expect.stringMatching(/^tester: ENOENT.*\n$/) });
  const bug = await ended('throw new Error("a slip");', {});
  expect(bug.code).toBe(1);
  expect(bug.said).toContain("a slip");
  expect(await ended("process.exit(0)", {})).toEqual({ code: 0, said: "" });
});

test("a server is started under the name that it is told, with the settings of that name, and makes its home", async () => {
  const home = join(folder, "made", "home");
  const { argv } = process;
  const { MANYHANDS_HOME } = process.env;
  const started = async (isAgent: boolean, ...args: string[]) => {
    process.argv = [...argv.slice(0, 2), ...args];
    const seen: unknown[] = [];
    await runServer("tester", async (config, _, options) => void seen.push(options, Object.keys(config.agents)), {
      isAgent,
    });
    const [options, agents] = seen as [ServerOptions, string[]];
    return { ...options, known: agents.filter((name) => ["helper", "tester"].includes(name)) };
  };
  process.env.MANYHANDS_HOME = home;
  using sweeping = spyOn(abandoned, "sweepAbandoned").mockResolvedValue(undefined);
  try {
    expect(await started(true, "--name", "helper", "--mcp-stdio")).toEqual({
      ...{ name: "helper", mcpStdio: true, known: ["helper"] },
    });
    expect(await started(false)).toEqual({ name: "tester", mcpStdio: false, known: [] });
    const file = join(folder, "own.toml");
    await writeFile(file, '[agents.helper]\nurl = "http://127.0.0.1:9"\n');
    expect(await started(false, "--config", file)).toMatchObject({ name: "tester", known: ["helper"] });
    expect((await stat(home)).isDirectory()).toBe(true);
    // Each looks, once it is up, for what killed servers left.
    expect(sweeping.mock.calls).toEqual(Array.from({ length: 3 }, () => [home]));
  } finally {
    process.argv = argv;
    if (MANYHANDS_HOME === undefined) delete process.env.MANYHANDS_HOME;
    else process.env.MANYHANDS_HOME = MANYHANDS_HOME;
  }
});

test("a log's lines come whole and in their order, more of them than a pipe holds", async () => {
  const start = `
    for (let n = 0; n < 3_000; n++) logger.info({ n });
    setTimeout(() => process.exit(7), 1_000);`;
  const { said, code } = await ended(start, { MANYHANDS_HOME: join(folder, "lines") });
  expect(code).toBe(7);
  const lines = said.trim().split("\n");
  expect(lines.map((line) => JSON.parse(line).n)).toEqual(Array.from({ length: 3_000 }, (_, n) => n));
});

test.skipIf(process.platform !== "linux")(
  "a log that its disk does not take ends no server, halts none, and keeps none from ending",
  async () => {
    const start = `
      sayReady(new URL("http://127.0.0.1:1/"));
      for (let n = 0; n < 50; n++) { logger.info("line"); await Bun.sleep(5); }
      for (let n = 0; n < 50; n++) logger.info("last");
      process.exit(7);`;
    const full = Bun.file("/dev/full");
    const child = Bun.spawn([process.execPath, await entryOf(start)], {
      ...{ cwd: folder, env: bareEnvironment(), stdin: "ignore", stdout: full, stderr: full },
    });
    const code = await Promise.race([child.exited, Bun.sleep(20_000).then(() => "still there")]);
    child.kill("SIGKILL");
    expect(code).toBe(7);
  },
);

const evil = 'a\n{"level":60,"msg":"forged"}\r\n\x1b]0;title\x07\x1b[2J\x9b31m\u202egnp\u2028end\x7f';

test("text from outside stays in its line and field, and has no effect on a terminal", () => {
  const lines: string[] = [];
  const log = openLog("agent", (line) => lines.push(line));
  log.error({ err: new Error(evil), url: evil }, evil);
  log.warn(evil);
  expect(lines).toHaveLength(2);
  for (const line of lines) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these very characters are what is looked for.
    expect(line).toMatch(/^[^\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e]*\n$/);
    expect(JSON.parse(line).msg).toBe(evil);
  }
});

test("keys and tokens do not appear in the log", () => {
  const lines: string[] = [];
  openLog("agent", (line) => lines.push(line)).info({
    apiKey: "sk-1",
    token: "t-1",
    headers: { authorization: "b-1" },
  });
  expect(lines.join("")).not.toMatch(/sk-1|t-1|b-1/);
});

test("a line says to which trace it belongs, if to one", () => {
  const lines: string[] = [];
  const log = openLog("agent", (line) => lines.push(line));
  const [trace, span] = ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"];
  withinTrace({ traceparent: `00-${trace}-${span}-01` }, () => log.info("within"));
  log.info("without");
  const [within, without] = lines.map((line) => JSON.parse(line));
  expect(within).toMatchObject({ name: "agent", trace_id: trace, span_id: span, msg: "within" });
  for (const field of ["trace_id", "span_id"]) expect(without).not.toHaveProperty(field);
});
