import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { homedir, hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { fixture, hostForTest } from "./host-for-test.ts";

const serve = (answer: string) => Bun.serve({ port: 0, hostname: "0.0.0.0", fetch: () => new Response(answer) });
let allowed: ReturnType<typeof serve>;
let other: ReturnType<typeof serve>;

beforeAll(() => {
  [allowed, other] = [serve("allowed"), serve("other")];
});
afterAll(() => Promise.all([allowed.stop(true), other.stop(true)]));

/**
 * A server that uses its proxy for addresses of this machine too, which programs exclude by
 * default.
 */
const proxied = (network: string[]) => ({ ...fixture("hostile"), network, env: { NO_PROXY: "", no_proxy: "" } });

const at = (server: { port?: number | undefined }, host = "127.0.0.1") => `${host}:${server.port}`;

test("a server reaches the hosts its entry names, and no other, however it tries", async () => {
  await using it = await hostForTest({ s: proxied([at(allowed), "localhost", hostname()]) });
  const fetched = async (host: string) => (await it.call("s__fetch", { text: `http://${host}/` })).text;
  expect(await fetched(at(allowed))).toContain("200 allowed");
  expect(await fetched(at(other))).toContain("403");
  expect(await fetched("example.com")).toContain("403");
  // An allowed name may still lead to this machine.
  for (const name of ["localhost", hostname()]) expect(await fetched(at(other, name))).toContain("403");
  for (const server of [allowed, other])
    expect((await it.call("s__dial", { text: at(server) })).text).toContain("kept out");
  expect(it.warnings.join()).toContain("kept from the network");
  expect(it.warnings.join()).toContain("example.com");
});

test("a server whose entry names no host has no network, whatever other servers and commands may reach", async () => {
  await using it = await hostForTest(
    { open: proxied([at(allowed)]), shut: fixture("hostile") },
    { allowDomains: [at(allowed)] },
  );
  expect((await it.call("open__fetch", { text: `http://${at(allowed)}/` })).text).toContain("200 allowed");
  expect((await it.call("shut__fetch", { text: `http://${at(allowed)}/` })).text).toContain("kept out");
  expect((await it.call("shut__dial", { text: "127.0.0.1:3128" })).text).toContain("kept out");
  expect((await it.call("shut__environment")).text).not.toMatch(/proxy/i);
});

test("a host denied to all is denied even to a server whose entry names it", async () => {
  await using it = await hostForTest({ s: proxied(["*", at(allowed)]) }, { policy: { deny: [at(allowed)] } });
  expect((await it.call("s__fetch", { text: `http://${at(allowed)}/` })).text).toContain("403");
});

test("a server reads neither the home nor another server's folder, and writes only to its own", async () => {
  await using it = await hostForTest({ s: fixture("hostile"), t: fixture("hostile") });
  const canary = "CANARY-7d2f";
  await it.tools();
  const hidden = [join(it.home, "mcp-key"), join(it.home, "mcp", "t", "notes"), it.file];
  for (const path of hidden) await writeFile(path, canary, { mode: 0o666 });
  const elsewhere = [join(homedir(), ".ssh/id_rsa"), "/etc/shadow", `/proc/${process.pid}/environ`];
  for (const path of [...hidden, ...elsewhere])
    expect((await it.call("s__read", { text: path })).text).toContain("kept out");
  const own = join(it.home, "mcp", "s", "new");
  const foreign = [...hidden, join(it.home, "new"), "/usr/new"];
  // If a write seems to succeed, it went to a separate file system.
  for (const text of [...foreign, own]) await it.call("s__write", { text });
  for (const path of hidden) expect(await readFile(path, "utf8")).toBe(canary);
  expect([join(it.home, "new"), "/usr/new", own].map(existsSync)).toEqual([false, false, true]);
});

/**
 * A project as a user has it: the home, the settings, a server's script and a secret in one folder,
 * which the user owns.
 */
async function project(home: string) {
  const names = {
    script: "server.ts",
    beside: "secret.txt",
    key: "mcp-mount-key",
    runs: "runs.db",
    settings: "mcp.json",
  };
  const path = Object.fromEntries(Object.entries(names).map(([key, name]) => [key, join(home, name)]));
  const { args, ...entry } = fixture("hostile");
  await copyFile(args[0] ?? "", join(home, "server.ts"));
  for (const name of ["secret.txt", "mcp-mount-key", "runs.db"])
    await writeFile(join(home, name), "canary", { mode: 0o644 });
  return { entry, path: path as Record<keyof typeof names, string> };
}

test("of a file that an argument names only the file is visible, nothing beside it, by its own name or a link", async () => {
  await using it = await hostForTest({});
  const lib = await mkdtemp(join(tmpdir(), "manyhands-lib-"));
  try {
    await chmod(lib, 0o755);
    const { entry } = await project(lib);
    await mkdir(join(lib, "links"));
    await symlink(join(lib, "server.ts"), join(lib, "links", "linked.ts"));
    for (const script of [join(lib, "server.ts"), join(lib, "links", "linked.ts")]) {
      await it.write({ s: { ...entry, args: [script] } });
      for (const name of ["secret.txt", "runs.db", "links/linked.ts"])
        expect((await it.call("s__read", { text: join(lib, name) })).text).toContain("kept out");
    }
  } finally {
    await rm(lib, { recursive: true });
  }
});

test("neither an argument nor a link leads a server to the keys, the runs or the settings of the home", async () => {
  await using it = await hostForTest({});
  const { path } = await project(it.home);
  const link = join(tmpdir(), `manyhands-link-${crypto.randomUUID()}`);
  await symlink(path.key, link);
  try {
    const hostile = fixture("hostile");
    await it.write({
      s: { ...hostile, args: [...hostile.args, path.key, path.runs, path.settings, path.script, link] },
    });
    for (const file of [path.key, path.runs, path.settings, path.beside, path.script, link])
      expect((await it.call("s__read", { text: file })).text).toContain("kept out");
  } finally {
    await rm(link);
  }
});

test("a folder whose name only starts like the home's is treated like any other", async () => {
  await using it = await hostForTest({});
  const beside = `${it.home}-too`;
  await mkdir(beside);
  try {
    await chmod(beside, 0o755);
    await writeFile(join(beside, "data.txt"), "seen", { mode: 0o644 });
    const hostile = fixture("hostile");
    await it.write({ s: { ...hostile, args: [...hostile.args, join(beside, "data.txt")] } });
    expect((await it.call("s__read", { text: join(beside, "data.txt") })).text).toContain("seen");
  } finally {
    await rm(beside, { recursive: true });
  }
});

test("of a program beside the home or the settings only its own file is visible", async () => {
  await using it = await hostForTest({});
  const { path } = await project(it.home);
  const program = join(it.home, "program");
  await writeFile(program, `#!/bin/sh\nexec ${process.execPath} ${fixture("hostile").args[0]}\n`, { mode: 0o755 });
  await it.write({ s: { ...fixture("hostile"), command: program, args: [fixture("hostile").args[0]] } });
  for (const file of [path.key, path.beside])
    expect((await it.call("s__read", { text: file })).text).toContain("kept out");
});

test.each(["cwd", "read", "write"] as const)(
  "a %s that contains the home, the settings or the user's own folder is refused by name, even behind a link",
  async (key) => {
    await using it = await hostForTest({});
    const link = join(tmpdir(), `manyhands-link-${crypto.randomUUID()}`);
    await symlink(it.home, link);
    try {
      for (const folder of [it.home, tmpdir(), link, homedir(), "/"]) {
        await it.write({ s: { ...fixture("hostile"), [key]: key === "cwd" ? folder : [folder] } });
        expect(await it.tools()).toEqual([]);
        expect(it.host.health().servers[0]?.error).toContain(`its ${key} ${folder} holds `);
      }
      const trusted = { ...fixture("hostile"), trust: "unconfined", [key]: key === "cwd" ? it.home : [it.home] };
      await it.write({ t: trusted });
      expect((await it.tools()).length).toBeGreaterThan(0);
    } finally {
      await rm(link);
    }
  },
);
