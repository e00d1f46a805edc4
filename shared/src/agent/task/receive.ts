import { basename, extname, join } from "node:path";
import { AppError } from "../../core/errors.ts";
import { messageSignal, type Part, type UserMessage } from "../../core/message.ts";
import type { Run } from "../../core/runs/run.ts";
import { sourcesIn, type TakenIn } from "../../core/taken-in.ts";
import type { ArtifactStore, StoredFile, Workspace, Workspaces } from "../../core/workspace.ts";
import { recordBaseline } from "../../machine/workspace/baseline.ts";
import { holdSources } from "../../machine/workspace/held-sources.ts";
import { isProtected } from "../../machine/workspace/protected-names.ts";
import { saveFile } from "../../machine/workspace/save-file.ts";
import { openFile } from "../../machine/workspace/workspace-file.ts";
import type { AgentState, TaskMessage } from "./agent-state.ts";
import { boundText } from "./bound-text.ts";
import type { Turn } from "./loop.ts";

/**
 * Reads the user's new messages before each turn: a message sent to a working task steers it. A
 * message that arrives during the last turn leads to another turn, if the task has one left.
 */
export function receiveMessages(turn: Turn, deps: ReceiveDeps): Turn {
  return async (task) => {
    await collectMessages(task);
    for (const message of task.pendingMessages.splice(0)) {
      task.messages.push(await receive(task.run, message, task, deps));
    }
    if ((await turn(task)) === "continue") return "continue";
    await collectMessages(task);
    if (task.pendingMessages.length === 0 || task.turn === task.limits.steps) return "done";
    task.outcome = undefined;
    return "continue";
  };
}

/**
 * Moves newly arrived messages to the task's pending messages. Called before a person is asked, so
 * that only messages after the question answer it.
 */
export async function collectMessages(task: AgentState): Promise<void> {
  task.pendingMessages.push(...(await task.run.poll<UserMessage>(messageSignal)));
}

/** What receiving a message needs of the server. */
export type ReceiveDeps = Workspaces & { readonly artifacts: ArtifactStore };

/** Longer text goes into a file, with its head and tail in the conversation. */
const longestText = 60_000;

/**
 * Adds a user's message to the conversation and its files to the workspace, and records an event,
 * so that the message has its place where it was read, not where it arrived. `brought` is what its
 * sender had taken in.
 */
export async function receive(
  run: Run,
  { messageId, parts }: UserMessage,
  { received, takenIn }: Pick<AgentState, "received" | "takenIn">,
  deps: ReceiveDeps,
  brought: TakenIn = [],
): Promise<TaskMessage> {
  const placed = await placeFiles(run, parts, received, deps);
  const stored = { ...(placed !== parts && { parts: placed }), ...(brought.length > 0 && { takenIn: brought }) };
  run.emit({ type: "message-heard", messageId, as: "message", ...stored });
  for (const source of [...brought, ...sourcesIn(parts)]) takenIn.add(source);
  return { role: "user", parts: placed };
}

/**
 * Puts the files among these parts into the workspace, under their own names or the next free ones,
 * and records them as received; very long text goes into a file too. Returns the parts with the
 * files' names there. Files that other agents made for the task are not recorded (`received`
 * undefined), so they count among its results.
 */
export async function placeFiles(
  run: Run,
  parts: readonly Part[],
  received: AgentState["received"] | undefined,
  deps: ReceiveDeps,
): Promise<readonly Part[]> {
  if (!parts.some((part) => part.type === "file" || (part.type === "text" && part.text.length > longestText)))
    return parts;
  const placed = await run.step("receive", async () => {
    const workspace = await deps.openWorkspace(run.principal, run.contextId);
    await holdSources(workspace, run.id, received === undefined ? [] : sourcesIn(parts));
    const inPlace: Part[] = [];
    for (const part of parts) {
      const { part: put, content } = await place(part, workspace, deps.artifacts);
      if (received !== undefined && put.type === "file" && content !== undefined)
        await recordBaseline(
          workspace,
          { root: put.name, files: [{ path: put.name, sha256: put.sha256 }] },
          () => content,
        );
      inPlace.push(put);
    }
    return inPlace;
  });
  for (const part of placed) if (part.type === "file") received?.set(part.name, part.sha256);
  return placed;
}

