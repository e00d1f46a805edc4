import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sandboxPath } from "manyhands/internal/machine/process/environment";
import { preparePython } from "./python-packages.ts";

const hasVenv =
  Bun.which("python3", { PATH: sandboxPath }) !== null &&
  Bun.spawnSync(["python3", "-c", "import venv, pip"], { env: { PATH: sandboxPath } }).exitCode === 0;
if (!hasVenv) console.warn("Skipped: virtual environments need Python with venv and pip.");

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "manyhands-python-"));
  if (hasVenv) Bun.spawnSync(["python3", "-c", wheel, folder], { env: { PATH: sandboxPath } });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Writes a wheel with one module, as an index of packages has it. */
const wheel = `
import sys, zipfile
info = "greeting-1.0.dist-info"
files = {
  "greeting.py": "def hello(): return 'hello from the wheel'",
  # What Python runs of a package when it starts, whoever starts it.
  "greeting.pth": "import os; open(" + repr(sys.argv[1] + "/ran") + ", 'w')\\n",
  info + "/METADATA": "Metadata-Version: 2.1\\nName: greeting\\nVersion: 1.0\\n",
  info + "/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
}
files[info + "/RECORD"] = "".join(name + ",,\\n" for name in files)
with zipfile.ZipFile(sys.argv[1] + "/greeting-1.0-py3-none-any.whl", "w") as archive:
  for name, text in files.items(): archive.writestr(name, text)`;

async function prepare(packages: string, more: Record<string, string> = {}): Promise<readonly string[]> {
  const said: string[] = [];
  const home = { MANYHANDS_HOME: join(folder, "home"), MANYHANDS_PYTHON_PACKAGES: packages, ...more };
  // Only what the test made: pip asks no index.
  const pip = { PIP_NO_INDEX: "1", PIP_FIND_LINKS: folder, PIP_CONFIG_FILE: "/dev/null" };
  const line = await preparePython({ cwd: folder, env: { ...home, ...pip } }, (one) => said.push(one));
  return [...said, ...(line === undefined ? [] : [line])];
}

test.skipIf(!hasVenv)(
  "packages are installed once, and what cannot be installed leaves what is there",
  async () => {
    const environment = join(folder, "home/python");
    expect((await prepare("greeting")).at(-1)).toContain("+ libraries    installed greeting");
    const made = await stat(environment);
    expect(await prepare("greeting")).toEqual([expect.stringContaining("✓ libraries    greeting in ")]);
    expect(await Bun.file(join(folder, "ran")).exists()).toBe(false);
    // Of a package that comes as its sources, code would run here.
    await mkdir(join(folder, "sources-1.0"));
    await Bun.write(join(folder, "sources-1.0/setup.py"), `open(${JSON.stringify(join(folder, "ran"))}, "w")`);
    Bun.spawnSync(["tar", "-czf", "sources-1.0.tar.gz", "sources-1.0"], { cwd: folder });
    const failed = (await prepare("greeting,sources")).at(-1);
    expect(failed).toContain("– libraries    missing: ERROR: No matching distribution found for sources.");
    expect(await Bun.file(join(folder, "ran")).exists()).toBe(false);
    expect((await readdir(join(folder, "home"))).filter((name) => name.startsWith(".python-"))).toEqual([]);
    expect((await stat(environment)).ino).toBe(made.ino);

    const hello = ["-I", "-c", "import greeting; print(greeting.hello())"];
    const { stdout } = Bun.spawnSync([join(environment, "bin/python3"), ...hello]);
    expect(String(stdout)).toBe("hello from the wheel\n");
    await Bun.write(join(folder, "manyhands.toml"), "[python]\npackages = []\n");
    expect(await prepare("")).toEqual([]);
    await expect(stat(environment)).rejects.toThrow("ENOENT");
  },
  120_000,
);

test.skipIf(!hasVenv)(
  "a file of requirements installs exactly what its hashes say, again when it changes, and nothing without them",
  async () => {
    const more = { MANYHANDS_HOME: join(folder, "pinned"), MANYHANDS_PYTHON_REQUIREMENTS: "pins.txt" };
    const wheelBytes = await Bun.file(join(folder, "greeting-1.0-py3-none-any.whl")).bytes();
    const hash = new Bun.CryptoHasher("sha256").update(wheelBytes).digest("hex");
    const pinned = (text: string) => Bun.write(join(folder, "pins.txt"), text);
    expect((await prepare("numpy", more)).at(-1)).toMatch(/– libraries +missing: .*pins\.txt cannot be read/);
    await pinned("greeting==1.0\n");
    expect((await prepare("numpy", more)).at(-1)).toMatch(/– libraries +missing: ERROR: .*hash/i);
    await pinned(`greeting==1.0 --hash=sha256:${"0".repeat(64)}\n`);
    expect((await prepare("numpy", more)).at(-1)).toMatch(/– libraries +missing: ERROR: .*HASH/i);
    await pinned(`greeting==1.0 --hash=sha256:${hash}\n`);
    expect((await prepare("numpy", more)).at(-1)).toMatch(/\+ libraries +installed what pins\.txt names in/);
    expect(await prepare("numpy", more)).toEqual([expect.stringMatching(/✓ libraries +what pins\.txt names in/)]);
    await pinned(`# again\ngreeting==1.0 --hash=sha256:${hash}\n`);
    expect((await prepare("numpy", more)).at(-1)).toContain("+ libraries");
  },
  120_000,
);
