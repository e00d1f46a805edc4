import { cancelOpen } from "../a2a/ask/cancel-remote-tasks.ts";
import { createSlots } from "../core/async/slots.ts";
import type { Flow, Writing } from "../core/flow.ts";
import type { Part, PeerArtifact } from "../core/message.ts";
import type { Run } from "../core/runs/run.ts";
import type { StoredFile } from "../core/workspace.ts";
import { type AskDeps, ask } from "./ask.ts";
import { askFlowModel, type ModelDeps } from "./ask-model.ts";
import { decide, decideUnlessWritten, tellCutOff } from "./decide.ts";
import { type ReadDocument, readExcerpts } from "./excerpts.ts";
import { isAddress, namedAgent } from "./find-agent.ts";
import type { FlowState } from "./flow-state.ts";
import { askCaller, receiveCallerMessages } from "./receive-caller-messages.ts";

/** What a flow's body needs of the process it runs in. */
export type FlowVerbDeps = AskDeps & ModelDeps & { readonly readDocument?: ReadDocument };

/** Reserved artifact names; a file with such a name gets a path, as in `./answer`. */
const reservedNames = ["answer", "partial-answer", "plan.md", "transcript.md"];

function freeName(name: string): string {
  return reservedNames.includes(name) ? `./${name}` : name;
}

/** What tells files apart; the same for everything else. */
function fileKey(part: Part | StoredFile): string {
  return "sha256" in part ? `${part.sha256} ${part.name}` : "";
}

/** The verbs of a flow over a run: that of the body or of one of its branches. */
export function createFlow(run: Run, state: FlowState, deps: FlowVerbDeps): Flow {
  const { goal, files, earlier, entries, agents } = state.begun;
  const artifact = (name: string, parts: readonly Part[], about: Omit<PeerArtifact, "name" | "parts"> = {}) =>
    run.emit({
      type: "artifact-added",
      artifactId: `${run.id}/${name}`,
      name,
      parts,
      ...about,
      ...(/^(?:partial-)?answer$/.test(name) && { takenIn: [...state.takenIn] }),
    });
  return {
    run,
    goal,
    get files() {
      return withEarlier(newestOf([...files, ...state.added]), earlier.files);
    },
    earlier: earlier.text,
    agents: entries,
    isChosen: agents !== undefined,
    expect(asks, { own = false } = {}) {
      state.expected = asks;
      state.ownCalls = own;
    },
    check(reference) {
      if (!isAddress(reference)) namedAgent(reference, state.begun);
    },
    ask: (reference, message, options = {}) => ask(run, state, reference, message, options, deps),
    all: (branches, options = {}) => all(run, state, branches, options, deps),
    over: (other) => createFlow(other, state, deps),
    async cancelOpen() {
      await cancelOpen(run, deps.peers);
    },
    decide: (decision) => decide(run, state, decision, deps),
    write: (writing) => write(run, state, writing, deps),
    writeOrDecide: (writing, decision) => decideUnlessWritten(run, state, writing, decision, deps),
    excerpts: (stored) =>
      readExcerpts(run, stored, { artifacts: deps.peers.artifacts, readDocument: deps.readDocument }),
    askPerson: (question, kind = "question") => askCaller(run, state, { question, kind }),
    receiveMessages: () => receiveCallerMessages(run, state),
    tell: (event) => run.emit(event),
    artifact: (name, parts) => artifact(name, parts),
    handOn(stored, artifacts = []) {
      for (const { name, parts, ...about } of artifacts) artifact(freeName(name), parts, about);
      const held = new Set(artifacts.flatMap(({ parts }) => parts.map(fileKey)));
      for (const file of stored.filter((one) => !held.has(fileKey(one))))
        artifact(freeName(file.name), [{ type: "file", ...file }]);
    },
    reached(text) {
      state.reached = text;
    },
  };
}

/** The parts without files that a later file of the same name replaces. */
function newestOf(parts: readonly Part[]): readonly Part[] {
  return parts.filter(
    (part, index) =>
      part.type !== "file" ||
      !parts.slice(index + 1).some((other) => other.type === "file" && other.name === part.name),
  );
}

/** The files that came with the task, and the earlier files that they do not replace. */
function withEarlier(files: readonly Part[], earlier: readonly StoredFile[]): readonly Part[] {
  const names = new Set(files.flatMap((part) => (part.type === "file" ? [part.name] : [])));
  const kept = earlier.filter(({ name }) => !names.has(name));
  return [...files, ...kept.map((file): Part => ({ type: "file", ...file }))];
}

async function all<T>(
  run: Run,
  state: FlowState,
  branches: readonly ((flow: Flow) => Promise<T>)[],
  { concurrency = branches.length }: { readonly concurrency?: number },
  deps: FlowVerbDeps,
): Promise<T[]> {
  const slots = createSlots(Math.max(1, concurrency));
  let left = branches.length;
  state.branches += Math.max(0, left - 1);
  const counted = async (branch: (flow: Flow) => Promise<T>, own: Run) => {
    try {
      return await slots.within(own.abortSignal, () => branch(createFlow(own, state, deps)));
    } finally {
      if (--left > 0) state.branches--;
    }
  };
  try {
    return await run.all(branches.map((branch) => (own: Run) => counted(branch, own)));
  } catch (error) {
    if (!run.abortSignal.aborted) await cancelOpen(run, deps.peers);
    throw error;
  }
}

async function write(
  run: Run,
  state: FlowState,
  { name, instructions, text, isAnswer = false }: Writing,
  deps: ModelDeps,
): Promise<string> {
  const messages = [
    { role: "system" as const, text: instructions },
    { role: "user" as const, parts: [{ type: "text" as const, text }] },
  ];
  const request = { messages, tools: [], toolChoice: "none" as const, isAnswer };
  const reply = await askFlowModel(run, state, name, request, deps);
  if (reply.finish === "length") tellCutOff(run);
  return reply.text;
}
