import { mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../../core/errors.ts";
import type { ToolContext } from "../../../core/tool.ts";
import type { Egress } from "../../../machine/egress/egress.ts";
import type { ArchiveFile } from "./decompress.ts";

const fetchMs = 180_000;
const mostBytes = 100 * 1024 ** 2;

/** An archive of the web as a file that no tool can see, gone when it is disposed of. Rejects with `not_found` or as `Egress.fetch` does. */
export async function downloadArchive(
  url: string,
  egress: Egress,
  { workspace, signal }: ToolContext,
): Promise<ArchiveFile & AsyncDisposable> {
  const bytes = await download(url, egress, signal);
  const folder = join(workspace.metaRoot, "staging");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, crypto.randomUUID());
  const handle = await open(path, "wx+", 0o600);
  return {
    handle: await handle.writeFile(bytes).then(() => handle),
    size: bytes.length,
    async [Symbol.asyncDispose]() {
      await handle.close();
      await rm(path, { force: true });
    },
  };
}

async function download(url: string, egress: Egress, signal: AbortSignal): Promise<Uint8Array> {
  const { status, body } = await egress.fetch({
    url,
    headers: { "user-agent": "manyhands", accept: "application/gzip, application/zip, */*" },
    signal,
    timeoutMs: fetchMs,
    maxBytes: mostBytes,
    admit: async (hop) => {
      if (hop.protocol !== "https:")
        throw new AppError("forbidden", `The address leads to ${hop.origin}, which is not https.`);
    },
  });
  if (status === 200) return body;
  const missing = status === 404 || status === 401 || status === 403;
  throw new AppError(
    missing ? "not_found" : "unavailable",
    `${url} answered with status ${status}${missing ? ": there is no such repository or ref, or it is not public" : ""}.`,
  );
}
