import type { AgentDefinition, ToolsListed } from "../../core/agent.ts";
import { partWords } from "../../core/message.ts";
import type { StepContext } from "../../core/runs/run.ts";
import type { Tool } from "../../core/tools/tool.ts";
import type { AgentState, TaskMessage } from "../task/agent-state.ts";

/** The tools an agent can call now, and those its model is offered. */
export type ToolsNow = {
  readonly callable: readonly Tool[];
  readonly offered: readonly Tool[];
  /** The sources whose tools are unavailable. */
  readonly missing: ToolsListed["missing"];
};

/** The conversation of a task before its first turn. */
export const nothingYet: Pick<AgentState, "messages" | "called"> = { messages: [], called: new Set() };

/**
 * The agent's tools and those that may change; watchers are told what is waited for. Only for use
 * inside steps, since the set is not deterministic. `vision` is whether its model sees pictures.
 */
export async function toolsNow(
  { tools, moreTools }: Pick<AgentDefinition, "tools" | "moreTools">,
  principal: string,
  { messages, called }: Pick<AgentState, "messages" | "called">,
  { signal, progress, vision }: Pick<StepContext, "signal" | "progress"> & { readonly vision?: boolean },
): Promise<ToolsNow> {
  const seen = vision === false ? tools.filter(({ needsSight }) => !needsSight) : tools;
  const first = opened(seen, called);
  if (moreTools === undefined) return { callable: tools, offered: first, missing: [] };
  const own = new Set(tools.map(({ name }) => name));
  const listed = await moreTools.list(principal, signal, (text) =>
    progress({ type: "notice-given", kind: "tools", text }),
  );
  const more = listed.tools.filter(({ name }) => !own.has(name));
  const results = messages.filter((message) => message.role === "tool");
  const offered = moreTools.offer(more, results, saidIn(messages));
  return {
    callable: [...tools, ...more, ...offered.filter((tool) => !more.includes(tool))],
    offered: [...first, ...offered],
    missing: listed.missing,
  };
}

/**
 * The tools without those of families that neither a call nor a need has opened yet. Families that
 * open come last: what is before them stays in the provider's cache.
 */
function opened(tools: readonly Tool[], called: ReadonlySet<string>): readonly Tool[] {
  const needed = tools.filter(({ neededFor }) => neededFor !== undefined).map(({ family }) => family);
  const families = new Set([...tools.map(({ opens }) => opens), ...needed].filter((name) => name !== undefined));
  const closed = new Set<string | undefined>(families);
  for (const { name, family, opens } of tools) {
    if (!called.has(name)) continue;
    closed.delete(family);
    closed.delete(opens);
  }
  const isOpened = (tool: Tool) => tool.family !== undefined && families.has(tool.family);
  const offered = ({ family, opens }: Tool) => family === opens || !closed.has(family);
  return [...tools.filter((tool) => !isOpened(tool)), ...tools.filter((tool) => isOpened(tool) && offered(tool))];
}

/**
 * The names of the tools that the words of these messages call for, without those in `known`. What
 * the user said counts, and what results say.
 */
export function neededIn(
  messages: readonly TaskMessage[],
  tools: readonly Tool[],
  known: ReadonlySet<string>,
): readonly string[] {
  const asked = tools.filter(({ name, neededFor }) => neededFor !== undefined && !known.has(name));
  if (asked.length === 0) return [];
  const said = saidIn(messages);
  const results = messages.flatMap((message) => (message.role === "tool" ? [message.text] : []));
  return asked
    .filter(
      ({ neededFor }) =>
        said.some((text) => neededFor?.(text, "user")) || results.some((text) => neededFor?.(text, "result")),
    )
    .map(({ name }) => name);
}

/** What the user said in these messages, and the names of the files they sent. */
function saidIn(messages: readonly TaskMessage[]): readonly string[] {
  return messages.flatMap((message) =>
    message.role === "user" && message.note !== true ? message.parts.map(partWords) : [],
  );
}
