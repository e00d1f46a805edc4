import type { Tool } from "../../core/tools/tool.ts";
import type { Judgement, Situation } from "./acts.ts";

/** How a tool works on the open page. */
export type OnPage = {
  /**
   * Judges what the act would do on the page. Omitted when the tool does nothing that a person has
   * to decide about.
   */
  readonly judge?: (input: unknown, situation: Situation) => Promise<Judgement>;
  /** Whether this tool answers the dialog that blocks a page, or leaves the page with it. */
  readonly answersDialog?: boolean;
};

/** A tool that works on the open page: its results may describe that page. */
export interface PageTool extends Tool {
  readonly onPage: OnPage;
}

/** Whether a tool works on the open page. */
export function isPageTool(tool: Tool): tool is PageTool {
  return "onPage" in tool;
}
