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

test.skipIf(process.getuid?.() !== 0)("who steps down leaves all groups of root's", async () => {
  const argv = ["setpriv", "--groups=4", ...stepDownArgv(user), "grep", "^Groups:", "/proc/self/status"];
  expect((await new Response(Bun.spawn(argv).stdout).text()).trim()).toBe("Groups:");
});
