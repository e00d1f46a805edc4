import type { Tool } from "../../core/tool.ts";
import type { Judgement, Situation } from "./acts.ts";

/** How a tool works on the open page. */
export type OnPage = {
  /**
   * What its act would do there. Left out where it does nothing that a person has to decide about.
   */
  readonly judge?: (input: unknown, situation: Situation) => Promise<Judgement>;
  /** Whether it is the one that answers the dialog that holds a page up. */
  readonly answersDialog?: boolean;
};

/** A tool that works on the open page: what its results tell may be of that page. */
export interface PageTool extends Tool {
  readonly onPage: OnPage;
}

/** Whether a tool works on the open page. */
export function isPageTool(tool: Tool): tool is PageTool {
  return "onPage" in tool;
}
