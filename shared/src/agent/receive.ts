import { basename, extname } from "node:path";
import type { Run } from "../durable/run.ts";
import { AppError } from "../errors.ts";
import { saveFile } from "../workspace/save-file.ts";
import type { ArtifactStore, StoredFile, Workspace } from "../workspace/workspace.ts";
import { boundText } from "./bound-text.ts";
import type { Part } from "./events.ts";
import type { TaskMessage } from "./task-state.ts";

/** What taking in a message needs of the server. */
export type ReceiveDeps = {
  readonly artifacts: ArtifactStore;
  openWorkspace(principal: string, contextId: string): Promise<Workspace>;
};

/** Text longer than this goes into a file, with its head and tail in the conversation. */
const longestText = 60_000;

/** A user's message as the conversation keeps it, its files in the workspace. */
export async function receive(
  run: Run,
  message: { readonly parts: readonly Part[] },
  deps: ReceiveDeps,
): Promise<TaskMessage> {
  return { role: "user", parts: await placeFiles(run, message.parts, deps) };
}

/**
 * Puts the files among these parts into the workspace, under their own names or the next free ones, so that tools can work on them; very
 * long text goes into a file too. Answers the parts with the names the files have there.
 */
export async function placeFiles(run: Run, parts: readonly Part[], deps: ReceiveDeps): Promise<readonly Part[]> {
  if (!parts.some((part) => part.type === "file" || (part.type === "text" && part.text.length > longestText)))
    return parts;
  return run.step("receive", async () => {
    const workspace = await deps.openWorkspace(run.principal, run.contextId);
    const placed: Part[] = [];
    for (const part of parts) placed.push(await place(part, workspace, deps.artifacts));
    return placed;
  });
}

async function place(part: Part, workspace: Workspace, artifacts: ArtifactStore): Promise<Part> {
  if (part.type === "text") {
    return { ...part, text: await boundText(part.text, longestText, (whole) => workspace.spill("message.txt", whole)) };
  }
  if (part.type !== "file") return part;
  const content = await artifacts.get(part.sha256);
  if (content === undefined) return { type: "text", text: `[file ${part.name} was sent, but its content is gone]` };
  return { ...part, name: await putFile(part, content, workspace) };
}

async function putFile(file: StoredFile, content: Blob, workspace: Workspace): Promise<string> {
  const name = safeName(file.name);
  const stem = basename(name, extname(name));
  for (let copy = 1; ; copy++) {
    const candidate = copy === 1 ? name : `${stem}-${copy}${extname(name)}`;
    try {
      return await saveFile(workspace, candidate, content.stream(), { exclusive: true });
    } catch (error) {
      if (!(error instanceof AppError && error.code === "conflict")) throw error;
      if (await holds(workspace, candidate, file)) return candidate;
    }
  }
}

/** Whether a file there already is this one, as it is when a crash made us place it twice. */
async function holds(workspace: Workspace, path: string, file: StoredFile): Promise<boolean> {
  const there = Bun.file(await workspace.resolve(path));
  if (there.size !== file.size) return false;
  const hash = new Bun.CryptoHasher("sha256");
  for await (const chunk of there.stream()) hash.update(chunk);
  return hash.digest("hex") === file.sha256;
}

/** The last segment of a name, without what a file system, a shell or a terminal could take for something else. */
function safeName(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? "";
  const plain = last
    .replaceAll(/[\p{Cc}<>:"|?*]/gu, "_")
    .replace(/^[.\s]+/, "")
    .slice(0, 120);
  return plain === "" ? "file" : plain;
}
