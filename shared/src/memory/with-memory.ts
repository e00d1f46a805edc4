import type { MoreTools } from "../core/agent.ts";
import type { Tool } from "../core/tools/tool.ts";
import type { MemoryStore } from "./memory-store.ts";
import { memoryTool, memoryToolName } from "./memory-tool.ts";

/** How many principals' tools stay as they are, so that a prompt's description is made once. */
const maxKept = 1_000;

/** Words of the user by which it may be about something to be kept, in the languages we know. */
const speaksOfIt =
  /\b(?:my|our|mine|ours|mes|mon|unser\w*|mein\w*)\b|no longer|any ?more|remember|forget|memor|keep in mind|from now on|in (?:the )?future|next time|always|never|prefer|favou?rite|my name|call me|we (?:use|call|keep)|merke?|erinner|vergiss|künftig|ab jetzt|immer|niemals|bevorzug|lieber|souvien|rappel|oubli|désormais|toujours|jamais|préf|recuerd|olvid|siempre|nunca|prefier|ricord|sempre|lembr|记住|记得|忘|以后|总是|从不|喜欢|偏好|覚え|忘れ|今後|いつも|기억|잊|항상/i;

/**
 * The agent's tools with `memory` before those that may change, for principals that have one. A
 * task is offered it once the user's words speak of something to keep or it was used, so that other
 * tasks don't pay for it; a call is made in any case.
 */
export function withMemory(more: MoreTools, store: MemoryStore, isOn: (principal: string) => boolean): MoreTools {
  const made = new Map<string, Tool>();
  const toolOf = (principal: string) => {
    const tool = made.get(principal) ?? memoryTool(store, principal);
    made.set(principal, tool);
    const [oldest] = made.keys();
    if (made.size > maxKept && oldest !== undefined) made.delete(oldest);
    return tool;
  };
  return {
    ...more,
    async list(principal, signal, tell) {
      const listed = await more.list(principal, signal, tell);
      return isOn(principal) ? { ...listed, tools: [toolOf(principal), ...listed.tools] } : listed;
    },
    offer(tools, told, said) {
      const isNeeded = told.some(({ name }) => name === memoryToolName) || said.some((text) => speaksOfIt.test(text));
      const own = isNeeded ? tools.filter(({ name }) => name === memoryToolName) : [];
      const others = tools.filter(({ name }) => name !== memoryToolName);
      return [...own, ...more.offer(others, told, said)];
    },
    mayHave: (name) => name === memoryToolName || more.mayHave(name),
  };
}
