import { expect, spyOn, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endWithLauncher } from "./launcher-watch.ts";

/** What a process does that this launcher started, at each look; its environment afterwards. */
function watched(launcher: string | undefined) {
  const env = { MANYHANDS_LAUNCHER_PID: launcher, KEPT: "yes" };
  let look = () => undefined as unknown;
  let held = true;
  const timer = { unref: () => (held = false) };
  using setting = spyOn(globalThis, "setInterval").mockImplementation(((act: () => unknown) => {
    look = act;
    return timer;
  }) as never);
  endWithLauncher(env);
  const began = setting.mock.calls.length;
  using leaving = spyOn(globalThis, "setTimeout").mockReturnValue(timer as never);
  using ending = spyOn(process, "kill").mockReturnValue(true);
  using clearing = spyOn(globalThis, "clearInterval").mockReturnValue(undefined);
  look();
  const [[, graceMs] = []] = leaving.mock.calls as unknown[][];
  return { env, began, held, ended: ending.mock.calls, graceMs, stopped: clearing.mock.calls.length };
}

test("a process ends as soon as its launcher is gone, and holds nothing open to see it; no child inherits that", () => {
  const env = { KEPT: "yes" };
  expect(watched(String(process.ppid))).toMatchObject({ env, began: 1, held: false, ended: [], stopped: 0 });
  const orphan = watched(String(process.ppid + 1));
  expect(orphan).toMatchObject({ began: 1, ended: [[process.pid, "SIGTERM"]], graceMs: 30_000, stopped: 1 });
  expect(orphan.env).not.toHaveProperty("MANYHANDS_LAUNCHER_PID");
  for (const none of [undefined, "", "x", "0"]) expect([none, watched(none).began]).toEqual([none, 0]);
});

const watchedProgram = `
  import { endWithLauncher } from ${JSON.stringify(join(import.meta.dir, "launcher-watch.ts"))};
  endWithLauncher(process.env);
  process.on("SIGTERM", () => { console.log("drains"); process.exit(); });
  console.log("up " + process.pid);
  setTimeout(() => process.exit(), 60_000);
`;
/** What a script runner does, under any name. */
const runsScript = (script: string) =>
  `await Bun.spawn(["sh", "-c", ${JSON.stringify(script)}], { stdout: "inherit" }).exited`;
const inShell = `${process.execPath} watched.ts; true`;

/** What a process says that is started so in a folder with these files, and its starter killed. */
async function killedAbove(cmd: readonly string[], argv0?: string): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), "manyhands-launcher-"));
  const scripts = { up: `${process.execPath} watched.ts` };
  const files = {
    "package.json": JSON.stringify({ scripts }),
    "watched.ts": watchedProgram,
    "runs.ts": runsScript(inShell),
  };
  for (const [name, text] of Object.entries(files)) await Bun.write(join(folder, name), text);
  const env = { ...process.env, npm_execpath: "a runner" };
  const starter = Bun.spawn([...cmd], { cwd: folder, env, stdout: "pipe", ...(argv0 !== undefined && { argv0 }) });
  const said: string[] = [];
  let pid = 0;
  const late = setTimeout(() => process.kill(pid, "SIGKILL"), 3_000);
  for await (const chunk of starter.stdout) {
    said.push(...Buffer.from(chunk).toString().trim().split("\n"));
    pid = Number(/^up (\d+)$/.exec(said[0] ?? "")?.[1] ?? 0);
    starter.kill("SIGKILL");
  }
  clearTimeout(late);
  await rm(folder, { recursive: true });
  return said.slice(1);
}

test.if(process.platform === "linux").each([
  ["bun run", [process.execPath, "run", "up"], "bun", ["drains"]],
  ["npm, through a shell,", [process.execPath, "runs.ts"], "npm", ["drains"]],
  ["a program of the user's, through a shell,", [process.execPath, "runs.ts"], "starter", []],
] as const)("when %s is killed outright, what it started ends as it should", async (_, cmd, argv0, said) => {
  expect(await killedAbove(cmd, argv0)).toEqual([...said]);
});
