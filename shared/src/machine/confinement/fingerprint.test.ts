import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import * as files from "node:fs";
import { chmod, cp, mkdtemp, rm, symlink, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import * as mountTable from "../kernel/mount-table.ts";
import { readMounts } from "../kernel/mount-table.ts";
import { sandboxPath } from "../process/environment.ts";
import { confinementFingerprint, pythonFingerprint } from "./fingerprint.ts";

let folder: string;
const { PATH = "" } = process.env;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "manyhands-fingerprint-"));
});

afterAll(async () => {
  process.env.PATH = PATH;
  await rm(folder, { recursive: true });
});

test("confinement is recognized again while nothing has changed, and not on another file system", () => {
  const first = confinementFingerprint(folder);
  expect(confinementFingerprint(folder)).toBe(first);
  expect(confinementFingerprint(join(folder, ".."))).toBe(first);
  expect(confinementFingerprint("/proc")).not.toBe(first);
});

test.each(["bwrap", "prlimit", "setpriv", "unshare", "mount", "chown", "socat", "rg"])(
  "another %s, or the same one changed, is another confinement",
  async (name) => {
    const before = confinementFingerprint(folder);
    const bin = join(folder, `bin-${name}`);
    const program = join(bin, name);
    await Bun.write(program, "#!/bin/sh\n");
    await chmod(program, 0o755);
    process.env.PATH = `${bin}:${PATH}`;
    const other = confinementFingerprint(folder);
    await utimes(program, 1, 1);
    const changed = confinementFingerprint(folder);
    process.env.PATH = PATH;
    expect(new Set([before, other, changed]).size).toBe(3);
    expect(confinementFingerprint(folder)).toBe(before);
  },
);

test("a module that appears in one of our rooms is another confinement", async () => {
  // In a copy of ours, since servers of other tests look at the same rooms.
  const copy = join(folder, "copy");
  for (const part of ["core", "machine"])
    await cp(resolve(import.meta.dir, "../..", part), join(copy, part), { recursive: true });
  await symlink(resolve(import.meta.dir, "../../../node_modules"), join(copy, "node_modules"));
  const copied: typeof import("./fingerprint.ts") = await import(join(copy, "machine/confinement/fingerprint.ts"));
  for (const room of ["confinement", "kernel", "memory", "process", "sandbox"]) {
    const before = copied.confinementFingerprint(folder);
    const module = join(copy, "machine", room, "made.txt");
    await Bun.write(module, "");
    expect(copied.confinementFingerprint(folder)).not.toBe(before);
    await rm(module);
    expect(copied.confinementFingerprint(folder)).toBe(before);
  }
});

test("a process whose kernel allows it less has another fingerprint", async () => {
  const module = JSON.stringify(join(import.meta.dir, "fingerprint.ts"));
  const code = `console.log((await import(${module})).confinementFingerprint(${JSON.stringify(folder)}))`;
  const told = (wrapper: readonly string[]) => {
    const child = Bun.spawn([...wrapper, process.execPath, "--no-env-file", "-e", code], {
      cwd: "/",
      stderr: "inherit",
    });
    return new Response(child.stdout).text();
  };
  const [plain, again, bound] = await Promise.all([told([]), told([]), told(["setpriv", "--no-new-privs"])]);
  expect(plain).toMatch(/^\S+\n$/);
  expect(again).toBe(plain);
  expect(bound).not.toBe(plain);
});

test.each([
  "/proc/sys/kernel/random/boot_id",
  "/proc/sys/user/max_user_namespaces",
  "/proc/sys/kernel/unprivileged_userns_clone",
  "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
  "/proc/sys/kernel/yama/ptrace_scope",
  "/proc/self/cgroup",
])("confinement is another where %s says something else, and one that is not shown is no failure", (rule) => {
  const before = confinementFingerprint(folder);
  const { readFileSync } = files;
  let answer: () => string = () => "something else";
  using _ = spyOn(files, "readFileSync").mockImplementation(((path: string, encoding: "utf8") =>
    path === rule ? answer() : readFileSync(path, encoding)) as never);
  const other = confinementFingerprint(folder);
  answer = () => {
    throw Object.assign(new Error("not shown"), { code: "EACCES" });
  };
  const hidden = confinementFingerprint(folder);
  expect([other === before, hidden === other]).toEqual([false, false]);
  answer = () => {
    throw new TypeError("a bug");
  };
  expect(() => confinementFingerprint(folder)).toThrow("a bug");
});

test("another user, another group and another namespace are another confinement", () => {
  const seen = [confinementFingerprint(folder)];
  for (const name of ["geteuid", "getegid"] as const) {
    using _ = spyOn(process, name).mockReturnValue(4242);
    seen.push(confinementFingerprint(folder));
  }
  const { readlinkSync } = files;
  for (const name of ["user", "mnt"]) {
    using _ = spyOn(files, "readlinkSync").mockImplementation(((path: string) =>
      path === `/proc/self/ns/${name}` ? `${name}:[1]` : readlinkSync(path)) as never);
    seen.push(confinementFingerprint(folder));
  }
  expect(new Set(seen).size).toBe(5);
});

test("what covers a part of /proc is another confinement, and a mount elsewhere is not", () => {
  const before = confinementFingerprint(folder);
  const mounts = readMounts("self");
  using reading = spyOn(mountTable, "readMounts");
  const [first] = mounts;
  if (first === undefined) throw new Error("nothing is mounted");
  reading.mockReturnValue([...mounts, { ...first, at: "/srv/other" }]);
  expect(confinementFingerprint(folder)).toBe(before);
  reading.mockReturnValue([...mounts, { ...first, at: "/proc/bus" }]);
  expect(confinementFingerprint(folder)).not.toBe(before);
});

test("another python3 on the sandbox's path is another Python", () => {
  const first = pythonFingerprint([]);
  expect(pythonFingerprint([])).toBe(first);
  const { which } = Bun;
  using _ = spyOn(Bun, "which").mockImplementation((name, options) =>
    name === "python3" && options?.PATH === sandboxPath ? process.execPath : which(name, options),
  );
  expect(pythonFingerprint([])).not.toBe(first);
});