type Placed = { readonly part: Part; readonly content?: Blob };

async function place(part: Part, workspace: Workspace, artifacts: ArtifactStore): Promise<Placed> {
  if (part.type === "text") {
    const text = await boundText(part.text, longestText, (whole) => workspace.spill("message.txt", whole));
    return { part: { ...part, text } };
  }
  if (part.type !== "file") return { part };
  const content = await artifacts.get(part.sha256);
  if (content === undefined)
    return { part: { type: "text", text: `[file ${part.name} was sent, but its content is no longer stored]` } };
  return { part: { ...part, name: await putFile(part, content, workspace) }, content };
}

/**
 * Stores the file under its own name with its folders, so that references between files work;
 * without the folders if they cannot be created.
 */
async function putFile(file: StoredFile, content: Blob, workspace: Workspace): Promise<string> {
  const segments = file.name.split(/[/\\]/).filter((segment) => !/^[\s.]*$/.test(segment));
  const name = safeName(segments.at(-1) ?? "");
  const folders = segments.slice(0, -1).slice(-deepest).map(safeName);
  if (folders.length > 0) {
    try {
      return await putFreely(file, content, { workspace, folders, name });
    } catch (error) {
      if (!(error instanceof AppError && error.code === "forbidden")) throw error;
    }
  }
  return await putFreely(file, content, { workspace, folders: [], name });
}

type Target = { readonly workspace: Workspace; readonly folders: readonly string[]; readonly name: string };

/** Stores the file under this name or the next free one. */
async function putFreely(file: StoredFile, content: Blob, { workspace, folders, name }: Target): Promise<string> {
  const stem = basename(name, extname(name));
  for (let copy = 1; ; copy++) {
    const candidate = join(...folders, copy === 1 ? name : `${stem}-${copy}${extname(name)}`);
    try {
      return await saveFile(workspace, candidate, content.stream(), { exclusive: true });
    } catch (error) {
      if (!(error instanceof AppError && error.code === "conflict")) throw error;
      if (await holds(workspace, candidate, file)) return candidate;
    }
  }
}

/** Whether the existing file is this one, which happens when a crash makes us place it twice. */
async function holds(workspace: Workspace, path: string, file: StoredFile): Promise<boolean> {
  try {
    await using there = await openFile(workspace, path);
    if (there.stats.size !== file.size) return false;
    const hash = new Bun.CryptoHasher("sha256");
    let read = 0;
    for await (const chunk of there.handle.readableWebStream()) {
      read += chunk.length;
      // A command may let it grow without end.
      if (read > file.size) return false;
      hash.update(chunk);
    }
    return hash.digest("hex") === file.sha256;
  } catch (error) {
    // A FIFO, or what has become a link.
    if (error instanceof AppError) return false;
    throw error;
  }
}

/** File systems allow 255; the number of a copy needs some of them. */
const longestNameBytes = 200;

/** How many folders a file's name may have; of more, the last are kept. */
const deepest = 8;

/**
 * A segment of a name, without anything that a file system, a shell, a terminal or another program
 * could misread.
 */
function safeName(name: string): string {
  const plain = name.replaceAll(/[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069<>:"|?*]/gu, "_").replace(/^[.\s]+/, "");
  const extension = extname(plain).length > 20 ? "" : extname(plain);
  const stem = Array.from(basename(plain, extension));
  while (Buffer.byteLength(stem.join("") + extension) > longestNameBytes) stem.pop();
  const short = stem.join("") + extension;
  if (short === "") return "file";
  return isProtected(short) ? `_${short}` : short;
}
