import { sourceOf } from "../../core/taken-in.ts";
import type { RiskContext, Tool, ToolContext, ToolResult } from "../../core/tool.ts";
import type { Workspace } from "../../core/workspace.ts";
import { createJudging, type JudgingDeps, urlsOf } from "./judging.ts";
import { linksIn, linksOn } from "./links.ts";
import { mountedRule, type Rule, rules } from "./rules.ts";
import { isPrivatePlace } from "./scope.ts";
import { createScopeBook } from "./scope-book.ts";

/** Keeps a conversation's data where it belongs, and has a person decide about acts with consequences. */
export interface Guard {
  /** The tool, its calls judged. */
  over(tool: Tool): Tool;
  /** To be told before a model sees the open page: from then on pages may have led it. */
  beforeSight(workspace: Workspace): Promise<void>;
}

/** A guard; the tools and sights of one server share it. `browsers` is undefined where there is no browser. */
export function createGuard(deps: JudgingDeps): Guard {
  const { browsers, trusted } = deps;
  const book = createScopeBook(trusted);
  const judging = createJudging(book, deps);
  const pagesOf = (workspace: Workspace): URL[] =>
    (browsers?.peek(workspace)?.tabs() ?? []).flatMap(({ page }) => urlOfWeb(page.url()) ?? []);
  const call = async (tool: Tool, rule: Rule, input: unknown, context: ToolContext): Promise<ToolResult> => {
    const { workspace } = context;
    const result = await judging.make(tool, rule, input, context);
    const opened = urlsOf(rule, input);
    for (const url of opened) await book.opened(workspace, url);
    const pages = pagesOf(workspace);
    if (/^(?:browser_)?web_/.test(tool.name)) await book.read(workspace, linksIn(result.text));
    // A result tells of the page too, which may be gone again when the model next looks.
    else if (pages.length > 0) await book.read(workspace, []);
    const places = tool.name.startsWith("browser_") ? [...opened, ...pages] : tool.name === "web_fetch" ? opened : [];
    return withFew(result, tool, await forFew(workspace, places));
  };
  /** Hosts whose pages are not for everybody: of private networks, and where the agent has signed in. */
  const forFew = async (workspace: Workspace, urls: readonly URL[]): Promise<string[]> => {
    const few = await Promise.all(
      urls.map(async (url) => (isPrivatePlace(url) || (await book.isSignedIn(workspace, url)) ? [url.host] : [])),
    );
    return [...new Set(few.flat())];
  };
  return {
    over(tool) {
      const rule = rules[tool.name] ?? (tool.name.includes("__") ? mountedRule : undefined);
      const guarded: Tool = {
        ...tool,
        // May change, when it tells of other agents.
        get description() {
          return tool.description;
        },
        call: (input, context) => call(tool, rule ?? {}, input, context),
      };
      if (rule === undefined) return guarded;
      const risk = async (input: unknown, context: RiskContext) =>
        (await judging.judge(rule, tool.name, input, context)) ?? tool.risk?.(input, context);
      return Object.assign(guarded, { risk });
    },
    async beforeSight(workspace) {
      const browsing = browsers?.peek(workspace);
      if (browsing === undefined || urlOfWeb(browsing.active().page.url()) === undefined) return;
      await book.read(workspace, browsing.dialog() === undefined ? await linksOn(browsing.active().page) : []);
    },
  };
}

function withFew(result: ToolResult, { name }: Tool, few: readonly string[]): ToolResult {
  return few.length === 0 ? result : { ...result, takenIn: [...sourceOf(name), ...few] };
}

function urlOfWeb(text: string): URL | undefined {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) ? url : undefined;
}
