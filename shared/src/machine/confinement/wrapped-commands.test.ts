import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { fstatSync, openSync, readFileSync } from "node:fs";
import { chmod, lstat, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as landlockModule from "../kernel/landlock.ts";
import { unpacked } from "../process/environment.ts";
import { defaultLimits } from "../sandbox/limits.ts";
import { createBwrap } from "./bwrap.ts";
import type { ConfinedCommand } from "./confinement.ts";
import { createLandlock } from "./landlock.ts";
import { superviseCommand, temporaryIn } from "./supervised.ts";

let base: string;
let workspace: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "manyhands-wrapped-"));
  await chmod(base, 0o755);
  workspace = join(base, "files");
  for (const name of ["files", "read", "write"]) await mkdir(join(base, name));
});
afterEach(() => rm(base, { recursive: true }));

const commandWith = (more: Partial<ConfinedCommand> = {}): ConfinedCommand => ({
  ...{ argv: ["tool", "-x"], workspace, env: { OWN: "1" }, limits: defaultLimits, group: undefined },
  ...more,
});
const hasBwrap = process.platform === "linux" && Bun.which("bwrap") !== null && Bun.which("prlimit") !== null;
const hasSocat = hasBwrap && Bun.which("socat") !== null;

/** The arguments in the order they are in, without what is between them. */
function order(argv: readonly string[], ...words: readonly string[]): readonly string[] {
  return argv.filter((word) => words.includes(word));
}
const followedBy = (argv: readonly string[], name: string) =>
  argv.flatMap((word, at) => (word === name ? [argv.slice(at + 1, at + 3)] : []));

test.if(hasBwrap)(
  "a command of bwrap sees its workspace and what it may read and write, in a group and within its limits",
  async () => {
    const paths = { read: [join(base, "read")], write: [join(base, "write")] };
    const group = { folder: "/group", hit: async () => undefined, remove: async () => {} };
    const wrapped = await createBwrap("own-proc").wrap(commandWith({ paths, group }));
    const { argv } = wrapped;
    expect(followedBy(argv, "--bind")).toEqual([workspace, join(base, "write")].map((path) => [path, path]));
    expect(followedBy(argv, "--ro-bind")).toContainEqual([join(base, "read"), join(base, "read")]);
    expect(argv.slice(0, 5)).toContain("/group");
    expect(order(argv, "/group", "--info-fd", "--chdir", "--nproc=256", "tool")).toEqual([
      ...["/group", "--info-fd", "--chdir", "--nproc=256", "tool"],
    ]);
    expect(argv.slice(-2)).toEqual(["tool", "-x"]);
    expect(argv.join(" ")).toContain("--info-fd 3 --seccomp 4 --args 5");
    // Our own processes on the way get nothing of the command's, which is told through a pipe.
    expect([wrapped.env, wrapped.pipes, argv.join(" ").includes("OWN")]).toEqual([
      { PATH: expect.any(String) },
      3,
      false,
    ]);
    expect([argv.includes("--as-pid-1"), argv.includes("--unshare-all"), argv.join(" ").includes("socat")]).toEqual([
      ...[false, true, false],
    ]);
    await wrapped.release();
    expect(await readdir(workspace)).toEqual([]);
    const first = await createBwrap("no-proc").wrap(commandWith({ first: true }));
    expect([first.argv.includes("--as-pid-1"), first.argv.includes("--disable-userns")]).toEqual([true, false]);
    await first.release();
  },
);

test.if(hasBwrap && process.getuid?.() === 0)(
  "a way is opened to all that a command may see, however closed the folders above it are",
  async () => {
    const closed = await mkdtemp(join(tmpdir(), "manyhands-closed-"));
    for (const name of ["read", "write"]) await mkdir(join(closed, name));
    for (const paths of [
      { read: [join(closed, "read")], write: [] },
      { read: [], write: [join(closed, "write")] },
    ]) {
      const { argv, release } = await createBwrap("own-proc").wrap(commandWith({ paths }));
      await release();
      const [name] = [...paths.read, ...paths.write].map((path) => path.slice(closed.length + 1));
      expect(argv[argv.indexOf(closed) + 1]).toBe(name);
    }
    await rm(closed, { recursive: true });
  },
);

test("a kernel that cannot refuse truncation, or signals to others of our own user, confines nothing with Landlock", () => {
  using abi = spyOn(landlockModule, "landlockAbi");
  for (const [uid, lowest] of [
    [0, 3],
    [1000, 6],
  ] as const) {
    using _ = spyOn(process, "getuid").mockReturnValue(uid);
    abi.mockReturnValue(lowest - 1);
    expect(() => createLandlock()).toThrow(`the kernel has Landlock ${lowest - 1}, ${lowest} is needed`);
    abi.mockReturnValue(lowest);
    expect(createLandlock().tier).toBe("landlock");
  }
});

