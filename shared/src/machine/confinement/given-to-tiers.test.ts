import { afterAll, afterEach, beforeAll, beforeEach, expect, spyOn, test } from "bun:test";
import { chmod, mkdir, mkdtemp, realpath, rm, stat, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withinTrace } from "../../core/trace.ts";
import { sendSignal } from "../kernel/process-table.ts";
import * as groups from "../memory/control-group.ts";
import * as watches from "../memory/conversation-watch.ts";
import { unprivilegedUser } from "../process/step-down.ts";
import { defaultLimits } from "../sandbox/limits.ts";
import * as bwrap from "./bwrap.ts";
import type { ConfinedCommand, Confinement } from "./confinement.ts";
import { createSandbox, type SandboxOptions } from "./create-sandbox.ts";
import * as landlock from "./landlock.ts";
import * as probes from "./probe.ts";
import * as srt from "./srt.ts";

let folder: string;
let workspace: string;
/** What happened, in order. */
let done: string[] = [];
let wrapped: ConfinedCommand[] = [];
/** What the wrapping of a command waits for. */
let wrapping: () => Promise<unknown> = () => Promise.resolve();

/** A tier that confines nothing and notes what it is given. */
function tier(name: Confinement["tier"], profile?: Confinement["profile"]): Confinement {
  return {
    ...{ tier: name, ...(profile && { profile }), summary: "a tier", user: undefined },
    temporary: (path) => `${path}/.tmp`,
    async wrap(command) {
      wrapped.push(command);
      done.push("wrap");
      await wrapping();
      return {
        ...{ argv: ["/bin/sh", "-c", command.argv[0] ?? ""], env: {}, leader: () => undefined },
        end: (started) => void sendSignal(started, "SIGKILL"),
        release: async () => void done.push("release"),
      };
    },
    close: async () => void done.push(`close ${name}`),
  };
}

const opening = {
  srt: spyOn(srt, "createSrt"),
  bwrap: spyOn(bwrap, "createBwrap"),
  landlock: spyOn(landlock, "createLandlock"),
};
const probing = spyOn(probes, "probe");
const grouping = spyOn(groups, "openControlGroups");
const watching = spyOn(watches, "createConversationWatch");
const open = (options: Partial<SandboxOptions> = {}) => createSandbox({ mode: "bwrap", folder, ...options });

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "manyhands-tiers-")));
  workspace = join(folder, "one");
  await mkdir(workspace);
  await symlink(workspace, join(folder, "link"));
});

beforeEach(() => {
  [done, wrapped, wrapping] = [[], [], () => Promise.resolve()];
  opening.srt.mockImplementation(async () => tier("srt", "own-proc"));
  opening.bwrap.mockImplementation((profile) => tier("bwrap", profile));
  opening.landlock.mockImplementation(() => tier("landlock"));
  probing.mockImplementation(async () => []);
  grouping.mockImplementation(async () => undefined);
});

afterEach(() => {
  for (const spy of [...Object.values(opening), probing, grouping, watching]) spy.mockClear();
});

afterAll(async () => {
  for (const spy of [...Object.values(opening), probing, grouping, watching]) spy.mockRestore();
  await rm(folder, { recursive: true });
});

test("everything a command asks for reaches its tier, in its real workspace, which its owner may enter again", async () => {
  const python = join(folder, "python");
  await mkdir(python);
  await symlink(python, join(folder, "python-link"));
  const sandbox = await open({ limits: { memoryBytes: 5 * 2 ** 30 }, python: join(folder, "python-link") });
  await chmod(workspace, 0o500);
  const network = { socket: "/proxy", username: "u", password: "p" };
  const asked = { network, loopback: "/loop", first: true, paths: { read: ["/r"], write: ["/w"] } };
  const trace = { traceparent: `00-${"1".repeat(32)}-${"2".repeat(16)}-01`, tracestate: "a=b" };
  const command = { argv: ["exit 0"], workspace: join(folder, "link"), limits: { processes: 9 } };
  const env = { TRACESTATE: "its=own", NAMED: "yes" };
  const spawned = await withinTrace(trace, () => sandbox.spawn({ ...command, ...asked, env }));
  expect(await spawned.exited).toBe(0);
  expect(wrapped[0]).toEqual({
    ...{ argv: ["exit 0"], workspace, group: undefined, network, loopback: "/loop", first: true },
    limits: { ...defaultLimits, memoryBytes: 5 * 2 ** 30, processes: 9 },
    paths: { read: ["/r", python], write: ["/w"] },
    env: expect.objectContaining({
      ...{ HOME: workspace, TMPDIR: `${workspace}/.tmp`, VIRTUAL_ENV: python },
      ...{ TRACEPARENT: trace.traceparent, TRACESTATE: "its=own", NAMED: "yes" },
    }),
  });
  expect((await stat(workspace)).mode & 0o777).toBe(0o700);
  const plain = await sandbox.spawn({ argv: ["exit 0"], workspace });
  await plain.exited;
  expect(Object.keys(wrapped[1] ?? {}).sort()).toEqual(["argv", "env", "group", "limits", "paths", "workspace"]);
  expect(wrapped[1]).toMatchObject({
    paths: { read: [python], write: [] },
    limits: { processes: defaultLimits.processes },
  });
  await sandbox.close();
});

