import type * as z from "zod";
import type { Effect } from "../../../core/run.ts";
import { defineTool, type Tool, type ToolContext, type ToolResult } from "../../../core/tool.ts";
import type { Browsers, Browsing } from "../../../machine/browser/browser.ts";
import type { LookBook, Looks } from "../looks.ts";

/** What the browser's tools need. */
export type BrowserDeps = { readonly browsers: Browsers; readonly looks: LookBook };

/** What one call works with: the conversation's browsing and what was seen of it. */
export type Hand = { readonly browsing: Browsing; readonly looks: Looks; readonly context: ToolContext };

/** A tool of the browser. It opens the conversation's browsing when there is none, and closes it when the task is canceled. */
export function browserTool<Input extends z.ZodObject>(
  { browsers, looks }: BrowserDeps,
  spec: {
    readonly name: string;
    readonly description: string;
    readonly input: Input;
    readonly effect?: Effect;
    readonly run: (input: z.output<Input>, hand: Hand) => Promise<string | ToolResult>;
  },
): Tool {
  const tool = defineTool({
    name: spec.name,
    description: spec.description,
    input: spec.input,
    effect: spec.effect ?? "once",
    async run(input, context) {
      const browsing = await browsers.open(context.workspace, context.signal);
      return await spec.run(input, { browsing, looks: looks.of(browsing), context });
    },
  });
  return { ...tool, release: (workspace) => browsers.release(workspace) };
}
