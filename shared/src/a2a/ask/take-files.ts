import type { Task, Part as WirePart } from "@a2a-js/sdk";
import { atMost } from "../../core/async/at-most.ts";
import { AppError, errnoOf } from "../../core/errors.ts";
import type { Fault } from "../../core/events/ask-outcome.ts";
import { insidePath } from "../../core/text/inside-path.ts";
import { sanitizeLine } from "../../core/text/sanitize.ts";
import type { StoredFile } from "../../core/workspace.ts";
import { retrying } from "../client/client-retry.ts";
import { isSameServer } from "../client/server-address.ts";
import { metadataKeys } from "../extensions.ts";
import { fileFacts } from "../task-metadata.ts";
import { faultOf } from "./attempt.ts";
import type { PeerAddress, Peers } from "./peers.ts";

/**
 * The files that were taken, each with the part it came as, and why the first of the others was
 * not.
 */
type Taken = { readonly files: ReadonlyMap<WirePart, StoredFile>; readonly fault?: Fault };

/** How long one file may take to arrive. Milliseconds. */
const arrivalMs = 120_000;
const retries = { retries: 2, firstPauseMs: 250 };
/** An agent that starts again, which whoever keeps it up does after a pause, is back by then. */
const restart = { retries: 4, firstPauseMs: 500 };

/**
 * Stores a task's files in our artifact store, by content. A link is followed only to the server at
 * which the agent is asked, never to another that the agent or its card names. Files that cannot be
 * fetched are left out; rejects only if our own store fails.
 */
export async function takeFiles(
  { artifacts }: Task,
  address: PeerAddress,
  peers: Peers,
  signal: AbortSignal,
): Promise<Taken> {
  const from = { address, peers, signal };
  const files = new Map<WirePart, StoredFile>();
  let fault: Fault | undefined;
  let isGone = false;
  const take = async (part: FilePart) => {
    try {
      return await retrying(retries, signal, () => takeFile(part, from));
    } catch (error) {
      if (isGone || !isRefused(error)) throw error;
      isGone = true;
      return await retrying(restart, signal, () => takeFile(part, from));
    }
  };
  for (const part of artifacts.flatMap(({ name, parts }) => parts.flatMap((each) => filePart(each, name)))) {
    try {
      if (files.size === peers.bounds.files) {
        throw new AppError("too_large", `There are more than the ${peers.bounds.files} files that are taken.`);
      }
      files.set(part.part, await take(part));
    } catch (error) {
      if (!(error instanceof AppError) || error.code === "storage_unavailable") throw error;
      fault ??= faultOf(error);
    }
  }
  return { files, ...(fault !== undefined && { fault }) };
}

/** Whether a task has files to take. */
export function hasFiles({ artifacts }: Task): boolean {
  return artifacts.some(({ parts }) => parts.some((part) => filePart(part, "").length > 0));
}

type FilePart = { readonly part: WirePart; readonly name: string };
type Source = {
  readonly address: PeerAddress;
  readonly peers: Peers;
  readonly signal: AbortSignal;
};

function filePart(part: WirePart, artifactName: string): FilePart[] {
  const { content, filename } = part;
  if (content?.$case !== "raw" && content?.$case !== "url") return [];
  return [{ part, name: insidePath(sanitizeLine(filename || artifactName, 200)) }];
}

/** Whether nobody listens where the file is. */
function isRefused(error: unknown): boolean {
  return error instanceof AppError && errnoOf(error.cause) === "ECONNREFUSED";
}

async function takeFile({ part, name }: FilePart, from: Source): Promise<StoredFile> {
  const { content, mediaType } = part;
  const about = { name, ...(mediaType !== "" && { mediaType: sanitizeLine(mediaType, 100) }) };
  const { artifacts, bounds } = from.peers;
  const tooLarge = () =>
    new AppError("too_large", `The file ${name} is larger than the ${bounds.fileBytes} bytes that are taken.`);
  if (content?.$case === "raw") {
    if (content.value.byteLength > bounds.fileBytes) throw tooLarge();
    return { ...(await artifacts.put(content.value, about)), name };
  }
  const url = content?.$case === "url" ? from.peers.inside(content.value) : "";
  const claimed = fileFacts.safeParse(part.metadata?.[metadataKeys.file]).data;
  if (claimed !== undefined && claimed.size > bounds.fileBytes) throw tooLarge();
  const body = await openFile(url, name, from);
  const stored = await artifacts.put(body.pipeThrough(atMost(bounds.fileBytes, tooLarge)), about);
  if (claimed === undefined || claimed.sha256 === stored.sha256) return { ...stored, name };
  throw new AppError("unavailable", `The file ${name} did not arrive as the agent announced it.`);
}

async function openFile(url: string, name: string, { address, peers, signal }: Source) {
  if (!isSameServer(url, peers.inside(peers.at(address).url))) {
    throw new AppError("forbidden", `The file ${name} is not on the agent's own server; its link was not followed.`);
  }
  try {
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(arrivalMs)]);
    const response = await peers.fetch(address)(url, { redirect: "error", signal: bounded });
    if (response.ok && response.body !== null) return guarded(response.body, name, signal);
    const code = response.status >= 500 || response.status === 429 ? "unavailable" : "not_found";
    await response.body?.cancel();
    throw new AppError(code, `The file ${name} could not be had: HTTP status ${response.status}.`);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof AppError) throw error;
    throw new AppError("unavailable", `The file ${name} could not be fetched.`, { cause: error });
  }
}

/** The body; a broken connection becomes an expected failure. */
function guarded(body: ReadableStream<Uint8Array>, name: string, signal: AbortSignal): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        const broken = new AppError("unavailable", `The file ${name} broke off.`, { cause: error });
        controller.error(signal.aborted ? signal.reason : broken);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
