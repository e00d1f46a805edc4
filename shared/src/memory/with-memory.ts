import type { MoreTools } from "../core/agent.ts";
import type { Tool } from "../core/tools/tool.ts";
import type { MemoryStore } from "./memory-store.ts";
import { memoryTool, memoryToolName } from "./memory-tool.ts";

/** How many principals' tools stay as they are, so that a prompt's description is made once. */
const mostKept = 1_000;

/** The agent's tools with `memory` before those that may change, for principals that have one. */
export function withMemory(more: MoreTools, store: MemoryStore, isOn: (principal: string) => boolean): MoreTools {
  const made = new Map<string, Tool>();
  const toolOf = (principal: string) => {
    const tool = made.get(principal) ?? memoryTool(store, principal);
    made.set(principal, tool);
    const [oldest] = made.keys();
    if (made.size > mostKept && oldest !== undefined) made.delete(oldest);
    return tool;
  };
  return {
    ...more,
    async list(principal, signal, tell) {
      const listed = await more.list(principal, signal, tell);
      return isOn(principal) ? { ...listed, tools: [toolOf(principal), ...listed.tools] } : listed;
    },
    offer(tools, told, said) {
      const own = tools.filter(({ name }) => name === memoryToolName);
      const others = tools.filter(({ name }) => name !== memoryToolName);
      return [...own, ...more.offer(others, told, said)];
    },
    mayHave: (name) => name === memoryToolName || more.mayHave(name),
  };
}
