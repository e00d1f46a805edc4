import type { Conversations } from "../../../core/runs/conversations.ts";
import type { HomeFiles } from "../../../core/runs/housekeeping.ts";
import type { WorkspaceCheckpoints } from "./checkpoints.ts";

/** Names that are looked up at once. */
const atOnce = 500;

/**
 * The files of a home whose workspaces are also stored for other machines: what is deleted or let
 * go goes there too, and the copies of it on this machine.
 */
export function sharedHomeFiles(
  files: HomeFiles,
  {
    conversations,
    checkpoints,
  }: { readonly conversations: Conversations; readonly checkpoints: Pick<WorkspaceCheckpoints, "clear" | "here"> },
): HomeFiles {
  return {
    ...files,
    async oldWorkspaces(before, limit, except) {
      const here = await files.oldWorkspaces(before, limit, except);
      const stored = (await conversations.unused(before, limit)).filter((name) => !except.has(name));
      return [...new Set([...here, ...stored])].slice(0, limit);
    },
    async detachOld(name, before) {
      const [here, stored] = [await files.detachOld(name, before), await conversations.forget(name, before)];
      return here || stored;
    },
    async clear() {
      await files.clear();
      for (const folder of await conversations.gone()) {
        await checkpoints.clear(folder);
        await conversations.cleared(folder);
      }
    },
    async dropCopies(inUse) {
      await files.dropCopies(inUse);
      const here = await checkpoints.here();
      for (let at = 0; at < here.length; at += atOnce)
        // Deleted at another machine.
        for (const folder of await conversations.unknown(here.slice(at, at + atOnce)))
          await files.detachOld(folder, Number.POSITIVE_INFINITY);
      await files.clear();
    },
  };
}
