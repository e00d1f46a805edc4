import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ToolContext } from "../../core/tools/tool.ts";
import { createSandbox, type SandboxOptions } from "../../machine/confinement/create-sandbox.ts";
import type { Sandbox } from "../../machine/sandbox/sandbox.ts";

/** The tiers that confine commands. */
export type ConfiningTier = "srt" | "bwrap" | "landlock";

/** A sandbox of one tier over a workspace, with another conversation's workspace beside it. */
export type OpenTier = {
  readonly sandbox: Sandbox;
  readonly workspace: string;
  readonly neighbour: string;
  /** A separate workspace for a test that must not see what others left. */
  folder(name: string): Promise<string>;
  context(contextId: string, changes?: Partial<ToolContext>): ToolContext;
  close(): Promise<void>;
};

/** Opens a sandbox of this tier in a new home. */
export async function openTier(
  mode: SandboxOptions["mode"],
  options: Partial<SandboxOptions> & { readonly within?: string } = {},
): Promise<OpenTier> {
  const home = await mkdtemp(join(options.within ?? tmpdir(), "manyhands-tier-"));
  await chmod(home, 0o755);
  const sandbox = await createSandbox({ mode, folder: home, ...options });
  const folder = async (name: string) => {
    const path = join(home, name);
    await mkdir(path, { recursive: true });
    if (sandbox.user) await chown(path, sandbox.user.uid, sandbox.user.gid);
    return path;
  };
  const workspace = await folder("workspace");
  return {
    sandbox,
    workspace,
    neighbour: await folder("neighbour"),
    folder,
    context: (contextId, changes = {}) => ({
      signal: AbortSignal.timeout(60_000),
      contextId,
      key: "run/1",
      resultCharacters: 12_000,
      progress() {},
      ask: async () => "",
      fetch: () => Promise.reject(new Error("No web is there.")),
      workspace: plainWorkspace(workspace, join(home, "meta")),
      ...changes,
    }),
    async close() {
      await sandbox.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** The tiers available on this machine. */
export async function availableTiers(): Promise<ConfiningTier[]> {
  const found: ConfiningTier[] = [];
  for (const tier of ["srt", "bwrap", "landlock"] as const) {
    const { sandbox, close } = await openTier(tier);
    if (sandbox.tier === tier) found.push(tier);
    await close();
  }
  return found;
}

function plainWorkspace(root: string, metaRoot: string): ToolContext["workspace"] {
  return {
    principal: "alice",
    root,
    metaRoot,
    resolve: async (path) => join(root, path),
    async spill(name, content) {
      const path = join(".manyhands", "output", name);
      await mkdir(dirname(join(root, path)), { recursive: true });
      await Bun.write(join(root, path), content);
      return path;
    },
    adopt: async () => {},
  };
}

/** The processes of this machine whose command line contains a word. */
export async function processesNamed(word: string): Promise<number[]> {
  const pids = (await readdir("/proc")).map(Number).filter(Number.isInteger);
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")));
  return pids.filter((_, index) => lines[index]?.includes(word));
}

/** Waits until a condition holds; fails after a minute. */
export async function eventually(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`Not within a minute: ${what}`);
    await Bun.sleep(20);
  }
}
