import { afterAll, expect, test } from "bun:test";
import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseServers } from "../servers/read-servers.ts";
import { isProgram } from "../servers/server-config.ts";
import { programView } from "./visible-paths.ts";

const base = await realpath(await mkdtemp(join(tmpdir(), "manyhands-visible-")));
afterAll(() => rm(base, { recursive: true }));
const at = (path: string) => join(base, path);
const [home, settings] = [at("home"), at("project/mcp.json")];
for (const folder of ["home/inner", "home-too", "project", "data", "tools/bin", "venv/bin", "all/venv/bin"])
  await mkdir(at(folder), { recursive: true });
for (const file of ["home/key", "home-too/x", "project/mcp.json", "project/run", "data/x", "tools/x", "home/run"])
  await writeFile(at(file), "");
for (const program of ["tools/bin/tool", "home/run", "project/run"]) {
  await writeFile(at(program), "");
  await chmod(at(program), 0o755);
}
await symlink(at("data/x"), at("tools/link"));
await symlink(home, at("tools/home-link"));
await symlink("/bin/sh", at("venv/bin/python"));
await writeFile(at("venv/pyvenv.cfg"), "");
await symlink(at("tools/bin/tool"), at("data/tool"));

/** What a program with this entry sees where the home and the settings are kept from it. */
function viewOf(entry: object, kept: boolean | { home: string; others: string[] } = true) {
  const text = JSON.stringify({ mcpServers: { s: { command: "/bin/sh", ...entry } } });
  const [server] = parseServers(text, "mcp.json", {});
  if (server === undefined || !isProgram(server)) throw new Error("There is no program.");
  return programView(server, kept === true ? { home, others: [settings] } : kept === false ? undefined : kept);
}
const nothing = { read: [], write: [] };

test("a program of the system sees nothing else; one of its own folder sees that, unless it holds what is kept", async () => {
  expect(await viewOf({})).toEqual({ argv: ["/bin/sh"], cwd: undefined, paths: nothing });
  for (const [command, read] of [
    ["tools/bin/tool", "tools/bin"],
    ["data/tool", "tools/bin"],
    ["project/run", "project/run"],
    ["home/run", "home/run"],
  ] as const) {
    const { argv, paths } = await viewOf({ command: at(command) });
    expect([argv, paths]).toEqual([
      [at(command === "data/tool" ? "tools/bin/tool" : command)],
      { ...nothing, read: [at(read)] },
    ]);
  }
  expect((await viewOf({ command: at("home/run") }, false)).paths.read).toEqual([home]);
});

test("a program is found where its own PATH says, and told if it is nowhere", async () => {
  const found = await viewOf({ command: "tool", env: { PATH: at("tools/bin") } });
  expect(found.argv).toEqual([at("tools/bin/tool")]);
  expect((await viewOf({ command: "sh" })).argv[0]).toMatch(/\/sh$/);
  for (const entry of [{ command: "tool" }, { command: "sh", env: { PATH: at("data") } }, { command: at("none") }])
    await expect(viewOf(entry)).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/^The server s cannot be started: there is no program /),
    });
});

test("of the files that arguments name, those outside of what is kept are seen, at their real paths", async () => {
  const args = [at("tools/link"), at("home/key"), settings, at("home-too/x"), at("data"), "x", "--file", at("none")];
  const { argv, paths } = await viewOf({ args });
  expect(argv.slice(1)).toEqual([at("data/x"), ...args.slice(1)]);
  expect(paths.read).toEqual([at("data/x"), at("home-too/x")]);
});

test("what an entry names is seen at its real path, once, and by its system path not at all", async () => {
  const twice = [at("data"), at("data"), at("tools/link"), "/usr/lib", at("data/x")];
  const { paths, cwd } = await viewOf({
    read: twice,
    write: [at("data"), at("tools/link"), at("data/x")],
    cwd: at("tools"),
  });
  expect(paths).toEqual({ read: [at("data"), at("data/x"), at("tools")], write: [at("data"), at("data/x")] });
  expect(cwd).toBe(at("tools"));
});

test.each(["read", "write", "cwd"])(
  "a %s that holds what is kept, or is not there, is refused by its name",
  async (key) => {
    const named = (path: string) => viewOf({ [key]: key === "cwd" ? path : [path] });
    for (const [path, held] of [
      [home, home],
      [base, home],
      [at("tools/home-link"), home],
      [at("project"), settings],
      ["/", home],
    ] as const)
      await expect(named(path)).rejects.toThrow(
        `The server s cannot be started: its ${key} ${path} holds ${held}, which no server's program may see; name what it needs there.`,
      );
    await expect(named(at("none"))).rejects.toMatchObject({
      code: "unavailable",
      message: `The server s cannot be started: its ${key} ${at("none")} is not there.`,
    });
    // What lies in the home may be named, and a name that only begins like it is another.
    for (const path of [at("home/inner"), at("home-too")]) expect(await named(path)).toBeDefined();
    expect((await viewOf({ [key]: key === "cwd" ? home : [home] }, false)).paths).toBeDefined();
  },
);

test("what is kept is known by its real path too", async () => {
  const kept = { home: at("tools/home-link"), others: [at("tools/link")] };
  await expect(Promise.resolve(viewOf({ read: [home] }, kept))).rejects.toThrow(`holds ${home}`);
  await expect(Promise.resolve(viewOf({ read: [at("data")] }, kept))).rejects.toThrow(`holds ${at("data/x")}`);
  expect((await viewOf({ args: [at("home/key")] }, kept)).paths.read).toEqual([]);
});

test("a Python environment is seen whole and started by its own path, unless it holds what is kept", async () => {
  const { argv, paths } = await viewOf({ command: at("venv/bin/python") });
  expect([argv, paths]).toEqual([[at("venv/bin/python")], { ...nothing, read: [at("venv")] }]);
  const kept = { home: at("venv/bin"), others: [] };
  await expect(Promise.resolve(viewOf({ command: at("venv/bin/python") }, kept))).rejects.toThrow(
    `its Python environment ${at("venv")} holds ${at("venv/bin")}`,
  );
  await mkdir(at("venv/sbin"), { recursive: true });
  await symlink("/bin/sh", at("venv/sbin/python"));
  const other = await viewOf({ command: at("venv/sbin/python") });
  expect(other.paths.read).not.toContain(at("venv"));
});
