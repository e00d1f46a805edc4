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

/** What is said at the start of a server whose runs, but not their files, reach other machines. */
export function bucketNote({ engine, bucket }: Pick<Config, "engine" | "bucket">): string | undefined {
  return engine.kind === "embedded" || bucket !== undefined ? undefined : bucketMissing;
}

const bucketMissing =
  "artifacts.bucket is not set: files and workspaces of tasks stay in the home of the machine that made them, and what needs one fails on another. Set MANYHANDS_ARTIFACTS_BUCKET to the same bucket everywhere, unless all machines share one home.";
