import type { MoreTools } from "../core/agent.ts";
import type { Tool } from "../core/tool.ts";

/** Tools that come and go, each under a guard; the same tool is under the same one every time. */
export function guardedMore(more: MoreTools, guarded: (tool: Tool) => Tool): MoreTools {
  const known = new WeakMap<Tool, Tool>();
  const under = (tool: Tool) => {
    const one = known.get(tool) ?? guarded(tool);
    known.set(tool, one);
    return one;
  };
  return {
    ...more,
    async list(principal, signal, tell) {
      const listed = await more.list(principal, signal, tell);
      return { ...listed, tools: listed.tools.map(under) };
    },
  };
}
