import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import type { KeptArtifacts } from "../../core/workspace.ts";
import { createArtifactStore } from "../../machine/workspace/artifacts/artifact-store.ts";
import { openBucket } from "../../machine/workspace/artifacts/bucket.ts";
import { createSharedArtifacts } from "../../machine/workspace/artifacts/shared-artifacts.ts";

/** The artifacts of a home, or those that `[artifacts]` shares between machines. */
export function openArtifacts({ home, bucket }: Pick<Config, "home" | "bucket">): KeptArtifacts {
  const cache = createArtifactStore(join(home, "artifacts"));
  if (bucket === undefined) return cache;
  const { prefix, workspaceBytes: _, ...options } = bucket;
  return createSharedArtifacts({ bucket: openBucket(options), prefix, cache });
}
