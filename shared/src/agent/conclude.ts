import type { AgentDefinition, TaskChanges } from "../core/agent.ts";
import { AppError } from "../core/errors.ts";
import type { Part } from "../core/message.ts";
import type { AgentOutput } from "../core/runs/task.ts";
import type { ArtifactStore, StoredFile, Workspace, Workspaces } from "../core/workspace.ts";
import { storeFile } from "../machine/workspace/artifacts/artifact-store.ts";
import { unchangedSinceBaseline } from "../machine/workspace/baseline.ts";
import { ignoredInProjects } from "../machine/workspace/ignored-files.ts";
import { changedFiles, type Listing, listFiles, removedFiles } from "../machine/workspace/list-files.ts";
import { isProtected } from "../machine/workspace/protected-names.ts";
import type { AgentState } from "./task/agent-state.ts";

type ConcludeDeps = Workspaces & {
  readonly artifacts: ArtifactStore;
  readonly finish?: AgentDefinition["finish"];
};

/**
 * Artifact names with a meaning of their own; a file with such a name gets a path, as in
 * `./answer`.
 */
const reservedNames = ["answer", "partial-answer"];
const maxFiles = 50;
const largestFile = 100 * 1024 * 1024;

/**
 * Ends a task: the files it made become artifacts, and its answer becomes the last one. With an
 * error, the result so far becomes `partial-answer` and the error is thrown; a task that gave up
 * rejects with `task_failed`.
 */
export async function conclude(
  task: AgentState,
  before: Listing,
  error: AppError | undefined,
  deps: ConcludeDeps,
): Promise<AgentOutput> {
  const { run } = task;
  const files = await run.step("collect", async () => {
    const workspace = await deps.openWorkspace(run.principal, run.contextId);
    const after = await listFiles(workspace);
    const made = await collect(workspace, { before, after }, task, deps.artifacts);
    const taskChanges = { made: made.map(({ name }) => name), removed: removedFiles(before, after) };
    return [...made, ...(await finished(workspace, taskChanges, deps))];
  });
  for (const file of files) {
    const name = reservedNames.includes(file.name) ? `./${file.name}` : file.name;
    addArtifact(task, name, [{ type: "file", ...file }]);
  }
  const { outcome } = task;
  if (error === undefined && outcome?.status === "success") {
    const answer = outcome.summary.trim() === "" ? lastWords(task) : outcome.summary;
    addArtifact(task, "answer", answerParts(answer, outcome.data));
    return { answer, ...(outcome.data !== undefined && { data: outcome.data }) };
  }
  const reached = lastWords(task);
  if (reached !== "" && reached !== outcome?.summary)
    addArtifact(task, "partial-answer", answerParts(reached, undefined));
  throw error ?? new AppError("task_failed", outcome?.summary || "The agent gave up without saying why.");
}

function addArtifact(task: AgentState, name: string, parts: readonly Part[]): void {
  const takenIn = reservedNames.includes(name) ? { takenIn: [...task.takenIn] } : {};
  task.run.emit({ type: "artifact-added", artifactId: `${task.run.id}/${name}`, name, parts, ...takenIn });
}

function answerParts(text: string, data: AgentOutput["data"]): Part[] {
  return data === undefined
    ? [{ type: "text", text }]
    : [
        { type: "text", text },
        { type: "data", data },
      ];
}

/** The newest text the agent wrote in this task. */
function lastWords({ messages, goal }: AgentState): string {
  const own = messages.slice(messages.indexOf(goal) + 1);
  const said = own.findLast((message) => message.role === "assistant" && message.text.trim() !== "");
  return said?.role === "assistant" ? said.text : "";
}

/** The artifacts that the agent's own `finish` makes. */
async function finished(
  workspace: Workspace,
  taskChanges: TaskChanges,
  { finish, artifacts }: ConcludeDeps,
): Promise<StoredFile[]> {
  if (finish === undefined) return [];
  const extra = await finish(workspace, taskChanges);
  return Promise.all(extra.map(({ content, ...about }) => artifacts.put(new TextEncoder().encode(content), about)));
}

/**
 * Stores the files made or changed since `before`, up to the limits. Leaves out files that would
 * take effect where they are copied to, files that arrived from elsewhere and were not changed,
 * what git ignores in a project unless the answer names it, and files that cannot be read. Rejects
 * with `storage_unavailable` if they cannot be kept.
 */
async function collect(
  workspace: Workspace,
  { before, after }: { readonly before: Listing; readonly after: Listing },
  task: AgentState,
  artifacts: ArtifactStore,
): Promise<StoredFile[]> {
  const fit = after.files.filter((file) => file.size <= largestFile && !isProtected(file.path));
  const isUnchanged = await unchangedSinceBaseline(workspace);
  const isIgnored = await ignoredInProjects(workspace, after);
  const answer = `${task.outcome?.summary ?? ""} ${lastWords(task)}`;
  const stored: StoredFile[] = [];
  for (const path of changedFiles(before, { ...after, files: fit })) {
    if (stored.length === maxFiles) break;
    if ((isIgnored(path) && !names(answer, path)) || (await isUnchanged(path))) continue;
    const file = await storeFile(workspace, artifacts, path).catch((error: unknown) => {
      if (error instanceof AppError && error.code !== "storage_unavailable") return undefined;
      throw error;
    });
    if (file !== undefined && task.received.get(path) !== file.sha256) stored.push({ ...file, name: path });
  }
  return stored;
}

/** Whether a text names a file by its path, or by that within its project. */
function names(text: string, path: string): boolean {
  return text.includes(path) || (path.includes("/") && text.includes(path.slice(path.indexOf("/") + 1)));
}
