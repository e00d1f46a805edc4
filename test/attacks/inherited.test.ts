import { dlopen, FFIType, ptr } from "bun:ffi";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmod, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { callNumber, knownProcessor } from "../../shared/src/machine/kernel/syscall-numbers.ts";
import { joinNewSessionKeyring } from "../../shared/src/machine/kernel/this-process.ts";
import { runCommand } from "../../shared/src/machine/sandbox/run-command.ts";
import { availableTiers, type OpenTier, openTier } from "../../shared/src/testing/sandbox/tiers.ts";

/**
 * What a command inherits from the server that started it without being passed: descriptors, keys,
 * the terminal.
 */
const tiers = await availableTiers();

describe.each(tiers)("tier %s", (tier) => {
  let open: OpenTier;
  const run = (script: string) =>
    runCommand(
      open.sandbox,
      { argv: ["python3", "-c", script], workspace: open.workspace },
      { signal: AbortSignal.timeout(60_000) },
    );
  beforeAll(async () => {
    open = await openTier(tier);
  });
  afterAll(() => open.close());

  test("a command has its three streams and no other descriptor, and the server keeps none of those it passed on", async () => {
    const script = `
import os
def there(number):
    try: os.fstat(number)
    except OSError: return False
    return True
print([number for number in range(1024) if there(number)])
`;
    const ours = async () => (await readdir("/proc/self/fd")).length;
    await run(script);
    const before = await ours();
    for (let start = 0; start < 5; start++) expect((await run(script)).stdout).toBe("[0, 1, 2]\n");
    expect(await ours()).toBeLessThan(before + 3);
  });

  test("loader and shell variables of a command's environment affect nothing outside the sandbox", async () => {
    // Each program that the loader starts with this environment writes a file if it can.
    const place = await mkdtemp(join(tmpdir(), "loader-"));
    await chmod(place, 0o777);
    try {
      const env = { LD_DEBUG: "libs", LD_DEBUG_OUTPUT: join(place, "told"), PATH: place, NAMED: "a b'\"\n$c" };
      const argv = ["/usr/bin/env", "-0"];
      const { stdout } = await runCommand(
        open.sandbox,
        { argv, workspace: open.workspace, env },
        { signal: AbortSignal.timeout(60_000) },
      );
      // The command has it, and its own loader's output comes first.
      for (const [name, value] of Object.entries(env)) expect(stdout).toContain(`${name}=${value}\0`);
      expect(await readdir(place)).toEqual([]);
    } finally {
      await rm(place, { recursive: true });
    }
  });

  test("a command started from a terminal has no terminal, so that it neither reads from it nor types into it", async () => {
    const fixture = join(import.meta.dir, "in-terminal.fixture.ts");
    const pty = `
import os, pty, sys
pty.spawn(sys.argv[1:], lambda fd: os.read(fd, 4096))
`;
    const argv = ["python3", "-c", pty, process.execPath, fixture, tier, open.workspace];
    const child = Bun.spawn(argv, { stdin: "ignore", stdout: "pipe", stderr: "inherit" });
    expect((await new Response(child.stdout).text()).trim()).toBe("server: terminal, command: none");
  });
});

const processor = knownProcessor(process.arch);
const keys = await readFile("/proc/keys", "utf8").catch(() => undefined);

// Tested where only the keyring itself protects the key: the confining tiers refuse the calls.
test.if(keys !== undefined && processor !== undefined)(
  "a command has no access to the session keyring of the server",
  async () => {
    const open = await openTier("off");
    try {
      const name = `manyhands-${crypto.randomUUID()}`;
      const { symbols } = dlopen("libc.so.6", {
        syscall: {
          args: [FFIType.i64, FFIType.ptr, FFIType.ptr, FFIType.ptr, FFIType.i64, FFIType.i64],
          returns: FFIType.i64,
        },
      });
      const text = (words: string) => ptr(new TextEncoder().encode(`${words}\0`));
      joinNewSessionKeyring();
      const number = callNumber("add_key", processor ?? "x64") ?? 0;
      const sessionKeyring = -3;
      expect(symbols.syscall(number, text("user"), text(name), text("secret"), 6, sessionKeyring)).toBeGreaterThan(0n);
      expect(await readFile("/proc/keys", "utf8")).toContain(name);
      const argv = ["cat", "/proc/keys"];
      const { stdout } = await runCommand(
        open.sandbox,
        { argv, workspace: open.workspace },
        { signal: AbortSignal.timeout(60_000) },
      );
      expect(stdout).not.toContain(name);
    } finally {
      await open.close();
    }
  },
);
