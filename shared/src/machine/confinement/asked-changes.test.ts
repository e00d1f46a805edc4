import { afterEach, beforeEach, expect, test } from "bun:test";
import { closeSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { attributeCallReader, workingFolder } from "../kernel/attribute-calls.ts";
import { type LandlockRule, landlockAbi } from "../kernel/landlock.ts";
import { descriptorChannel, receiveDescriptors } from "../kernel/send-descriptors.ts";
import { launcherArgv } from "../process/own-script.ts";
import type { Confinement } from "./confinement.ts";
import { createLandlock } from "./landlock.ts";
import { probe } from "./probe.ts";

const hasLandlock = process.platform === "linux" && landlockAbi() >= 6;
/** What programs need, including Bun, and our own launcher. */
const readable = [
  "/usr",
  "/bin",
  "/lib",
  "/lib64",
  "/proc",
  "/sys",
  dirname(process.execPath),
  resolve(import.meta.dir, "../.."),
];

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "manyhands-asked-"));
  await writeFile(join(folder, "file"), "");
});
afterEach(() => rm(folder, { recursive: true }));

/**
 * The argv that locks in a shell script and refers its changes to files to the other end of
 * descriptor 3.
 */
function launched(script: string): string[] {
  const rules: LandlockRule[] = [
    ...readable.map((path) => ({ path, access: "read" as const })),
    ...["/dev/null", folder].map((path) => ({ path, access: "write" as const })),
  ];
  return [...launcherArgv(rules, "keep", "asked"), "/bin/sh", "-c", script];
}

/** Starts it with a channel to us, and returns the descriptors that were received on it. */
function start(script: string) {
  const [own, launchers] = descriptorChannel();
  const child = Bun.spawn(launched(script), { cwd: folder, stdio: ["pipe", "pipe", "pipe", launchers] });
  closeSync(launchers);
  const received = receiveDescriptors(own);
  closeSync(own);
  return { child, received };
}

test.if(hasLandlock)(
  "when the answering thread is gone, file changes fail as missing calls, and nobody waits",
  async () => {
    const { child, received } = start("read go; chmod 0700 file; echo $?; touch -d @5 file; echo $?");
    // The listener, and the folders that may be written.
    expect(received).toHaveLength(3);
    for (const descriptor of received) closeSync(descriptor);
    child.stdin.write("go\n");
    child.stdin.end();
    expect(await new Response(child.stdout).text()).toBe("1\n1\n");
    expect(await new Response(child.stderr).text()).toMatch(/Function not implemented[\s\S]*Function not implemented/);
  },
);

test.if(hasLandlock)("if the kernel cannot notify, file changes are refused", async () => {
  // The kernel allows one listener for a process and its ancestors.
  const inner = launched("chmod 0700 file || chmod 0700 file").map((word) => `'${word}'`);
  const { child, received } = start(`exec 3<file; exec ${inner.join(" ")}`);
  expect(await new Response(child.stderr).text()).toMatch(/Operation not permitted[\s\S]*Operation not permitted/);
  expect(await child.exited).toBe(1);
  for (const descriptor of received) closeSync(descriptor);
});

test.if(hasLandlock)("a tier that cannot change file modes says so", async () => {
  const landlock = createLandlock();
  await chmod(folder, 0o755);
  const refusing: Confinement = {
    ...landlock,
    async wrap(command) {
      const wrapped = await landlock.wrap(command);
      return { ...wrapped, argv: wrapped.argv.map((word) => (word === "asked" ? "refused" : word)) };
    },
  };
  expect(await probe(landlock, folder)).toEqual([]);
  expect(await probe(refusing, folder)).toEqual([
    expect.stringContaining("modes, owners and times of files cannot be"),
  ]);
});

test("calls are decoded by their numbers on each architecture", () => {
  const x64 = attributeCallReader("x64");
  const arm64 = attributeCallReader("arm64");
  const at = 0x7ffc_0000_1000n;
  const minus100 = 2n ** 64n - 100n;
  const read = { file: { folder: workingFolder, path: at, follow: true, mayBeEmpty: false }, flagsKnown: true };
  const mode = { of: "mode", mode: 0o755 } as const;
  expect(x64(90, [at, 0o755n, 0n, 0n, 0n, 0n])).toEqual({ ...read, change: mode });
  expect(arm64(90, [at, 0o755n, 0n, 0n, 0n, 0n])).toBeUndefined();
  for (const [reader, number] of [
    [x64, 268],
    [arm64, 53],
  ] as const)
    expect(reader(number, [minus100, at, 0o100755n, 0xffffn, 0n, 0n])).toEqual({ ...read, change: mode });
  for (const [reader, number] of [
    [x64, 280],
    [arm64, 88],
  ] as const)
    expect(reader(number, [7n, 0n, at, 0n, 0n, 0n])).toEqual({
      file: { folder: 7, follow: true, mayBeEmpty: false },
      change: { of: "times", at, form: "nanoseconds" },
      flagsKnown: true,
    });
  // Upper halves of words that the kernel ignores, and flags that it does not know.
  expect(x64(452, [0xffff_ffff_0000_0007n, at, 0n, 0x1100n, 0n, 0n])).toMatchObject({
    file: { folder: 7, follow: false, mayBeEmpty: true },
    flagsKnown: true,
  });
  expect(x64(452, [7n, at, 0n, 0x1n, 0n, 0n])).toMatchObject({ flagsKnown: false });
  expect(x64(0, [0n, 0n, 0n, 0n, 0n, 0n])).toBeUndefined();
});
