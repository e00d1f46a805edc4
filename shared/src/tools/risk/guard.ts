import { messageOf } from "../../core/errors.ts";
import { sourcesOf } from "../../core/taken-in.ts";
import { failure, type RiskContext, type Tool, type ToolContext, type ToolResult } from "../../core/tools/tool.ts";
import type { Workspace } from "../../core/workspace.ts";
import { createJudging, type JudgingDeps, urlsOf } from "./judging.ts";
import { linksIn, linksOn } from "./links.ts";
import { isPageTool } from "./page-tool.ts";
import { isPrivatePlace } from "./scope.ts";
import { createScopeBook } from "./scope-book.ts";

/** Keeps a conversation's data where it belongs, and asks a person about acts with consequences. */
export interface RiskGuard {
  /** Wraps the tool: its calls are judged when they reach outside or work on the open page. */
  over(tool: Tool): Tool;
  /**
   * Must be called before a model sees the open page: from then on, pages may have led the model.
   */
  beforeObservation(workspace: Workspace): Promise<void>;
  /**
   * Must be called with the addresses where a person typed, perhaps a password: what those hosts
   * show from then on is not public.
   */
  personTyped(workspace: Workspace, typedAt: readonly URL[]): Promise<void>;
}

/**
 * A guard; the tools and observations of one server share it. `browsers` is undefined when there is
 * no browser.
 */
export function createGuard(deps: JudgingDeps): RiskGuard {
  const { browsers, trusted } = deps;
  const book = createScopeBook(trusted);
  const judging = createJudging(book, deps);
  const pagesOf = (workspace: Workspace): URL[] =>
    (browsers?.peek(workspace)?.tabs() ?? []).flatMap(({ page }) => urlOfWeb(page.url()) ?? []);
  const call = async (tool: Tool, input: unknown, context: ToolContext): Promise<ToolResult> => {
    const { workspace } = context;
    const opened = openedBy(tool, input);
    if ("isError" in opened) return opened;
    const result = await judging.make(tool, input, context);
    for (const url of opened) await book.opened(workspace, url);
    const pages = pagesOf(workspace);
    if (tool.reach?.finds === true) await book.read(workspace, linksIn(result.text));
    // A result describes the page too, and the page may be gone when the model next looks.
    else if (pages.length > 0) await book.read(workspace, []);
    const places = isPageTool(tool) ? [...opened, ...pages] : opened;
    return withFew(result, tool, await forFew(workspace, places));
  };
  const isForFew = async (workspace: Workspace, url: URL): Promise<boolean> =>
    isPrivatePlace(url) || browsers?.peek(workspace)?.hasKept(url) === true || (await book.isSignedIn(workspace, url));
  /**
   * Hosts whose pages are not public: hosts of private networks, those that a kept profile may be
   * signed in to, and those the agent has signed in to.
   */
  const forFew = async (workspace: Workspace, urls: readonly URL[]): Promise<string[]> => {
    const few = await Promise.all(urls.map(async (url) => ((await isForFew(workspace, url)) ? [url.host] : [])));
    return [...new Set(few.flat())];
  };
  return {
    over(tool) {
      if (tool.reach === undefined && !isPageTool(tool)) return tool;
      return {
        ...tool,
        // May change when it describes other agents.
        get description() {
          return tool.description;
        },
        risk: async (input: unknown, context: RiskContext) =>
          (await judging.judge(tool, input, context)) ?? tool.risk?.(input, context),
        call: (input, context) => call(tool, input, context),
      };
    },
    async personTyped(workspace, typedAt) {
      for (const url of typedAt) await book.signIn(workspace, url);
    },
    async beforeObservation(workspace) {
      const browsing = browsers?.peek(workspace);
      if (browsing === undefined || urlOfWeb(browsing.active().page.url()) === undefined) return;
      await book.read(workspace, browsing.dialog() === undefined ? await linksOn(browsing.active().page) : []);
    },
  };
}

/** The addresses that a call opens; a failure when its tool could not determine them. */
function openedBy(tool: Tool, input: unknown): readonly URL[] | ToolResult {
  try {
    return urlsOf(tool, input);
  } catch (error) {
    return failure(`What ${tool.name} would open could not be told: ${messageOf(error)}`);
  }
}

function withFew(result: ToolResult, tool: Tool, few: readonly string[]): ToolResult {
  return few.length === 0 ? result : { ...result, takenIn: [...(result.takenIn ?? sourcesOf(tool)), ...few] };
}

function urlOfWeb(text: string): URL | undefined {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) ? url : undefined;
}