test.if(hasSocat)(
  "a command has the network of its tier unless it names its own, and a loopback that is shared",
  async () => {
    const proxyAt = async (name: string) => {
      await writeFile(join(base, name), "");
      return { socket: join(base, name), username: name, password: "p" };
    };
    const [tiers, own] = [await proxyAt("tiers"), await proxyAt("own")];
    const mounted = async (more: Partial<ConfinedCommand>) => {
      const { argv, release } = await createBwrap("own-proc", tiers).wrap(commandWith(more));
      await release();
      return followedBy(argv, "--ro-bind").flatMap(([source = "", at]) => (at === "/egress.sock" ? [source] : []));
    };
    expect(await mounted({})).toEqual([tiers.socket]);
    expect(await mounted({ network: own })).toEqual([own.socket]);
    expect(await mounted({ network: "none" })).toEqual([]);
    const { argv, release } = await createBwrap("own-proc").wrap(commandWith({ loopback: join(base, "read") }));
    await release();
    expect(followedBy(argv, "--bind")).toContainEqual([join(base, "read"), "/loopback"]);
  },
);

test.if(hasSocat)(
  "a command's own variables count more than those of its network, and every pipe to it is closed",
  async () => {
    const socket = join(base, "socket");
    await writeFile(socket, "");
    const network = { socket, username: "u", password: "p" };
    const env = { HTTP_PROXY: "mine", SPACED: "a b\nc" };
    const wrapped = await createBwrap("own-proc").wrap(commandWith({ network, env }));
    await writeFile(join(base, "info"), "");
    const ends = [openSync(join(base, "info"), "r"), openSync("/dev/null", "w"), openSync(join(base, "args"), "w")];
    // It ended before it made a view.
    expect(await wrapped.admit?.(ends)).toBe(false);
    await wrapped.release();
    const told = readFileSync(join(base, "args"), "utf8").split("\0");
    const variables = new Map(followedBy(told, "--setenv").map(([name = "", value = ""]) => [name, value]));
    expect([variables.get("HTTP_PROXY"), variables.get("SPACED")]).toEqual(["mine", "a b\nc"]);
    expect(variables.get("https_proxy")).toBe("http://u:p@127.0.0.1:3128");
    for (const end of ends) expect(() => fstatSync(end)).toThrow("EBADF");
  },
);

test.if(process.platform === "linux" && landlockModule.landlockAbi() >= 6)(
  "of Landlock's rules those that others may change hold for exactly that path, and nothing gives a network",
  async () => {
    const paths = { read: [join(base, "read")], write: [join(base, "write")] };
    const landlock = createLandlock();
    const wrapped = await landlock.wrap(commandWith({ paths, network: "none" }));
    await wrapped.release();
    const rules = JSON.parse(wrapped.argv.find((word) => word.startsWith("[{")) ?? "[]") as { path: string }[];
    const of = (path: string) => rules.filter((rule) => rule.path === path);
    expect(of(join(base, "read"))).toEqual([{ path: join(base, "read"), access: "read", exact: true } as never]);
    for (const path of [join(base, "write"), workspace])
      expect(of(path)).toEqual([{ path, access: "write", exact: true } as never]);
    expect([of("/"), of("/etc"), of("/proc"), of("/tmp")]).toEqual([[], [], [], []]);
    const network = { socket: "/s", username: "u", password: "p" };
    await expect(landlock.wrap(commandWith({ network }))).rejects.toMatchObject({ code: "sandbox_unavailable" });
    await expect(landlock.wrap(commandWith({ first: true }))).rejects.toMatchObject({ code: "sandbox_unavailable" });
    expect(await readdir(workspace)).toEqual([]);
  },
);

test.if(Bun.which("prlimit") !== null)(
  "a command without namespaces has its processes beside those of others, and a folder of its own in place of what was there",
  async () => {
    await symlink(join(base, "write"), temporaryIn(workspace));
    const first = await superviseCommand(commandWith(), undefined, ["lock-in"]);
    const place = await lstat(temporaryIn(workspace));
    expect([place.isDirectory(), place.isSymbolicLink()]).toEqual([true, false]);
    await chmod(temporaryIn(workspace), 0o000);
    const second = await superviseCommand(commandWith(), undefined, []);
    expect((await lstat(temporaryIn(workspace))).mode & 0o700).toBe(0o700);
    const processes = Number(/--nproc=(\d+)/.exec(first.argv.join(" "))?.[1]);
    expect(processes).toBeGreaterThan(defaultLimits.processes);
    expect(first.argv).toContain("lock-in");
    expect(first.argv.slice(-2)).toEqual(["tool", "-x"]);
    // What names code for our own processes arrives under another name.
    expect([Object.keys(first.env).includes("OWN"), unpacked(first.env)]).toEqual([false, { OWN: "1" }]);
    await first.release();
    expect(await readdir(workspace)).toEqual([".tmp"]);
    await second.release();
    expect([await readdir(workspace), await readdir(join(base, "write"))]).toEqual([[], []]);
  },
);
