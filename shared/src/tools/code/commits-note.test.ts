import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import type { Workspace } from "../../core/workspace.ts";
import { type CodePlace, callIn, openCodePlace } from "../../testing/code/code-place.ts";
import { unpackTool } from "./unpack.ts";

let place: CodePlace;
beforeAll(async () => {
  place = await openCodePlace();
});
afterAll(() => place.close());

const isThere = Bun.which("git") !== null && Bun.which("tar") !== null;
/** What git needs to commit, and to work in folders of another user. */
const settings = { "user.name": "a", "user.email": "a@b", "safe.directory": "*" };
const env = Object.entries(settings).flatMap(([key, value], n) => [
  [`GIT_CONFIG_KEY_${n}`, key],
  [`GIT_CONFIG_VALUE_${n}`, value],
]);

function shell(cwd: string, script: string): string {
  const { stdout, stderr, exitCode } = Bun.spawnSync(["sh", "-ec", script], {
    cwd,
    env: { ...process.env, GIT_CONFIG_COUNT: "3", ...Object.fromEntries(env) },
  });
  expect({ script, exitCode, error: stderr.toString().slice(0, exitCode * 500) }).toEqual({
    script,
    exitCode: 0,
    error: "",
  });
  return stdout.toString().trim();
}

/** A repository with one commit and what `more` makes of it, in a folder, and its archive. */
async function archived(more: string): Promise<{ readonly folder: string; readonly workspace: Workspace }> {
  const { root } = await place.project({ "app/a.txt": "a\n" });
  shell(root, `cd app; git init -qb main .; git add .; git commit -qm First; ${more}; cd ..; tar -cf app.tar app`);
  const workspace = await place.project({ "app.tar": await Bun.file(join(root, "app.tar")).bytes() });
  return { folder: join(root, "app"), workspace };
}

const unpacked = async (workspace: Workspace) => (await callIn(workspace)(unpackTool(place), { path: "app.tar" })).text;

test.if(isThere).each([
  ["as files", "true"],
  ["packed", "git pack-refs --all"],
  ["of no branch", "git checkout -q --detach"],
])("commits made in a repository that was sent leave as its result says, references %s", async (_, more) => {
  const { folder, workspace } = await archived(more);
  const text = await unpacked(workspace);
  const command = text.slice(text.indexOf("git format-patch"));
  expect(command).toContain(shell(folder, "git rev-parse HEAD").slice(0, 12));
  shell(
    workspace.root,
    "cd app; echo b >> a.txt; git commit -qam Second; echo c > c.txt; git add .; git commit -qm Third",
  );
  shell(join(workspace.root, "app"), command);
  shell(folder, `git am -q < '${join(workspace.root, "commits.mbox")}'`);
  expect(shell(folder, "git log --format=%s; cat a.txt c.txt")).toBe("Third\nSecond\nFirst\na\nb\nc");
});

test.if(isThere)(
  "a repository without a commit that can be read is told without one, and other folders not at all",
  async () => {
    const odd = await archived("echo 'ref: refs/heads/../../../x' > .git/HEAD");
    expect(await unpacked(odd.workspace)).toContain("a git repository. Commits stay");
    const plain = await archived("rm -rf .git");
    expect(await unpacked(plain.workspace)).not.toContain("git");
  },
);
