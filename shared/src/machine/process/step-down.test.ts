import { expect, test } from "bun:test";
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
