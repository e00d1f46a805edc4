import { expect, spyOn, test } from "bun:test";
import { existsSync } from "node:fs";
import * as files from "node:fs/promises";
import { chown, mkdir, mkdtemp, readdir, readFile, rm, rmdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { defaultLimits } from "../sandbox/limits.ts";
import { joinGroupArgv, openControlGroups } from "./control-group.ts";
import { groupPlaces } from "./group-place.ts";

/** A control group tree of version 2 as the kernel shows it, made of plain files. */
async function unifiedTree(files: Readonly<Record<string, string>>) {
  const mount = await mkdtemp(join(tmpdir(), "manyhands-groups-"));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(mount, path)), { recursive: true });
    await Bun.write(join(mount, path), text);
  }
  return { mount, [Symbol.asyncDispose]: () => rm(mount, { recursive: true }) };
}

const bounds = (settings: readonly { file: string; value(limits: typeof defaultLimits): string }[] = []) =>
  Object.fromEntries(
    settings.map(({ file, value }) => [file, value({ ...defaultLimits, memoryBytes: 5, processes: 7 })]),
  );

test("version 2: groups are created beside our own if the parent allows memory limits", async () => {
  await using tree = await unifiedTree({
    "user/cgroup.subtree_control": "cpu memory pids",
    "user/app/cgroup.controllers": "cpu",
  });
  const places = groupPlaces({ own: "0::/user/app\n", mount: tree.mount });
  expect(places).toHaveLength(1);
  const place = await places[0]?.();
  expect(place?.parent).toBe(join(tree.mount, "user"));
  expect(bounds(place?.settings)).toEqual({ "memory.max": "5", "memory.swap.max": "0", "pids.max": "7" });
  const controllers = { "cgroup.subtree_control": "+memory +pids" };
  expect(bounds(place?.shared)).toEqual({ "memory.max": "5", "memory.swap.max": "0", ...controllers });
});

test("version 2: a group delegated by a service manager is divided, with our processes one level down", async () => {
  await using tree = await unifiedTree({
    "user/cgroup.subtree_control": "cpu",
    "user/app/cgroup.controllers": "cpu memory pids",
    "user/app/cgroup.procs": "123\n124\n",
    "user/app/cgroup.subtree_control": "",
  });
  const places = groupPlaces({ own: "0::/user/app\n", mount: tree.mount });
  expect(places).toHaveLength(1);
  const own = join(tree.mount, "user", "app");
  expect((await places[0]?.())?.parent).toBe(own);
  expect(await readFile(join(own, "cgroup.subtree_control"), "utf8")).toBe("+memory +pids");
  expect(await readFile(join(own, "manyhands-servers", "cgroup.procs"), "utf8")).toBe("124");
});

test("version 2: a process that ends or is started while ours move is no reason to give the group up, and no right to it is", async () => {
  const own = { own: "0::/user/app\n" };
  const { writeFile } = files;
  using writing = spyOn(files, "writeFile");
  for (const [pids, opened, divided] of [
    [["ESRCH"], ["EBUSY", "EBUSY"], true],
    [["EACCES"], [], false],
    [[], ["EACCES"], false],
    [[], Array.from({ length: 25 }, () => "EBUSY"), false],
  ] as const) {
    await using tree = await unifiedTree({
      "user/app/cgroup.controllers": "memory pids",
      "user/app/cgroup.procs": "123\n124\n",
      "user/app/cgroup.subtree_control": "",
    });
    const left = { procs: [...pids] as string[], subtree_control: [...opened] as string[] };
    writing.mockImplementation((async (path: string, text: string) => {
      const code = left[path.endsWith("cgroup.procs") ? "procs" : "subtree_control"].shift();
      if (code !== undefined) throw Object.assign(new Error(code), { code });
      await writeFile(path, text);
    }) as never);
    const place = await groupPlaces({ ...own, mount: tree.mount })[0]?.();
    expect(place?.parent).toBe(divided ? join(tree.mount, "user", "app") : undefined);
    const written = await readFile(join(tree.mount, "user/app/cgroup.subtree_control"), "utf8");
    expect(written).toBe(divided ? "+memory +pids" : "");
  }
});

