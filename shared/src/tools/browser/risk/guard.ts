import type { Browsers } from "../../../browser/browser.ts";
import type { Workspace } from "../../../workspace/workspace.ts";
import type { RiskContext, Tool, ToolContext } from "../../tool.ts";
import type { LookBook } from "../looks.ts";
import { linksIn, linksOn } from "./links.ts";
import { judgeOpening, type Rule, rules } from "./rules.ts";
import { createScopeBook } from "./scope-book.ts";

/** What the guard needs; `browsers` is undefined where there is no browser. `scope` `open` judges only what acts do, not where data goes. */
export type GuardDeps = {
  readonly browsers: Browsers | undefined;
  readonly looks: LookBook;
  readonly scope: "task" | "open";
  readonly trusted: readonly string[];
};

/** Keeps a conversation's data where it belongs, and has a person decide about acts with consequences. */
export interface Guard {
  /** The tool, its calls judged. */
  over(tool: Tool): Tool;
  /** To be told before a model sees the open page: from then on pages may have led it. */
  beforeSight(workspace: Workspace): Promise<void>;
}

/** A guard; the tools and sights of one server share it. */
export function createGuard({ browsers, looks, scope: mode, trusted }: GuardDeps): Guard {
  const book = createScopeBook(trusted);
  const judge = async (rule: Rule, input: unknown, { workspace, said }: RiskContext): Promise<string | undefined> => {
    const known = await book.of(workspace, said);
    const scope = mode === "open" ? undefined : { ...known, read: known.read || rule.led === true };
    const urls = rule.opens?.(input) ?? [];
    const opening = judgeOpening(urls, scope);
    if (opening !== undefined) return opening;
    // Before anything was read the agent's own choice says where it works; noted here, since what it chose together is judged again one by one.
    if (rule.led !== true)
      for (const url of urls.map((text) => URL.parse(text))) if (url !== null) await book.choose(workspace, url);
    if (rule.reads === true) await book.read(workspace, []);
    const browsing = browsers?.peek(workspace);
    if (rule.judge === undefined) return undefined;
    if (browsing?.dialog() !== undefined && rule !== rules.browser_handle_dialog)
      return "Act on a page while its dialog is open, which closes the dialog; what the act would do cannot be seen";
    return rule.judge(input, { scope, browsing: browsing && { browsing, looks: looks.of(browsing) } });
  };
  const call = async (tool: Tool, rule: Rule, input: unknown, context: ToolContext) => {
    const { workspace } = context;
    await book.wrote(workspace, rule.writes?.(input) ?? "");
    const result = await tool.call(input, context);
    for (const url of (rule.opens?.(input) ?? []).map((text) => URL.parse(text)))
      if (url !== null) await book.opened(workspace, url);
    if (tool.name.includes("web_")) await book.read(workspace, linksIn(result.text));
    // A result tells of the page too, which may be gone again when the model next looks.
    else if (
      browsers
        ?.peek(workspace)
        ?.tabs()
        .some(({ page }) => isOfWeb(page.url()))
    )
      await book.read(workspace, []);
    return result;
  };
  const judging = (rule: Rule) => (input: unknown, context: RiskContext) => judge(rule, input, context);
  return {
    over(tool) {
      const rule = rules[tool.name];
      const guarded: Tool = {
        ...tool,
        // May change, when it tells of other agents.
        get description() {
          return tool.description;
        },
        call: (input, context) => call(tool, rule ?? {}, input, context),
      };
      return rule === undefined ? guarded : Object.assign(guarded, { risk: judging(rule) });
    },
    async beforeSight(workspace) {
      const browsing = browsers?.peek(workspace);
      if (browsing === undefined || !isOfWeb(browsing.active().page.url())) return;
      await book.read(workspace, browsing.dialog() === undefined ? await linksOn(browsing.active().page) : []);
    },
  };
}

function isOfWeb(url: string): boolean {
  return /^https?:/.test(url);
}
