import { S3Client } from "bun";
import { abortable } from "../../../core/async/within.ts";
import { FilesUnavailable } from "../../../core/errors.ts";
import type { BucketOptions } from "../../../core/workspace.ts";

/** Objects by their keys. Everything rejects with `storage_unavailable` if the service fails. */
export type Bucket = {
  /** Stores a file; resolves once the service has all of it. Large ones are sent in parts. */
  upload(key: string, file: Blob): Promise<void>;
  /** An object's content; undefined if there is none. The caller reads it to its end. */
  download(key: string): Promise<ReadableStream<Uint8Array> | undefined>;
  /** The keys that start with `prefix`, sorted, in pages of at most `limit`. */
  list(prefix: string, limit?: number): AsyncIterable<readonly string[]>;
  /** Removes an object; there need not be one. */
  remove(key: string): Promise<void>;
};

/** What one request may take, and how slowly a body may come, in bytes a millisecond. */
type Patience = { readonly requestMs: number; readonly bytesPerMs: number };

const usualPatience: Patience = { requestMs: 30_000, bytesPerMs: 250 };

/** Most keys of one page, by the API. */
const longestPage = 1000;

/** Opens a bucket. Nothing is asked of the service yet. */
export function openBucket({ virtualHosted = false, ...options }: BucketOptions, patience = usualPatience): Bucket {
  const client = new S3Client({ ...options, virtualHostedStyle: virtualHosted });
  const msFor = (bytes: number) => patience.requestMs + bytes / patience.bytesPerMs;
  const answered = <T>(work: Promise<T>, bytes = 0) => answeredWithin(msFor(bytes), work);
  return {
    async upload(key, file) {
      await answered(client.write(key, file), file.size);
    },
    async download(key) {
      const found = client.file(key);
      const { size } = (await answered(unlessGone(found.stat()))) ?? {};
      return size === undefined ? undefined : bounded(found.stream(), msFor(size));
    },
    async *list(prefix, limit = longestPage) {
      let continuationToken: string | undefined;
      do {
        const page = await answered(
          client.list({ prefix, maxKeys: limit, ...(continuationToken !== undefined && { continuationToken }) }),
        );
        const keys = (page.contents ?? []).map(({ key }) => key);
        if (keys.length > 0) yield keys;
        continuationToken = page.isTruncated ? page.nextContinuationToken : undefined;
      } while (continuationToken !== undefined);
    },
    async remove(key) {
      await answered(unlessGone(client.delete(key)));
    },
  };
}

async function unlessGone<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (codeOf(error) === "NoSuchKey") return undefined;
    throw error;
  }
}

/** The service's code, or the system's. A deadline's error has a number, which says nothing. */
function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

async function answeredWithin<T>(ms: number, work: Promise<T>): Promise<T> {
  try {
    return await abortable(work, AbortSignal.timeout(ms));
  } catch (cause) {
    throw unavailable(cause);
  }
}

/** The same bytes; fails once they have been waited for so long in all. */
function bounded(body: ReadableStream<Uint8Array>, ms: number): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const late = new AbortController();
  let leftMs = ms;
  const read = async () => {
    const since = performance.now();
    const timer = setTimeout(() => late.abort(), leftMs);
    try {
      return await abortable(reader.read(), late.signal);
    } finally {
      clearTimeout(timer);
      leftMs -= performance.now() - since;
    }
  };
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (cause) {
        void reader.cancel().catch(() => undefined);
        throw unavailable(cause);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

function unavailable(cause: unknown): FilesUnavailable {
  const code = codeOf(cause);
  const why = code === undefined ? "does not answer" : `failed (${code})`;
  return new FilesUnavailable(`The object store ${why}.`, cause);
}