test("version 2: neither the machine's root group nor one that is not delegated to us is used", async () => {
  await using tree = await unifiedTree({
    "cgroup.controllers": "memory",
    "cgroup.subtree_control": "memory",
    "a/cgroup.controllers": "memory",
  });
  expect(groupPlaces({ own: "0::/\n", mount: tree.mount })).toEqual([]);
  await using inner = await unifiedTree({ "cgroup.subtree_control": "memory", "root/cgroup.controllers": "memory" });
  expect(groupPlaces({ own: "0::/\n", mount: join(inner.mount, "root") })).toEqual([]);
  // There is nothing beside the root, and a place that cannot be moved into is given up.
  const [beside, within] = groupPlaces({ own: "0::/a\n", mount: tree.mount });
  expect((await beside?.())?.parent).toBe(tree.mount);
  expect(await within?.()).toBeUndefined();
});

test("version 2: groups count and bound processes only where they may, and our own lower level is not divided", async () => {
  await using tree = await unifiedTree({
    "user/cgroup.subtree_control": "memory",
    "user/manyhands-servers/cgroup.controllers": "memory pids",
  });
  const places = groupPlaces({ own: "0::/user/manyhands-servers\n", mount: tree.mount });
  expect(places).toHaveLength(1);
  const place = await places[0]?.();
  expect(bounds(place?.settings)).toEqual({ "memory.max": "5", "memory.swap.max": "0" });
  // A group's bound stands before what is inside it may have one.
  expect(place?.shared.map(({ file, required }) => [file, required])).toEqual([
    ["memory.max", true],
    ["memory.swap.max", false],
    ["cgroup.subtree_control", true],
  ]);
  expect(bounds(place?.shared)["cgroup.subtree_control"]).toBe("+memory");
  const [ended, own] = ["oom_kill", "oom"].map((word) => ({ file: "memory.events", word }));
  expect(place).toMatchObject({ ended, own });
});

test("version 1: the memory of a conversation is counted and bounded below our own group, beside other controllers", async () => {
  for (const own of ["5:memory:/ours\n", "5:cpu,memory,pids:/ours\n1:cpu:/else\n", "0::/\n5:memory:/ours\n"]) {
    const places = groupPlaces({ own, mount: "/mounted" });
    expect(places).toHaveLength(1);
    const place = await places[0]?.();
    expect(place).toMatchObject({
      parent: "/mounted/memory/ours",
      ended: { file: "memory.oom_control", word: "oom_kill" },
      own: { file: "memory.failcnt" },
    });
    expect(bounds(place?.shared)).toEqual({ "memory.use_hierarchy": "1", "memory.limit_in_bytes": "5" });
    expect(place?.settings.map(({ file, required }) => [file, required])).toEqual([["memory.limit_in_bytes", true]]);
  }
});

test("where no group can be created, or none be prepared, there are none", async () => {
  await using tree = await unifiedTree({ "a/cgroup.controllers": "memory" });
  for (const own of ["0::/a\n", "5:memory:/nowhere\n", "4:cpu:/\n", ""])
    expect(await openControlGroups(defaultLimits, { own, mount: tree.mount })).toBeUndefined();
});

const ownMemory = /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(.*)$/m.exec(
  await readFile("/proc/self/cgroup", "utf8").catch(() => ""),
)?.[1];
const delegated = `/sys/fs/cgroup/memory${ownMemory}/manyhands-test-${process.pid}`;
const canDelegate =
  process.getuid?.() === 0 &&
  ownMemory !== undefined &&
  (await mkdir(delegated).then(
    () => true,
    () => false,
  ));
if (canDelegate) await rmdir(delegated);