test("a conversation's own bound is watched where no group can be made, or none be made any more", async () => {
  const added: unknown[] = [];
  const bound = { hit: async () => undefined, remove: async () => void done.push("unwatch") };
  watching.mockReturnValue({ add: (path: string) => added.push(path) && bound } as never);
  const limits = { memoryBytes: 3 * 2 ** 30 };
  const alone = await open({ limits });
  expect(grouping.mock.calls[0]).toEqual([{ ...defaultLimits, ...limits }]);
  expect(watching.mock.calls).toEqual([[limits.memoryBytes]]);
  expect(alone.description).toContain("by looking four times a second");
  await (await alone.spawn({ argv: ["exit 0"], workspace })).exited;
  grouping.mockResolvedValue({ create: () => Promise.reject(new Error("the place is full")) });
  const full = await open();
  expect(full.description).toContain("by control group");
  await (await full.spawn({ argv: ["exit 0"], workspace })).exited;
  expect(added).toEqual([workspace, workspace]);
  watching.mockRestore();
});

test("a command joins the group of its workspace, with its own limits, and leaves none behind if it does not start", async () => {
  const created: unknown[] = [];
  const group = { folder: "/none", hit: async () => undefined, remove: async () => void done.push("remove") };
  grouping.mockResolvedValue({
    async create(...args) {
      created.push(args);
      return group;
    },
  });
  const sandbox = await open();
  await (await sandbox.spawn({ argv: ["exit 0"], workspace, limits: { memoryBytes: 7 } })).exited;
  expect(created).toEqual([[workspace, { ...defaultLimits, memoryBytes: 7 }]]);
  expect(wrapped[0]?.group).toBe(group);
  expect(done).toEqual(["wrap", "release", "remove"]);
  done = [];
  wrapping = () => Promise.reject(new Error("cannot be wrapped"));
  await expect(sandbox.spawn({ argv: ["exit 0"], workspace })).rejects.toThrow("cannot be wrapped");
  expect(done).toEqual(["wrap", "remove"]);
});

test("closing ends what runs and what is being started, waits for both, and closes the tier last", async () => {
  const sandbox = await open();
  const running = await sandbox.spawn({ argv: ["exec sleep 600"], workspace });
  const prepared = Promise.withResolvers<void>();
  wrapping = () => prepared.promise;
  const starting = sandbox.spawn({ argv: ["exec sleep 600"], workspace });
  while (wrapped.length < 2) await Bun.sleep(1);
  const closing = sandbox.close();
  await expect(sandbox.spawn({ argv: ["exit 0"], workspace })).rejects.toMatchObject({ code: "sandbox_unavailable" });
  await running.exited;
  expect(done).toEqual(["wrap", "wrap", "release"]);
  prepared.resolve();
  await (await starting).exited;
  await closing;
  expect(done).toEqual(["wrap", "wrap", "release", "release", "close bwrap"]);
});

test("a tier that fails its trial is closed before the next is tried, and its reason is told after the notes of the one that passed", async () => {
  probing.mockImplementation(async ({ tier }) => {
    done.push(`probe ${tier}`);
    if (tier === "landlock") return ["a note"];
    throw new Error("a forbidden file could be read");
  });
  const sandbox = await open({ mode: "auto" });
  expect(done).toEqual(["probe bwrap", "close bwrap", "probe landlock"]);
  expect(sandbox.description).toEndWith(
    " | a note | srt: not needed, as no domain is allowed | bwrap: a forbidden file could be read",
  );
  expect(sandbox).toMatchObject({ tier: "landlock", user: undefined });
  expect(sandbox).not.toHaveProperty("profile");
});

test("a view without /proc is tried only where its own cannot be had, and each way is told", async () => {
  probing.mockImplementation(async ({ profile }) => {
    if (profile === "own-proc") throw new Error("bwrap: Can't mount proc on /newroot/proc: Operation not permitted");
    return [];
  });
  expect(await open()).toMatchObject({ tier: "bwrap", profile: "no-proc" });
  expect(opening.bwrap.mock.calls).toEqual([["own-proc"], ["no-proc"]]);
  opening.bwrap.mockClear();
  probing.mockRejectedValue(new Error("a command failed beside /proc"));
  expect((await open()).tier).toBe("none");
  expect(opening.bwrap.mock.calls).toEqual([["own-proc"]]);
});

test.each<[Partial<SandboxOptions>, string[]]>([
  [{ mode: "auto" }, ["bwrap", "landlock"]],
  [{ mode: "auto", network: { allow: [] } }, ["bwrap", "landlock"]],
  [{ mode: "auto", network: { allow: ["a.example"] } }, ["srt", "bwrap", "landlock"]],
  [{ mode: "srt", network: { allow: ["a.example"] } }, ["srt"]],
  [{ mode: "landlock" }, ["landlock"]],
  [{ mode: "bwrap" }, ["bwrap"]],
])("with %j these tiers are tried, in this order, and none is left running: %j", async (options, expected) => {
  probing.mockImplementation(async ({ tier }) => {
    done.push(tier);
    throw new Error("does not confine");
  });
  const sandbox = await open(options);
  expect(done).toEqual(expected.flatMap((name) => [name, `close ${name}`]));
  expect(sandbox).toMatchObject({ tier: "none", user: unprivilegedUser() });
  if (expected[0] === "srt") expect(opening.srt.mock.calls[0]).toEqual(["own-proc", ["a.example"]]);
});
