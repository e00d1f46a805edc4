import * as z from "zod";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { Tool } from "../../core/tools/tool.ts";

/** A tool `gate` for tests: a call waits until `leave` lets it answer "open". */
export function gateForTest(): { readonly tool: Tool; readonly entered: Promise<void>; readonly leave: () => void } {
  const entered = Promise.withResolvers<void>();
  const leave = Promise.withResolvers<void>();
  const tool = defineTool({
    name: "gate",
    description: "Waits.",
    input: z.strictObject({}),
    effect: "pure",
    async run() {
      entered.resolve();
      await leave.promise;
      return "open";
    },
  });
  return { tool, entered: entered.promise, leave: leave.resolve };
}
