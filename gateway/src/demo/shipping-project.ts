import { rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { applyPatch, parsePatch } from "diff";
import type { Config } from "manyhands/internal/config/config";
import { createSandbox } from "manyhands/internal/machine/confinement/create-sandbox";
import { runCommand } from "manyhands/internal/machine/sandbox/run-command";
import { openWorkspace } from "manyhands/internal/machine/workspace/open-workspace";

/** The files of a project in one folder, by name. */
export type ProjectFiles = Readonly<Record<string, string>>;

const names = ["shipping.py", "test_shipping.py"];

/** The small project whose tests fail. */
export async function readShippingProject(root: string): Promise<ProjectFiles> {
  const read = names.map(async (name) => [name, await Bun.file(join(root, "gateway/demo/shipping", name)).text()]);
  return Object.fromEntries(await Promise.all(read));
}

/** The project as `shipping.tar.gz`. */
export function packProject(files: ProjectFiles): Promise<Uint8Array> {
  const named = Object.entries(files).map(([name, text]) => [`shipping/${name}`, text]);
  return new Bun.Archive(Object.fromEntries(named), { compress: "gzip" }).bytes();
}

/**
 * Whether a patch applies to the project as it was sent, leaves its tests alone and makes them
 * pass, in the sandbox: undefined if it does, otherwise what is wrong.
 */
export async function faultOfPatch(patch: string, project: ProjectFiles, config: Config): Promise<string | undefined> {
  const files = { ...project };
  for (const change of parsePatch(patch).filter(({ hunks }) => hunks.length > 0)) {
    const name = change.newFileName?.replace(/^b\//, "") ?? "";
    const before = files[name];
    if (before === undefined || name.startsWith("test_")) return `it changes ${name}, which is not a file to fix`;
    const after = applyPatch(before, change);
    if (after === false) return `it does not apply to ${name} as it was`;
    files[name] = after;
  }
  if (Bun.deepEquals(files, project)) return "it changes nothing";
  return testFault(files, config);
}

async function testFault(files: ProjectFiles, { home, sandbox: { tier } }: Config): Promise<string | undefined> {
  const sandbox = await createSandbox({ mode: tier, folder: join(home, "workspaces") });
  const workspace = await openWorkspace({ home, principal: "demo", contextId: "patch", user: sandbox.user });
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(join(workspace.root, name), text);
    const argv = ["python3", "-B", "-m", "unittest"];
    const command = { argv, workspace: workspace.root };
    const { exitCode, stderr } = await runCommand(sandbox, command, { signal: AbortSignal.timeout(60_000) });
    return exitCode === 0 && /^OK$/m.test(stderr) ? undefined : `the tests fail with it: ${stderr.trim().slice(-300)}`;
  } finally {
    await sandbox.close();
    await rm(dirname(workspace.root), { recursive: true, force: true });
  }
}
