import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stepDownArgv, unprivilegedUser } from "../../shared/src/machine/process/step-down.ts";
import { runCommand } from "../../shared/src/machine/sandbox/run-command.ts";
import type { SandboxPaths } from "../../shared/src/machine/sandbox/sandbox.ts";
import { availableTiers, type OpenTier, openTier } from "../../shared/src/testing/sandbox/tiers.ts";
import { flipping, starts } from "./flipping.fixture.ts";

/**
 * Every guarded name in a workspace; the attack keeps swapping each with a link that leads outside.
 */
const folders = [".git", ".vscode", ".idea", ".claude", ".envrc"];
const files = [".bashrc", ".bash_profile", ".profile", ".mcp.json", "mcp.json", "manyhands.toml"];
const names = [...folders, ...files];
const script = `
for name in ${folders.join(" ")}; do rm -rf $name 2>/dev/null; mkdir -p $name/hooks; done
for name in ${files.join(" ")}; do [ -e $name ] || : > $name; done
for name in ${names.join(" ")}; do ln -sfn "$0" lure-$name; done
exec python3 -c '${flipping}' ${names.map((name) => `${name} lure-${name}`).join(" ")}`;

/** A hostile command that reads and writes everything visible in its folder. */
const greedy = `
cat .* * .*/* */* .*/hooks/* 2>/dev/null
for there in .[a-z]* [a-z]* .*/hooks; do : > $there/planted; echo planted > $there/secret; done 2>/dev/null
rm -f .[a-z]*/planted .[a-z]*/secret; true`;

const tiers = await availableTiers();
const canary = `canary-${crypto.randomUUID()}`;
const ending = AbortSignal.timeout(900_000);

describe.each(tiers)("tier %s", (tier) => {
  let open: OpenTier;
  let outside: string;

  beforeAll(async () => {
    open = await openTier(tier);
    outside = join(open.neighbour, "home");
    await mkdir(join(outside, "hooks"), { recursive: true });
    for (const path of [outside, join(outside, "hooks")]) await chmod(path, 0o777);
    for (const path of ["secret", "hooks/secret"]) {
      await writeFile(join(outside, path), canary);
      await chmod(join(outside, path), 0o666);
    }
  });
  afterAll(() => open.close());

  /**
   * Starts many commands one after the other, and returns how many of them ran; fails if one saw or
   * changed anything outside.
   */
  const startMany = async (workspace: string, count: number, paths: SandboxPaths = { read: [], write: [] }) => {
    let ran = 0;
    const places = [workspace, ...paths.read, ...paths.write];
    const byName = places.map((path) => `cat ${path}/secret ${path}/hooks/secret;`).join(" ");
    const inside = places.map((path) => `cd ${path}; ${greedy}`).join("\n");
    const argv = ["sh", "-c", `for again in 1 2 3 4 5; do ${byName} done 2>/dev/null\n${inside}`];
    for (let start = 0; start < count; start++) {
      const command = { argv, workspace, paths, limits: { wallMs: 10_000 } };
      const outcome = await runCommand(open.sandbox, command, { signal: ending }).catch(String);
      expect(JSON.stringify(outcome)).not.toContain(canary);
      if (typeof outcome !== "string") ran += 1;
      else expect(outcome).toMatch(/^AppError: (?:bwrap|the view)/);
    }
    expect((await readdir(outside)).sort()).toEqual(["hooks", "secret"]);
    expect(await readdir(join(outside, "hooks"))).toEqual(["secret"]);
    for (const path of ["secret", "hooks/secret"]) expect(await readFile(join(outside, path), "utf8")).toBe(canary);
    return ran;
  };

  // bwrap has a separate root, in which this machine's root is called /oldroot.
  test.each([
    ["a folder", ""],
    ["a folder as bwrap sees it", "/oldroot"],
    ["a file as bwrap sees it", "/oldroot/secret"],
  ])(
    "names that one sandbox flips between the original and a link to %s lead no later command outside, and stop none",
    async (what, lure) => {
      const workspace = await open.folder(`inside-${what.replaceAll(" ", "-")}`);
      const target = lure === "/oldroot/secret" ? `/oldroot${outside}/secret` : `${lure}${outside}`;
      const flipper = await open.sandbox.spawn({
        argv: ["bash", "-c", script, target],
        workspace,
        limits: { cpuSeconds: 3600 },
      });
      await flipsIn(flipper.stdout);
      expect(await startMany(workspace, starts)).toBe(starts);
      flipper.kill();
      await flipper.exited;
    },
    900_000,
  );

  test("names flipped from outside every sandbox lead no command outside", async () => {
    const workspace = await open.folder("from-outside");
    const argv = [...stepDownArgv(unprivilegedUser()), "bash", "-c", script, outside];
    const flipper = Bun.spawn(argv, { cwd: workspace, stdout: "pipe", stderr: "ignore" });
    await flipsIn(flipper.stdout);
    await startMany(workspace, Math.ceil(starts / 8));
    flipper.kill("SIGKILL");
    await flipper.exited;
  }, 900_000);

  test.each(["read", "write"] as const)(
    "a path that a program may %s, and that another can flip, leads nowhere else",
    async (right) => {
      const [shared, own] = await Promise.all([open.folder(`shared-${right}`), open.folder(`own-${right}`)]);
      const flip = `mkdir data; ln -s ${outside} lure; exec python3 -c '${flipping}' data lure`;
      const flipper = await open.sandbox.spawn({
        argv: ["bash", "-c", `cd ${shared}; ${flip}`],
        workspace: await open.folder(`flipper-${right}`),
        paths: { read: [], write: [shared] },
        limits: { cpuSeconds: 3600 },
      });
      await flipsIn(flipper.stdout);
      await startMany(own, starts, { read: [], write: [], [right]: [join(shared, "data")] });
      flipper.kill();
      await flipper.exited;
    },
    900_000,
  );
});

async function flipsIn(stdout: ReadableStream<Uint8Array>): Promise<void> {
  const { value } = await stdout.getReader().read();
  expect(Buffer.from(value ?? []).toString()).toContain("flipping");
}
