import type { Config } from "../../config/config.ts";
import type { Engine, Log } from "../../core/runs/engine.ts";
import type { HomeFiles } from "../../core/runs/housekeeping.ts";
import type { KeptArtifacts, Workspace } from "../../core/workspace.ts";
import { openBucket } from "../../machine/workspace/artifacts/bucket.ts";
import { createWorkspaceCheckpoints } from "../../machine/workspace/checkpoint/checkpoints.ts";
import { type SharedWorkspaces, shareWorkspaces } from "../../machine/workspace/checkpoint/share-workspaces.ts";
import { sharedHomeFiles } from "../../machine/workspace/checkpoint/shared-home-files.ts";
import type { Owner } from "../../machine/workspace/held-folder.ts";
import { createHomeFiles } from "../../machine/workspace/home-files.ts";

type WorkspaceStorage = Pick<Config, "home" | "bucket">;

/** What opening the workspaces of an agent needs. */
export type OpenWorkspacesDeps = {
  readonly name: string;
  readonly engine: Pick<Engine, "conversations">;
  readonly user: Owner | undefined;
  /** Opens one of this machine. */
  open(principal: string, contextId: string): Promise<Workspace>;
  release(workspace: Workspace): Promise<void>;
  readonly log: Log;
};

/**
 * The workspaces of an agent: those of this machine, unless several machines share the run store
 * and a bucket.
 */
export function openWorkspaces(
  config: WorkspaceStorage,
  { name, engine, user, ...deps }: OpenWorkspacesDeps,
): SharedWorkspaces {
  const { conversations } = engine;
  const checkpoints = checkpointsOf(config, user);
  if (conversations === undefined || checkpoints === undefined)
    return { open: deps.open, storing: (definition) => definition };
  return shareWorkspaces({ ...deps, conversations, checkpoints, kind: name });
}

/** The files of a home, and what is stored of them for other machines. */
export function openHomeFiles(
  config: WorkspaceStorage,
  { artifacts, engine }: { readonly artifacts: KeptArtifacts; readonly engine: Pick<Engine, "conversations"> },
): HomeFiles {
  const files = createHomeFiles(config.home, artifacts);
  const { conversations } = engine;
  const checkpoints = checkpointsOf(config, undefined);
  return conversations === undefined || checkpoints === undefined
    ? files
    : sharedHomeFiles(files, { conversations, checkpoints });
}

function checkpointsOf({ home, bucket }: WorkspaceStorage, user: Owner | undefined) {
  if (bucket === undefined) return undefined;
  const { prefix, workspaceBytes: maxBytes, ...options } = bucket;
  return createWorkspaceCheckpoints({ home, bucket: openBucket(options), prefix, maxBytes, user });
}
