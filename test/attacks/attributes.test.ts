import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { chmod, chown, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { callNumber, knownProcessor, type SystemCall } from "../../shared/src/machine/kernel/syscall-numbers.ts";
import { stepDownArgv } from "../../shared/src/machine/process/step-down.ts";
import { runCommand } from "../../shared/src/machine/sandbox/run-command.ts";
import type { SandboxPaths } from "../../shared/src/machine/sandbox/sandbox.ts";
import { availableTiers, type OpenTier, openTier } from "../../shared/src/testing/sandbox/tiers.ts";

const tiers = await availableTiers();
const processor = knownProcessor(process.arch);
const script = await readFile(join(import.meta.dir, "change-attributes.py"), "utf8");
const calls: readonly SystemCall[] = [
  ...(["chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchown", "fchownat"] as const),
  ...(["utime", "utimes", "futimesat", "utimensat"] as const),
];
const numbers = JSON.stringify(
  Object.fromEntries(calls.map((call) => [call, processor && callNumber(call, processor)])),
);

/** Everything that a change of attributes affects, including the time of the change itself. */
const attributes = (path: string) => {
  const { mode, uid, gid, atimeNs, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
  return { mode, uid, gid, atimeNs, mtimeNs, ctimeNs };
};

/**
 * Excludes what no program does: naming files through links in /proc, changing the names there
 * themselves, and treating a file held only by name as if it had been opened.
 */
const programsDo = (line: string) =>
  !/by root|from a folder in proc|in its own number|beside in proc/.test(line) &&
  !/^(?:fchownat|utimensat|lchown) held in (?:proc|dev) /.test(line) &&
  !/^(?:fchmod|fchown|utimensat|futimesat) held by name /.test(line);

describe.each(tiers)("tier %s", (tier) => {
  let open: OpenTier;
  const victims: string[] = [];
  let paths: SandboxPaths;
  // If processes are counted for all conversations together, other tests use up the default limit.
  const limits = { processes: 4096 };
  const run = (argv: readonly string[], workspace = open.workspace) =>
    runCommand(open.sandbox, { argv, workspace, paths, limits }, { signal: AbortSignal.timeout(60_000) });
  beforeAll(async () => {
    open = await openTier(tier);
    const shown = await open.folder("shown");
    paths = { read: [shown], write: [] };
    for (const folder of [open.neighbour, shown]) {
      await mkdir(join(folder, "inner"));
      await writeFile(join(folder, "file"), "text");
      for (const name of ["inner", "file"]) {
        const path = join(folder, name);
        if (open.sandbox.user) await chown(path, open.sandbox.user.uid, open.sandbox.user.gid);
        await chmod(path, name === "inner" ? 0o755 : 0o644);
        victims.push(path);
      }
      victims.push(folder);
    }
  });
  afterAll(() => open.close());

  test("mode, owner and times of outside files stay unchanged, whatever the call and however the files are named", async () => {
    const before = victims.map(attributes);
    const outcome = await run(["python3", "-c", script, numbers, ...victims]);
    expect(outcome).toMatchObject({ stdout: "", stderr: "", exitCode: 0 });
    expect(victims.map(attributes)).toEqual(before);
  });

  test("inside, every call has the same outcome as without a sandbox, however the file is named", async () => {
    const attempt = (path: string) => ["python3", "-c", script, numbers, "outcomes", path];
    const inside = await open.folder("inside");
    const own = join(inside, "file");
    await run(["sh", "-c", `mkdir ${own}.d && touch ${own} ${own}.d/file`], inside);
    const plain = [...stepDownArgv(open.sandbox.user), ...attempt(`${own}.d/file`)];
    const unconfined = Bun.spawn(plain, { cwd: inside, env: { PATH: "/usr/local/bin:/usr/bin:/bin" } });
    const expected = (await new Response(unconfined.stdout).text()).split("\n").filter(programsDo);
    expect(expected.filter((line) => line.endsWith(" done")).length).toBeGreaterThan(70);
    expect((await run(attempt(own), inside)).stdout.split("\n").filter(programsDo)).toEqual(expected);
  });

  test("inside, files have what programs set", async () => {
    const text = `
printf 'x' >a && chmod 0751 a && touch -d @978307200 a && cp -p a b && ln -s a l && touch -h -d @1000 l && chmod u-x l
chmod --reference=b c 2>/dev/null || install -m 0705 a c
mkdir d && chmod 2750 d && touch -d @5.000000007 d
stat -c '%n %a %Y' a b c d l && stat -c %y d | cut -c 18-29`;
    const outcome = await run(["sh", "-ec", text], await open.folder("asked"));
    expect(outcome).toMatchObject({ stderr: "", exitCode: 0 });
    expect(outcome.stdout.replace(/^(c 705) \d+$/m, "$1")).toBe(
      "a 651 978307200\nb 751 978307200\nc 705\nd 2750 5\nl 777 1000\n05.000000007\n",
    );
  });

  test("inside, the older calls set both times, in seconds or to the millionth", async () => {
    const text = `
import ctypes, os
call = ctypes.CDLL(None, use_errno=True).syscall
open("f", "w").close()
for name, *words in ("utime", 5, 7), ("utimes", 5, 6, 7, 8), ("utimes", 5, 6, 7, 1000000), ("utimes", 5, -1, 7, 8):
    number = ${numbers}.get(name)
    if number is not None:
        done = call(ctypes.c_long(number), b"f", (ctypes.c_long * len(words))(*words))
        print(name, done, os.stat("f").st_atime_ns, os.stat("f").st_mtime_ns)`;
    const { stdout } = await run(["python3", "-c", text.replaceAll("null", "None")], await open.folder("older"));
    const [seconds, ...millionths] = [
      "utime 0 5000000000 7000000000\n",
      "utimes 0 5000006000 7000008000\n",
      ...Array(2).fill("utimes -1 5000006000 7000008000\n"),
    ];
    const has = (call: SystemCall) => processor !== undefined && callNumber(call, processor) !== undefined;
    expect(stdout).toBe([...(has("utime") ? [seconds] : []), ...(has("utimes") ? millionths : [])].join(""));
  });
});
