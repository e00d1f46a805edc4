import type { BucketConfig } from "../../config/storage/bucket-config.ts";
import { AppError } from "../../core/errors.ts";
import { openBucket } from "../../machine/workspace/artifacts/bucket.ts";

const patience = { requestMs: 8_000, bytesPerMs: 250 };

/**
 * Writes, lists, reads and deletes an object of its own, as everything that keeps files there does.
 * Rejects with `storage_unavailable`, and what could not be done.
 */
export async function probeBucket({ prefix, workspaceBytes: _, ...options }: BucketConfig): Promise<string> {
  const bucket = openBucket(options, patience);
  const key = `${prefix}/doctor/${crypto.randomUUID()}`;
  const where = `${options.bucket} at ${new URL(options.endpoint).host}`;
  const able = async (what: string, work: () => Promise<boolean>) => {
    const why = await work().then(
      (done) => (done ? undefined : "What was just written is not there."),
      (error) => (error instanceof AppError ? error.message : String(error)),
    );
    if (why !== undefined) throw new AppError("storage_unavailable", `${where}: cannot ${what} there. ${why}`);
  };
  await able("write", () => bucket.upload(key, new Blob([key])).then(() => true));
  try {
    await able("list", async () => (await Array.fromAsync(bucket.list(key))).flat().includes(key));
    await able("read", async () => (await new Response(await bucket.download(key)).text()) === key);
  } catch (error) {
    await bucket.remove(key).catch(() => undefined);
    throw error;
  }
  await able("delete", () => bucket.remove(key).then(() => true));
  return `${where}, ${prefix}: can write, list, read and delete`;
}
