import { signal } from "@preact/signals";
import type { ListedFlow } from "../../api/catalog.ts";
import { newKey, post } from "../../api/client.ts";
import { saidOf } from "../../api/said.ts";
import { type Entered, enteredOf, readOptions } from "../../parts/option-fields.tsx";
import { draftOf } from "../../state/drafts.ts";
import { address, go } from "../../state/router.ts";
import { agents, flows, refreshRuns } from "../../state/store.ts";

/** The task that is about to be started: kept while the person looks at other pages. */
export const newTask = {
  draft: draftOf("new"),
  /** The flow or agent; the first flow if nothing was chosen. */
  name: signal<string | undefined>(undefined),
  /** The agents of a flow, in order, as typed. */
  team: signal(""),
  options: signal<Entered>({}),
  limit: signal(""),
};

/** The name of the chosen flow or agent. */
export function chosenName(): string {
  return newTask.name.value ?? flows.value[0]?.name ?? agents.value[0]?.name ?? "";
}

/** The chosen flow; undefined for an agent. */
export const chosenFlow = (): ListedFlow | undefined => flows.value.find(({ name }) => name === chosenName());

/** The agents that were named, in order. */
export function teamNames(): string[] {
  return newTask.team.value.split(",").flatMap((name) => (name.trim() === "" ? [] : [name.trim()]));
}

/** Chooses a flow or an agent; what was set for another does not fit it. */
export function choose(name: string): void {
  if (name === chosenName()) return;
  newTask.name.value = name;
  newTask.options.value = {};
}

/** Fills the form with a flow's example. */
export function fillExample({ name, example, options }: ListedFlow): void {
  if (example === undefined) return;
  newTask.name.value = name;
  newTask.draft.text.value = example.text;
  newTask.draft.files.value = (example.files ?? []).map((file) => new File([file.text], file.name));
  newTask.team.value = (example.agents ?? []).join(", ");
  newTask.options.value = enteredOf(options?.properties ?? {}, example.options ?? {});
}

const sending = { key: newKey() };

/**
 * Starts the task and opens its conversation. A refused request is corrected and gets a new key;
 * one without a response is sent again under the same key.
 */
export async function startTask(): Promise<void> {
  const { draft, limit, options } = newTask;
  const flow = chosenFlow();
  const team = flow === undefined ? [] : teamNames();
  const set = readOptions(flow?.options?.properties ?? {}, options.value);
  const usd = limit.value.trim();
  const [said, files] = [draft.text.value, draft.files.value];
  const body = {
    input: await saidOf(said, files),
    ...(team.length > 0 && { agents: team }),
    ...(Object.keys(set).length > 0 && { options: set }),
    ...(usd !== "" && { budget: { usd: Number(usd) } }),
  };
  try {
    const path = `/flows/${encodeURIComponent(chosenName())}`;
    const { contextId } = await post<{ contextId: string }>(path, body, { "Idempotency-Key": sending.key });
    sending.key = newKey();
    draft.sent(said, files);
    newTask.options.value = {};
    newTask.team.value = "";
    void refreshRuns();
    go(address(["c", contextId]));
  } catch (error) {
    if (error instanceof Error && "status" in error) sending.key = newKey();
    throw error;
  }
}
