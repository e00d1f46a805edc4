import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Engine } from "../../core/runs/engine.ts";
import { silentLog } from "../../core/runs/engine.ts";
import type { Run } from "../../core/runs/run.ts";
import { createPostgresEngine } from "../../durable/postgres/postgres-engine.ts";
import { openWorkspace } from "../../machine/workspace/open-workspace.ts";
import { openWorkspaces } from "../../server/machine/open-workspaces.ts";
import { s3Credentials } from "../machine/s3-server.ts";

/** A machine of a test: a home of its own, and what it shares with others. */
export type HostOptions = { readonly url: string; readonly home: string; readonly endpoint: string };

/** What a run of a test does: `read` or `write` its file, and with `hang` never end. */
export type HostTask = { readonly write?: string; readonly hang?: true };

/** The bucket that all hosts of a test use. */
export function bucketAt(endpoint: string) {
  return { endpoint, ...s3Credentials, prefix: "p", workspaceBytes: 1_000_000 };
}

/** Opens the machine; its runs of the kind `hands` read or write `note.txt` of their workspace. */
export function openHost({ url, home, endpoint }: HostOptions): { engine: Engine; work(): void } {
  const engine = createPostgresEngine({ url, connections: 4, stopMs: 500, pollMs: 300 });
  const workspaces = openWorkspaces(
    { home, bucket: bucketAt(endpoint) },
    {
      ...{ name: "hands", engine, user: undefined, log: silentLog },
      open: (principal, contextId) => openWorkspace({ home, principal: `hands/${principal}`, contextId }),
      release: async () => undefined,
    },
  );
  const execute = async (run: Run, input: unknown) => {
    const { write, hang } = input as HostTask;
    return run.step("use", async ({ signal, emit }) => {
      const workspace = await workspaces.open(run.principal, run.contextId);
      const notice = workspace.takeNotice?.() ?? null;
      const file = join(workspace.root, "note.txt");
      const found = await readFile(file, "utf8").catch(() => null);
      if (write !== undefined) await writeFile(file, write);
      if (hang && notice === null) {
        await writeFile(join(home, "hangs"), "");
        while (!signal.aborted) await Bun.sleep(20);
        signal.throwIfAborted();
      }
      emit({ type: "used" });
      return { home, found, notice };
    });
  };
  return {
    engine,
    work: () => engine.work([workspaces.storing({ kind: "hands", execute })]),
  };
}
