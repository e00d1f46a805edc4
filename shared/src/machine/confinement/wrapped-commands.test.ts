import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { fstatSync, openSync, readFileSync } from "node:fs";
import { chmod, lstat, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as landlockModule from "../kernel/landlock.ts";
import * as processes from "../kernel/process-table.ts";
import * as filters from "../kernel/syscall-filter.ts";
import { unpacked } from "../process/environment.ts";
import { defaultLimits } from "../sandbox/limits.ts";
import { createBwrap } from "./bwrap.ts";
import type { ConfinedCommand } from "./confinement.ts";
import { createLandlock } from "./landlock.ts";
import * as views from "./made-view.ts";
import * as pinned from "./pinned-names.ts";
import { proxyBridge } from "./proxy-bridge.ts";
import { superviseCommand, temporaryIn } from "./supervised.ts";
import * as remains from "./view-remains.ts";

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
    const proxy = "http://u:p@127.0.0.1:3128";
    const lower = { http_proxy: proxy, https_proxy: proxy, all_proxy: proxy, no_proxy: "localhost,127.0.0.1" };
    const upper = { HTTPS_PROXY: proxy, ALL_PROXY: proxy, NO_PROXY: lower.no_proxy, NODE_USE_ENV_PROXY: "1" };
    expect(Object.fromEntries(variables)).toEqual({ ...lower, ...upper, ...env });
    for (const end of ends) expect(() => fstatSync(end)).toThrow("EBADF");
    const { env: through } = proxyBridge({ ...network, loopback: true });
    expect([through.no_proxy, through.NO_PROXY, through.http_proxy]).toEqual(["", "", proxy]);
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

test.if(Bun.which("prlimit") !== null && process.getuid?.() === 0)(
  "a command without namespaces joins its group first, and is the sandbox's user's in a folder that is theirs",
  async () => {
    const user = { uid: 65534, gid: 65534 };
    const group = { folder: "/group", hit: async () => undefined, remove: async () => {} };
    const locked = await superviseCommand(commandWith({ group }), user, ["lock-in"]);
    const words = ["/group", "65534:65534", "lock-in", "--reuid=65534", "--nofile=1024", workspace, "tool"];
    expect(order(locked.argv, ...words)).toEqual(words);
    expect(locked.argv[locked.argv.indexOf("65534:65534") - 1]).toBe("keep");
    expect(locked.argv.join(" ")).not.toContain("--as=");
    const { uid, gid } = await lstat(temporaryIn(workspace));
    expect({ uid, gid }).toEqual(user);
    await locked.release();
    const free = await superviseCommand(commandWith(), undefined, []);
    expect(free.argv.slice(0, free.argv.indexOf("--")).join(" ")).toMatch(
      /supervisor\.ts unpack none \S+setpriv --pdeathsig=KILL$/,
    );
    expect(free.argv.join(" ")).toContain("--as=");
    const own = await superviseCommand(commandWith(), undefined, ["lock-in"]);
    expect(own.argv.join(" ")).toContain("supervisor.ts keep self lock-in");
    await Promise.all([free.release(), own.release()]);
    expect(await readdir(workspace)).toEqual([]);
  },
);

test("the command of a supervisor is the eldest of its children, and the supervisor is asked to end what it has", async () => {
  const entry = (pid: number, parent: number, startedAt: number) =>
    [pid, { pid, parent, startedAt, state: "S", residentBytes: 0 }] as const;
  const table = new Map([entry(3, 1, 1), entry(5, 4, 30), entry(6, 4, 20), entry(7, 6, 10)]);
  using _ = spyOn(processes, "readProcessTable").mockReturnValue(table);
  using signalling = spyOn(processes, "sendSignal").mockReturnValue(undefined);
  const wrapped = await superviseCommand(commandWith(), undefined, []);
  expect([wrapped.leader(4), wrapped.leader(8)]).toEqual([6, undefined]);
  wrapped.end(4);
  expect(signalling.mock.calls).toEqual([[4, "SIGTERM"]]);
  await wrapped.release();
});

test.if(hasBwrap)(
  "guarded names are held again only for a view that still has them, and never after its end",
  async () => {
    const leave = { own: 0, again: 0 };
    using pinning = spyOn(pinned, "pinNames");
    using holding = spyOn(views, "viewHolds");
    using unpinning = spyOn(pinned, "unpinNames").mockResolvedValue(undefined as never);
    const pins = (name: "own" | "again", names: readonly string[]) => ({
      ...{ argv: [], names, loosen: () => false, leave: () => void leave[name]++ },
      release: async () => void released.push(name),
    });
    const released: string[] = [];
    pinning
      .mockResolvedValueOnce(pins("own", [".bashrc"]) as never)
      .mockResolvedValue(pins("again", [".profile"]) as never);
    const wrapped = await createBwrap("own-proc").wrap(commandWith());
    // What is not started has no view to come back to.
    expect(await wrapped.resume?.()).toBe(false);
    using _ = spyOn(views, "admitView").mockImplementation(async ({ told }) => {
      told(4_194_303);
      return true;
    });
    const ends = [openSync("/dev/null", "r"), openSync("/dev/null", "r"), openSync("/dev/null", "w")];
    await wrapped.admit?.(ends);
    holding.mockReturnValue(false);
    wrapped.rest?.();
    await chmod(workspace, 0o500);
    expect([await wrapped.resume?.(), released]).toEqual([false, ["again"]]);
    expect((await lstat(workspace)).mode & 0o777).toBe(0o700);
    const [pid, ordered] = holding.mock.calls[0] ?? [];
    expect([pid, ordered?.shown]).toEqual([4_194_303, [workspace, join(workspace, ".profile")]]);
    holding.mockReturnValue(true);
    expect([await wrapped.resume?.(), leave]).toEqual([true, { own: 1, again: 0 }]);
    await wrapped.release();
    expect([released, unpinning.mock.calls.length]).toEqual([["again", "again"], 0]);
    expect([await wrapped.resume?.(), released]).toEqual([false, ["again", "again", "again"]]);
    pinning.mockResolvedValue(pins("own", []) as never);
    const resting = await createBwrap("own-proc").wrap(commandWith());
    resting.rest?.();
    resting.rest?.();
    await resting.release();
    expect([leave.own, unpinning.mock.calls]).toEqual([2, [[workspace]]]);
  },
);

test.if(hasSocat)(
  "a view is checked with all that was ordered, its filter, and its first process, which ends with it",
  async () => {
    const network = { socket: join(base, "socket"), username: "u", password: "p" };
    await writeFile(network.socket, "");
    using admitting = spyOn(views, "admitView");
    using ending = spyOn(remains, "endRemains").mockResolvedValue(undefined);
    using signalling = spyOn(processes, "sendSignal").mockReturnValue(undefined);
    const entry = (pid: number, parent: number) =>
      [pid, { pid, parent, startedAt: 7, state: "S", residentBytes: 0 }] as const;
    using _ = spyOn(processes, "readProcessTable").mockReturnValue(new Map([entry(5, 4), entry(6, 5), entry(7, 6)]));
    using __ = spyOn(processes, "innerPid").mockImplementation((pid) => pid - 5);
    using ___ = spyOn(processes, "startOf").mockReturnValue(7);
    admitting.mockImplementation(async ({ told }) => {
      told(6);
      return true;
    });
    for (const [first, filter] of [
      [false, filters.namespaceFilter()],
      [true, filters.firstProcessFilter()],
    ] as const) {
      const more = { network, loopback: join(base, "read"), paths: { read: [], write: [join(base, "write")] }, first };
      const wrapped = await createBwrap("own-proc").wrap(commandWith(more));
      expect(wrapped.argv.join(" ")).toContain("--as=");
      expect(wrapped.argv).toEqual(expect.arrayContaining([join(base, "read"), "/loopback"]));
      const ends = () => [openSync("/dev/null", "r"), openSync("/dev/null", "r"), openSync("/dev/null", "w")];
      expect(wrapped.leader(4)).toBe(first ? 6 : 7);
      wrapped.end(4);
      expect(await wrapped.admit?.(ends())).toBe(true);
      const [gate, ordered] = admitting.mock.calls.at(-1) ?? [];
      expect(gate?.filter).toEqual(filter);
      expect(ordered?.moved).toEqual([
        { at: "/egress.sock", source: network.socket },
        { at: "/loopback", source: join(base, "read") },
      ]);
      expect(ordered?.shown.slice(0, 2)).toEqual([workspace, join(base, "write")]);
      wrapped.end(4);
      expect(signalling.mock.calls.splice(0)).toEqual([4, 6, 4].map((pid) => [pid, "SIGKILL"]));
      await wrapped.endRest?.();
      const [ended, given] = ending.mock.calls.at(-1) ?? [];
      expect([ended, given?.slice(-2)]).toEqual([{ pid: 6, startedAt: 7 }, ["tool", "-x"]]);
      await wrapped.release();
    }
    expect(filters.namespaceFilter()).not.toEqual(filters.firstProcessFilter());
  },
);

test.if(hasSocat && process.getuid?.() === 0)("a way is opened to the folder of a loopback too", async () => {
  const closed = await mkdtemp(join(tmpdir(), "manyhands-closed-"));
  const loopback = join(closed, "loopback");
  await mkdir(loopback);
  const { argv, release } = await createBwrap("own-proc").wrap(commandWith({ loopback }));
  await release();
  expect(argv[argv.indexOf(closed) + 1]).toBe("loopback");
  await rm(closed, { recursive: true });
});