test.if(canDelegate)(
  "version 1: a server that is not root limits its commands' memory together, in the group it was given",
  async () => {
    await mkdir(delegated);
    for (const path of ["", "cgroup.procs"]) await chown(join(delegated, path), 65534, 65534);
    const text = `
    import { openControlGroups } from ${JSON.stringify(join(import.meta.dir, "control-group.ts"))};
    import { defaultLimits } from ${JSON.stringify(join(import.meta.dir, "../sandbox/limits.ts"))};
    const groups = await openControlGroups(defaultLimits);
    const group = await groups?.create("one", { ...defaultLimits, memoryBytes: 64 * 2 ** 20 });
    const bound = (folder) => Bun.file(folder + "/memory.limit_in_bytes").text();
    console.log(process.getuid(), await bound(group.folder), await bound(group.folder + "/.."));
    await group.remove();
  `;
    const script = join(tmpdir(), `manyhands-groups-${process.pid}.ts`);
    try {
      await Bun.write(script, text);
      const join1 = ["sh", "-c", 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"', "sh", delegated];
      const argv = [...join1, "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", process.execPath, script];
      const child = Bun.spawn(argv, { cwd: "/", env: { PATH: process.env.PATH ?? "" }, stderr: "inherit" });
      expect(await new Response(child.stdout).text()).toBe(`65534 ${64 * 2 ** 20}\n ${2 ** 31}\n\n`);
      expect(await child.exited).toBe(0);
    } finally {
      await rm(script, { force: true });
      await rmdir(delegated);
    }
  },
);

const groups = await openControlGroups(defaultLimits);
const none = { remove: async () => {}, hit: async () => undefined, folder: "/none/none/none" };
const create = async (conversation: string, limits = defaultLimits) =>
  (await groups?.create(conversation, limits)) ?? none;

test.if(groups !== undefined)(
  "the commands of a conversation share a group, which is there as long as any of them and no longer",
  async () => {
    const [one, two, other] = [await create("one"), await create("one"), await create("other")];
    const shared = dirname(one.folder);
    expect([dirname(two.folder), dirname(other.folder) === shared, one.folder === two.folder]).toEqual([
      shared,
      false,
      false,
    ]);
    await one.remove();
    expect([existsSync(one.folder), existsSync(two.folder), existsSync(shared)]).toEqual([false, true, true]);
    const third = await create("one");
    expect(dirname(third.folder)).toBe(shared);
    await Promise.all([two.remove(), third.remove()]);
    expect([existsSync(shared), existsSync(other.folder)]).toEqual([false, true]);
    const next = await create("one");
    expect(existsSync(next.folder)).toBe(true);
    await Promise.all([next.remove(), other.remove()]);
    expect(existsSync(dirname(next.folder))).toBe(false);
  },
);

test.if(groups !== undefined)("a group that cannot be bounded is refused, and nothing of it stays", async () => {
  const kept = await create("one");
  const parent = dirname(dirname(kept.folder));
  const own = async () => (await readdir(parent)).filter((name) => name.startsWith(`manyhands-${process.pid}-`));
  // Other tests of this process may have left some that are on their way out.
  const before = new Set(await own());
  for (const conversation of ["one", "other"])
    await expect(create(conversation, { ...defaultLimits, memoryBytes: Number.NaN })).rejects.toThrow("EINVAL");
  expect((await own()).filter((name) => !before.has(name))).toEqual([]);
  const inside = (await readdir(dirname(kept.folder))).filter((name) => name.startsWith("command-"));
  expect(inside).toHaveLength(1);
  await kept.remove();
  expect(existsSync(dirname(kept.folder))).toBe(false);
});

test.if(groups !== undefined)("what a killed server left is removed, and nothing of one that is alive", async () => {
  const mine = await create("mine");
  const parent = dirname(dirname(mine.folder));
  const gone = Bun.spawn(["true"]);
  await gone.exited;
  const left = join(parent, `manyhands-${gone.pid}-left`);
  const foreign = join(parent, `others-${gone.pid}-left`);
  for (const folder of [left, join(left, "command-a"), join(left, "command-b"), foreign]) await mkdir(folder);
  // What a command started that nothing confined, and nobody watched when all was killed at once.
  const [outlived, other] = [Bun.spawn(["sleep", "60"]), Bun.spawn(["sleep", "60"])];
  await writeFile(join(left, "command-b", "cgroup.procs"), `${outlived.pid}`);
  await writeFile(join(mine.folder, "cgroup.procs"), `${other.pid}`);
  try {
    await openControlGroups(defaultLimits);
    expect([left, foreign, mine.folder].map((folder) => existsSync(folder))).toEqual([false, true, true]);
    expect([await outlived.exited, outlived.signalCode, other.exitCode]).toEqual([137, "SIGKILL", null]);
  } finally {
    for (const process of [outlived, other]) process.kill("SIGKILL");
    await other.exited;
    await rmdir(foreign);
    await mine.remove();
  }
});

test.if(groups !== undefined)(
  "a process that is killed for memory is told once, with the bound that it hit",
  async () => {
    const small = { ...defaultLimits, memoryBytes: 16 * 2 ** 20 };
    const together = await openControlGroups(small);
    for (const [group, words] of [
      [await create("own", small), "memory 16 MB"],
      [await together?.create("shared", defaultLimits), "memory 16 MB of all commands of the conversation together"],
    ] as const) {
      if (group === undefined) throw new Error("no group");
      expect(await group.hit()).toBeUndefined();
      const greedy = Bun.spawn([...joinGroupArgv(group), "tail", "/dev/zero"], { stderr: "ignore" });
      expect(await greedy.exited).not.toBe(0);
      expect([await group.hit(), await group.hit()]).toEqual([words, undefined]);
      const again = Bun.spawn([...joinGroupArgv(group), "tail", "/dev/zero"], { stderr: "ignore" });
      await again.exited;
      expect(await group.hit()).toBe(words);
      await group.remove();
    }
  },
);
