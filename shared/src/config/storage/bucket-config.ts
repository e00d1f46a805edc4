import type { BucketOptions } from "../../core/workspace.ts";
import type { Settings } from "../settings/settings.ts";
import { faultAt } from "../settings/settings-error.ts";

/** A bucket, and what is stored in it. */
export type BucketConfig = BucketOptions & {
  readonly prefix: string;
  /** Most bytes of a workspace. */
  readonly workspaceBytes: number;
};

/** The bucket that `[artifacts]` names. Throws `config_invalid` if something of it is missing. */
export function bucketConfig(settings: Settings): BucketConfig | undefined {
  const { artifacts } = settings.sections;
  const { bucket, prefix, region } = artifacts;
  if (bucket === undefined) return undefined;
  const needed = (key: "endpoint" | "access_key_id" | "secret_access_key", variable: string): string => {
    const value = artifacts[key];
    if (value !== undefined) return value;
    const why = `artifacts.bucket is set, but artifacts.${key} is not: set it, or ${variable}.`;
    throw faultAt(settings, ["artifacts", "bucket"], why);
  };
  return {
    bucket,
    prefix,
    workspaceBytes: artifacts.workspace_mb * 1024 * 1024,
    endpoint: needed("endpoint", "AWS_ENDPOINT_URL_S3"),
    accessKeyId: needed("access_key_id", "AWS_ACCESS_KEY_ID"),
    secretAccessKey: needed("secret_access_key", "AWS_SECRET_ACCESS_KEY"),
    virtualHosted: artifacts.virtual_hosted,
    ...(region !== undefined && { region }),
    ...(artifacts.session_token !== undefined && { sessionToken: artifacts.session_token }),
  };
}
