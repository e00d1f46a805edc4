import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sandboxPath } from "manyhands/internal/machine/process/environment";
import * as commands from "./command.ts";
import { preparePython } from "./python-packages.ts";

/**
 * Python's own modules for this, replaced in the machine's Python: what they do is in a variable.
 */
const modules = {
  "venv.py": `
import os, sys
if os.environ["VENV"] != "works": sys.exit(os.environ["VENV"])
os.makedirs(sys.argv[-1] + "/bin")
os.symlink(sys.executable, sys.argv[-1] + "/bin/python3")`,
  "ensurepip.py": `
import os, sys
sys.exit(os.environ["ENSUREPIP"] != "works")`,
  "pip.py": `
import os, sys
mode = os.environ["FAKE_PIP"]
if "--version" in sys.argv: sys.exit(mode == "missing")
if mode not in ("works", "missing"): sys.exit(mode)
own = sys.argv[sys.argv.index("--python") + 1] if "--python" in sys.argv else sys.executable
open(os.path.dirname(os.path.dirname(own)) + "/made", "w").write(" ".join(sys.argv[1:]))`,
};
const works = { VENV: "works", FAKE_PIP: "works", ENSUREPIP: "works" };
const again = "Agents' Python has what it has. Again: manyhands setup";

const hasPython = Bun.which("python3", { PATH: sandboxPath }) !== null;
let folder = "";
let home = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "manyhands-python-environment-"));
  home = join(folder, "home");
  for (const [name, text] of Object.entries(modules)) await writeFile(join(folder, name), text);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function prepare(packages: string, how: Partial<typeof works> = {}): Promise<readonly string[]> {
  const said: string[] = [];
  const set = { MANYHANDS_HOME: home, MANYHANDS_PYTHON_PACKAGES: packages, PYTHONPATH: folder };
  const line = await preparePython({ cwd: folder, env: { ...set, ...works, ...how } }, (one) => said.push(one));
  return [...said, ...(line === undefined ? [] : [line.replace(home, "~")])];
}

const installing = (packages: string) => [
  `Installing ${packages} for agents' Python …`,
  `  + libraries    installed ${packages} in ~/python`,
];

test.skipIf(!hasPython).each([
  [{ VENV: "A reason.\n\nNo module named venv.\n" }, "No module named venv. On Debian: apt-get install python3-venv."],
  [{ FAKE_PIP: "missing", ENSUREPIP: "fails" }, "pip is missing. On Debian: apt-get install python3-pip."],
  [{ FAKE_PIP: "ERROR: no greeting\nERROR: nothing found\na hint" }, "ERROR: nothing found."],
  [{ FAKE_PIP: "The index is away." }, "The index is away."],
  [{ FAKE_PIP: " \n" }, "it failed."],
])("where Python's modules do %j, what was there stays, and a person learns why", async (how, why) => {
  await prepare("a");
  const before = await stat(join(home, "python"));
  expect((await prepare("a,b", how)).at(-1)).toBe(`  – libraries    missing: ${why} ${again}`);
  expect((await readdir(home)).filter((name) => name.includes("python"))).toEqual(["python"]);
  expect((await stat(join(home, "python"))).ino).toBe(before.ino);
  expect(await prepare("a", how)).toEqual(["  ✓ libraries    a in ~/python"]);
});

test.skipIf(!hasPython)("a machine without pip installs with one of the environment's own", async () => {
  expect(await prepare("a,b", { FAKE_PIP: "missing" })).toEqual(installing("a, b"));
  expect(await Bun.file(join(home, "python/made")).text()).toMatch(/^install .*--only-binary :all: .*a b$/);
});

test.skipIf(!hasPython)("an environment is made again for other packages, and where its Python is gone", async () => {
  expect(await prepare("a")).toEqual(installing("a"));
  expect(await prepare("a,b")).toEqual(installing("a, b"));
  expect(await prepare("a,b")).toEqual(["  ✓ libraries    a, b in ~/python"]);
  await rm(join(home, "python/bin/python3"));
  await writeFile(join(home, "python/of-before"), "");
  expect(await prepare("a,b")).toEqual(installing("a, b"));
  await rm(join(home, "python/bin/python3"));
  await writeFile(join(home, "python/bin/python3"), "#!/bin/sh\nexit 1", { mode: 0o755 });
  expect(await prepare("a,b")).toEqual(installing("a, b"));
  await rm(join(home, "python/manyhands.json"));
  expect(await prepare("a,b")).toEqual(installing("a, b"));
  expect((await readdir(home)).filter((name) => name.includes("python"))).toEqual(["python"]);
  expect(await Bun.file(join(home, "python/of-before")).exists()).toBe(false);
});

test.skipIf(!hasPython)("whoever installs keeps files to themselves, agents can read the packages", async () => {
  const before = process.umask(0o077);
  try {
    await prepare("a");
  } finally {
    process.umask(before);
  }
  const modes = ["python/made", "python", "."].map(async (name) => (await stat(join(home, name))).mode & 0o777);
  expect(await Promise.all(modes)).toEqual([0o644, 0o755, 0o700]);
});

test.skipIf(!hasPython)("a step that takes too long is told of, and ends in time", async () => {
  using run = spyOn(commands, "runProgram").mockResolvedValue({ exitCode: null, output: "half\n" });
  expect((await prepare("a")).at(-1)).toContain("missing: it took too long. On Debian");
  expect(run.mock.calls.map(([, { timeoutMs }]) => timeoutMs)).toEqual([60_000]);
});

test("settings that cannot be read install nothing, and say so", async () => {
  await writeFile(join(folder, "manyhands.toml"), "[python]\npackages = 7\n");
  expect(await prepare("")).toEqual([expect.stringMatching(/^ {2}– libraries {4}not looked at: .*packages/)]);
  expect(await Bun.file(join(home, "python/made")).exists()).toBe(false);
});
