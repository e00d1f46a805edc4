import type { MoreTools } from "../tools/more-tools.ts";
import type { Tool } from "../tools/tool.ts";

/** Tools that come and go, each under a guard; the same tool is under the same one every time. */
export function guardedMore(more: MoreTools, guarded: (tool: Tool) => Tool): MoreTools {
  const known = new WeakMap<Tool, Tool>();
  return {
    ...more,
    async list(principal, signal) {
      return (await more.list(principal, signal)).map((tool) => {
        const under = known.get(tool) ?? guarded(tool);
        known.set(tool, under);
        return under;
      });
    },
  };
}
