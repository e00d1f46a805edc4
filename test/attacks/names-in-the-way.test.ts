import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { runCommand } from "../../shared/src/machine/sandbox/run-command.ts";
import { availableTiers, type OpenTier, openTier } from "../../shared/src/testing/sandbox/tiers.ts";

const tiers = await availableTiers();
const guarded = [
  ...[".git", ".vscode", ".idea", ".claude", ".envrc", "mcp.json", "manyhands.toml", ".tmp"],
  ...[".bashrc", ".bash_profile", ".profile", ".mcp.json"],
];

/** What a command creates at `$1`; `real` is a repository with hooks. */
const things = {
  "a link to nothing": 'ln -s nowhere "$1"',
  "a link to itself": 'ln -s "$1" "$1"',
  "a relative link to a folder": 'ln -s real "$1"',
  "an absolute link to a folder": 'ln -s "$PWD/real" "$1"',
  "a link to a folder of the system": 'ln -s /usr/share "$1"',
  "an empty file": ': > "$1"',
  "a file without rights": 'echo x > "$1"; chmod 000 "$1"',
  "a FIFO": 'mkfifo "$1"',
  "an empty folder": 'mkdir "$1"',
  "a folder without rights": 'mkdir -p "$1/hooks"; chmod 000 "$1"',
  "a folder with a link in place of its hooks": 'mkdir "$1"; ln -s /usr/share "$1/hooks"',
  "a link to a repository that is elsewhere": '[ -d elsewhere ] || mv real elsewhere; ln -s "$PWD/elsewhere" "$1"',
};

describe.each(tiers)("tier %s", (tier) => {
  let open: OpenTier;
  const run = (workspace: string, script: string, ...words: string[]) =>
    runCommand(
      open.sandbox,
      { argv: ["bash", "-c", script, "bash", ...words], workspace, limits: { wallMs: 10_000 } },
      { signal: AbortSignal.timeout(60_000) },
    );

  beforeAll(async () => {
    open = await openTier(tier);
  });
  afterAll(async () => {
    // Only root can remove what has no permissions.
    await Bun.spawn(["chmod", "-R", "u+rwX", dirname(open.workspace)]).exited;
    await open.close();
  });

  test.each(Object.entries(things))(
    "a conversation continues after a command has made each guarded name %s",
    async (what, make) => {
      const workspace = await open.folder(what.replaceAll(" ", "-"));
      await run(
        workspace,
        `mkdir -p real/hooks; for name; do set -- "$name"; rm -rf "$1" 2>/dev/null; ${make}; done`,
        ...guarded,
      );
      const next = await run(workspace, "echo kept > made; cat made");
      expect(next).toMatchObject({ stdout: "kept\n", stderr: "", exitCode: 0 });
    },
  );

  test("a conversation continues after a command has removed all permissions from its folder", async () => {
    const workspace = await open.folder("without-rights");
    await run(workspace, "echo kept > made; chmod 000 .");
    expect((await run(workspace, "cat made")).stdout).toBe("kept\n");
  });

  test("an obstacle left in place of the temporary folder does not keep the next command from having one", async () => {
    const workspace = await open.folder("temporary");
    for (const make of [
      "rm -rf .tmp; ln -s nowhere .tmp",
      "rm -rf .tmp; : > .tmp",
      "mkdir -p .tmp/a; chmod 000 .tmp/a .tmp",
    ]) {
      await run(workspace, make);
      expect((await run(workspace, 'echo there > "$TMPDIR/x" && cat "$TMPDIR/x"')).stdout).toBe("there\n");
    }
  });

  test("nor does an obstacle left by a killed server", async () => {
    const workspace = await open.folder("left-in-the-way");
    await symlink("nowhere", join(workspace, ".tmp"));
    expect((await run(workspace, 'echo there > "$TMPDIR/x" && cat "$TMPDIR/x"')).stdout).toBe("there\n");
    await rm(join(workspace, ".tmp"), { recursive: true, force: true });
    await writeFile(join(workspace, ".tmp"), "");
    expect((await run(workspace, 'echo there > "$TMPDIR/x" && cat "$TMPDIR/x"')).stdout).toBe("there\n");
  });

  test("a command finds no open file except its own three", async () => {
    const script = `
import os, sys
def there(number):
    try: os.fstat(number); return True
    except OSError: return False
print([number for number in range(4096) if there(number)])`;
    const { stdout } = await run(await open.folder("descriptors"), `exec python3 -c '${script}'`);
    expect(stdout).toBe("[0, 1, 2]\n");
  });

  if (tier === "landlock") return;

  test("hooks stay unchanged when a command removes the permissions of their repository", async () => {
    const workspace = await open.folder("hooks");
    const owner = open.sandbox.user ? ["setpriv", `--reuid=${open.sandbox.user.uid}`, "--clear-groups"] : [];
    await Bun.spawn([...owner, "mkdir", "-p", join(workspace, ".git", "hooks")]).exited;
    await writeFile(join(workspace, ".git", "hooks", "pre-commit"), "mine");
    await run(workspace, "chmod 000 .git");
    const { exitCode } = await run(
      workspace,
      "echo theirs > .git/hooks/pre-commit || mv .git moved || rm -r .git/hooks",
    );
    expect(exitCode).not.toBe(0);
    expect(await readFile(join(workspace, ".git", "hooks", "pre-commit"), "utf8")).toBe("mine");
    expect(await readdir(workspace)).toEqual([".git"]);
  });
});
