import { afterAll, expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folder = mkdtempSync(join(tmpdir(), "manyhands-setup-"));
afterAll(() => rm(folder, { recursive: true }));

/**
 * Runs set-up over an empty workspace, seeing only the programs named, with a stand-in for apt-get
 * that can install.
 */
async function setUpWith(programs: readonly string[], asked: { system: boolean; aptGet?: string; dpkg?: string }) {
  const home = mkdtempSync(join(folder, "run-"));
  const bin = join(home, "bin");
  await mkdir(bin);
  for (const name of programs) await script(join(bin, name), "exit 0");
  for (const [name, body] of [["apt-get", asked.aptGet] as const, ["dpkg", asked.dpkg] as const])
    if (body !== undefined) await script(join(bin, name), body.replaceAll("BIN", bin));
  await writeFile(join(home, "package.json"), '{"name":"empty"}');
  await writeFile(join(home, "bun.lock"), '{"lockfileVersion":1,"workspaces":{"":{"name":"empty"}}}');
  const code = `import { setUp } from ${JSON.stringify(join(import.meta.dir, "setup.ts"))};
    import { setupTable } from ${JSON.stringify(join(import.meta.dir, "report.ts"))};
    const outcome = await setUp({ root: ${JSON.stringify(home)}, workspace: true, system: ${asked.system}, browser: false, say: () => {} });
    console.log(setupTable(outcome) + "\\n" + JSON.stringify(outcome.findings.map(({ program, state }) => program.name + " " + state)));`;
  const run = Bun.spawn([process.execPath, "-e", code], {
    cwd: home,
    env: { PATH: `${bin}:/bin-that-is-not-there`, HOME: home },
    stdout: "pipe",
    stderr: "pipe",
  });
  const lines = (await run.stdout.text()).trim().split("\n");
  return { table: lines.slice(0, -1).join("\n"), findings: JSON.parse(lines.at(-1) ?? "[]") as string[] };
}

async function script(path: string, body: string): Promise<void> {
  await writeFile(path, `#!/bin/sh\n${body}\n`);
  await chmod(path, 0o755);
}

test("what is present is found, and what is missing is reported with what does not work without it", async () => {
  const { table, findings } = await setUpWith(["bwrap", "socat", "rg", "git"], { system: false });
  expect(findings).toEqual([
    "bubblewrap found",
    "socat found",
    "ripgrep found",
    "git found",
    "python3 missing",
    "chromium missing",
    // Fonts are looked for where they are, not on the PATH.
    ...(process.platform === "linux" ? [expect.stringMatching(/^cjk font (?:found|missing)$/)] : []),
  ]);
  expect(table).toContain("python_execute is off");
  expect(table).not.toContain("To install what is missing");
});

test("as root with apt-get the missing programs are installed, the browser apart from the others", async () => {
  const aptGet = `case "$*" in *install*chromium*) exit 100;;
    *install*python3*) printf "#!/bin/sh\\n" > BIN/python3; /bin/chmod +x BIN/python3;; esac`;
  const { table, findings } = await setUpWith(["bwrap", "socat", "rg", "git"], { system: true, aptGet });
  if (process.getuid?.() === 0) {
    expect(findings).toContain("python3 installed");
    expect(findings).toContain("chromium missing");
    expect(table).toContain("Or, for the browser alone: bunx playwright install --only-shell chromium");
  } else expect(table).toContain("sudo apt-get install");
});

test.skipIf(process.getuid?.() !== 0)(
  "an installation that was killed half-way is brought to its end before the next one",
  async () => {
    const aptGet = `case "$*" in *install*python3*) [ -e BIN/configured ] || exit 100; printf "#!/bin/sh\\n" > BIN/python3; /bin/chmod +x BIN/python3;; esac`;
    const dpkg = '[ "$*" = "--configure -a" ] && : > BIN/configured';
    const { findings } = await setUpWith(["bwrap", "socat", "rg", "git"], { system: true, aptGet, dpkg });
    expect(findings).toContain("python3 installed");
  },
);

test("a set-up that may not change the system installs nothing", async () => {
  const aptGet = 'printf "#!/bin/sh\\n" > BIN/python3; /bin/chmod +x BIN/python3';
  const { table, findings } = await setUpWith(["bwrap", "socat", "rg", "git"], { system: false, aptGet });
  expect(findings).toContain("python3 missing");
  expect(table).toMatch(/To install what is missing: (sudo )?apt-get install/);
});

test("a failing package manager does not fail set-up, and its output is shown", async () => {
  const { table, findings } = await setUpWith(["bwrap", "socat", "rg", "git"], {
    system: true,
    aptGet: "echo no network; exit 100",
  });
  expect(findings).toContain("python3 missing");
  if (process.getuid?.() === 0) expect(table).toContain("Installing failed: no network");
  expect(table).toMatch(
    /To install what is missing: (sudo )?apt-get install -y --no-install-recommends python3 chromium-headless-shell/,
  );
});
