import { mkdir, writeFile } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import type { AgentEvent } from "@manyhands/shared/agent/events";
import { AppError } from "@manyhands/shared/errors";

const timeoutMs = 60_000;

type Artifact = Extract<AgentEvent, { type: "artifact-added" }>;

/** A file of a task that now lies on this machine. */
export type SavedFile = { readonly path: string; readonly bytes: number };

/**
 * Downloads the files of these artifacts into `folder`, which it makes when there is one. Names are an agent's: only their last part
 * is used, and a name that is taken gets a number. The newest of several files of one name wins. Rejects with `unavailable`.
 */
export async function saveFiles(
  artifacts: readonly Artifact[],
  folder: string,
  options: { readonly agentUrl: string; readonly token: string | undefined; readonly signal: AbortSignal },
): Promise<SavedFile[]> {
  const newest = new Map(
    artifacts.flatMap((artifact) => filesOf(artifact, options.agentUrl)).map((file) => [file.key, file]),
  );
  const taken = new Set<string>();
  const saved: SavedFile[] = [];
  for (const { name, url } of newest.values()) {
    const bytes = await download(url, options);
    const path = join(folder, freeName(name, taken));
    await mkdir(folder, { recursive: true });
    await writeFile(path, bytes);
    saved.push({ path, bytes: bytes.byteLength });
  }
  return saved;
}

function filesOf(artifact: Artifact, agentUrl: string): { key: string; name: string; url: string }[] {
  return artifact.parts.flatMap((part) => {
    if (part.type === "file") {
      const url = `${agentUrl}/artifacts/${part.sha256}/${encodeURIComponent(part.name)}`;
      return [{ key: part.name, name: part.name, url }];
    }
    if (part.type !== "url") return [];
    const name = part.name ?? artifact.name;
    return [{ key: name, name, url: part.url }];
  });
}

async function download(
  url: string,
  { agentUrl, token, signal }: { agentUrl: string; token: string | undefined; signal: AbortSignal },
): Promise<Uint8Array> {
  // The token is for this agent alone: a file may lie anywhere.
  const own = URL.canParse(url) && new URL(url).origin === new URL(agentUrl).origin;
  const headers: Record<string, string> = own && token !== undefined ? { Authorization: `Bearer ${token}` } : {};
  const response = await fetch(url, { headers, signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]) });
  if (!response.ok)
    throw new AppError("unavailable", `A file of the task could not be fetched (HTTP ${response.status}).`);
  return response.bytes();
}

/** A plain file name that is not taken yet, without anything a path or a terminal would obey. */
function freeName(name: string, taken: Set<string>): string {
  const plain = basename(name.replaceAll("\\", "/")).replace(/\p{C}/gu, "_");
  const safe = plain === "" || plain === "." || plain === ".." ? "file" : plain;
  let free = safe;
  for (let n = 2; taken.has(free.toLowerCase()); n++) free = `${basename(safe, extname(safe))}-${n}${extname(safe)}`;
  taken.add(free.toLowerCase());
  return free;
}
