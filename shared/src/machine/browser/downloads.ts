import { stat } from "node:fs/promises";
import { AppError, messageOf } from "../../core/errors.ts";
import type { Workspace } from "../../core/workspace.ts";
import type { Notices } from "./notices.ts";
import { saveDownload } from "./save-download.ts";

/** The bounds of a conversation's downloads, and their destination. */
export type DownloadOptions = {
  readonly workspace: Workspace;
  readonly notices: Notices;
  readonly downloadBytes: number;
  readonly downloadMs: number;
  readonly secretIn?: ((text: string) => string | undefined) | undefined;
};

/** Larger downloads are not searched for secrets. */
const maxSearchedBytes = 50_000_000;

/** Follows the downloads of one context. */
export interface Downloads {
  /**
   * Resolves when no download is in progress. `began` says that the page has started one, whose
   * event may not have arrived yet.
   */
  settled(began: boolean): Promise<void>;
  /** Stops following, and removes unfinished files. */
  stop(): Promise<void>;
}

/** Puts a complete download into the workspace, or reports why that failed. */
export async function keepDownload(file: string, name: string, options: DownloadOptions): Promise<void> {
  const { workspace, notices } = options;
  try {
    const { size } = await stat(file);
    const held = size > maxSearchedBytes ? undefined : options.secretIn?.(await Bun.file(file).text());
    if (held !== undefined) throw new AppError("forbidden", `It holds the secret ${held}.`);
    const path = await saveDownload(workspace, name, file);
    notices.add(`A file was downloaded to ${path} (${size} bytes).`);
  } catch (error) {
    notices.add(notKept(name, error));
  }
}

/** The notice for a download that failed on our side. */
export function notKept(name: string, error: unknown): string {
  const reason = messageOf(error);
  return `The download of ${JSON.stringify(name)} could not be kept: ${reason}`;
}

/** The notice for a download that exceeded a bound. */
export function cancelled(
  name: string,
  bound: "bytes" | "time",
  { downloadBytes, downloadMs }: DownloadOptions,
): string {
  const megabytes = Math.round(downloadBytes / 10_000) / 100;
  const why = bound === "bytes" ? `it is larger than ${megabytes} MB` : `it took longer than ${downloadMs / 1000} s`;
  return `The download of ${JSON.stringify(name)} was cancelled: ${why}.`;
}
