import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { unlessMissing } from "../../core/errors.ts";
import { sweepOwnedFolders } from "../process/owned-folder.ts";
import { endAbandonedStarts } from "./abandoned-starts.ts";

/**
 * Ends what killed servers of a home left, and removes the folders that they had in workspaces,
 * which nobody may use again. Those that cannot be removed keep none of the others: they are told
 * at the end.
 */
export async function sweepAbandoned(home: string): Promise<void> {
  endAbandonedStarts(home);
  const failures: unknown[] = [];
  const workspaces = join(home, "workspaces");
  for (const name of (await readdir(workspaces).catch(unlessMissing)) ?? [])
    for (const place of [join(workspaces, name), join(workspaces, name, "meta")])
      await sweepOwnedFolders(place).catch((error: unknown) => failures.push(error));
  if (failures.length > 0)
    throw new AggregateError(failures, `${failures.length} folders of workspaces could not be cleaned up.`);
}
