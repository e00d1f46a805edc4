import { expect, test } from "bun:test";
import { chmod, mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { openWayArgv, stepDownArgv } from "./step-down.ts";

const user = { uid: 65534, gid: 65534 };

test("a path is opened to each folder below a closed one, but to none inside another", async () => {
  const closed = await mkdtemp(join(tmpdir(), "manyhands-ways-"));
  await chmod(closed, 0o700);
  const [one, inOne, other] = [join(closed, "one"), join(closed, "one", "in"), join(closed, "one-more")];
  for (const path of [inOne, other]) await mkdir(path, { recursive: true });
  const argv = openWayArgv([inOne, one, other], user);
  expect(argv.slice(argv.indexOf(closed))).toEqual([closed, "one", closed, "one-more", "--"]);
  expect(openWayArgv(["/usr"], user)).toEqual([]);
  expect(openWayArgv([one], undefined)).toEqual([]);
  await rm(closed, { recursive: true });
});

test("the ways lead through the outermost closed folder, folder by folder, in mounts that stay our own", async () => {
  const outer = await mkdtemp(join(tmpdir(), "manyhands-ways-"));
  const [inner, other] = [join(outer, "closed"), join(outer, "..", `${basename(outer)}-other`)];
  const [one, two, away] = [join(inner, "one"), join(outer, "two"), join(resolve(other), "away")];
  try {
    for (const path of [one, two, away]) await mkdir(path, { recursive: true });
    for (const path of [outer, inner]) await chmod(path, 0o700);
    // What others may list but not traverse is closed too.
    await chmod(other, 0o744);
    const argv = openWayArgv([one, away, two], user);
    const ways = [outer, "closed/one", outer, "two", resolve(other), "away"];
    expect(argv.slice(argv.indexOf("sh") + 1)).toEqual([...ways, "--"]);
    expect(argv.slice(1, 5)).toEqual(["--mount", "--propagation", "private", "--"]);
    if (process.getuid?.() !== 0) return;
    const look = ["sh", "-c", 'ls -A "$1" && stat -c %a "$1"', "sh", outer];
    const child = Bun.spawn([...argv, ...stepDownArgv(user), ...look], { cwd: "/", stderr: "pipe" });
    expect(await new Response(child.stdout).text()).toBe("closed\ntwo\n755\n");
    expect((await stat(outer)).mode & 0o777).toBe(0o700);
    expect(await Bun.file("/proc/self/mountinfo").text()).not.toContain(outer);
  } finally {
    await Promise.all([outer, other].map((path) => rm(path, { recursive: true, force: true })));
  }
});

test.skipIf(process.getuid?.() !== 0)("who steps down leaves all that was root's, and cannot get it back", async () => {
  const facts = "^(Uid|Gid|Groups|CapInh|CapPrm|CapEff|CapBnd|CapAmb|NoNewPrivs):";
  const argv = ["setpriv", "--groups=4", ...stepDownArgv(user), "grep", "-E", facts, "/proc/self/status"];
  const told = (await new Response(Bun.spawn(argv).stdout).text()).trim().split("\n");
  const none = "0".repeat(16);
  const capabilities = ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"].map((name) => [name, none]);
  const ids = ["Uid", "Gid"].map((name) => [name, "65534 65534 65534 65534"]);
  expect(told.map((line) => line.split(/:\s*/).map((part) => part.replaceAll("\t", " ")))).toEqual([
    ...ids,
    ["Groups", ""],
    ...capabilities,
    ["NoNewPrivs", "1"],
  ]);
});

test("who is not root does not step down", () => {
  expect(stepDownArgv(undefined)).toEqual([]);
});
