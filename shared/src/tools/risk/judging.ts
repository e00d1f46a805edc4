import { holdsPrivate } from "../../core/taken-in.ts";
import type { RiskContext, Tool, ToolContext, ToolResult } from "../../core/tools/tool.ts";
import type { Workspace } from "../../core/workspace.ts";
import type { Browsers, Browsing } from "../../machine/browser/browser.ts";
import type { SnapshotStates } from "../observation/elements/snapshot-state.ts";
import type { Judgement } from "./acts.ts";
import { addressesOf, judgeGoing, judgePrices } from "./going.ts";
import { isPageTool } from "./page-tool.ts";
import type { TrustScope } from "./scope.ts";
import type { ScopeBook } from "./scope-book.ts";
import { createSentBook, type SentBook } from "./sent-book.ts";

/**
 * What judging needs. With `scope` set to `open`, only what acts do is judged, not where data goes.
 */
export type JudgingDeps = {
  readonly browsers: Browsers | undefined;
  readonly looks: SnapshotStates;
  readonly scope: "task" | "open";
  readonly trusted: readonly string[];
};

/** Judges calls, and makes them with what judging found. */
export interface Judging {
  /** Why a person should decide about a call. */
  judge(tool: Tool, input: unknown, context: RiskContext): Promise<string | undefined>;
  /**
   * Makes a call that was judged just before: records what the call reveals to sites, and remembers
   * what its press makes the page send.
   */
  make(tool: Tool, input: unknown, context: ToolContext): Promise<ToolResult>;
}

/** Judging over a scope book. */
export function createJudging(book: ScopeBook, { browsers, looks, scope: mode, trusted }: JudgingDeps): Judging {
  const sentBookOf = createSentBooks();
  const findings = new Map<string, Judgement>();
  return {
    async judge(tool, input, { workspace, said, given, takenIn }) {
      const { reach = {} } = tool;
      const { judge, answersDialog = false } = isPageTool(tool) ? tool.onPage : {};
      const known = await book.of(workspace);
      const led = known.read || takenIn.length > 0 || reach.led === true;
      const scope: TrustScope | undefined =
        mode === "open" ? undefined : { ...known, said, given, led, private: holdsPrivate(takenIn) };
      const going = judgeGoing(reach, input, scope);
      if (going.risk !== undefined) return going.risk;
      // Before anything was read, the agent's choice alone says where it works. It is recorded here
      // because addresses chosen together are judged again one by one.
      if (!led) for (const url of urlsOf(tool, input)) await book.choose(workspace, url);
      if (reach.reads === true) await book.read(workspace, []);
      const browsing = browsers?.peek(workspace);
      if (judge !== undefined && browsing?.dialog() !== undefined && !answersDialog)
        return "Act on a page while its dialog is open, which closes the dialog; what the act would do cannot be seen";
      const open = browsing && { browsing, looks: looks.of(browsing), sent: sentBookOf(browsing) };
      const act = (await judge?.(input, { scope, words: { said, trusted }, browsing: open })) ?? {};
      const prices = [...(going.prices ?? []), ...(act.prices ?? [])];
      keep(findings, keyOf(workspace, tool, input), { ...act, prices });
      return act.risk ?? judgePrices(prices, scope);
    },
    async make(tool, input, context) {
      const { workspace } = context;
      const key = keyOf(workspace, tool, input);
      const { prices = [], pressed, secretsAt = [] } = findings.get(key) ?? {};
      findings.delete(key);
      await book.wrote(workspace, tool.reach?.writes?.(input) ?? "");
      await book.spend(workspace, prices);
      for (const url of secretsAt) await book.signIn(workspace, url);
      const browsing = browsers?.peek(workspace);
      if (browsing === undefined || pressed === undefined) return tool.call(input, context);
      return sentBookOf(browsing).during(browsing.active().page, pressed, () => tool.call(input, context));
    },
  };
}

/** The addresses that a call opens. */
export function urlsOf({ reach = {} }: Tool, input: unknown): URL[] {
  return addressesOf(reach, input).flatMap((text) => URL.parse(text) ?? []);
}

function createSentBooks(): (browsing: Browsing) => SentBook {
  const books = new WeakMap<Browsing, SentBook>();
  return (browsing) => {
    const sent = books.get(browsing) ?? createSentBook();
    books.set(browsing, sent);
    return sent;
  };
}

const maxFindings = 1_000;

function keep(findings: Map<string, Judgement>, key: string, finding: Judgement): void {
  findings.delete(key);
  findings.set(key, finding);
  const [oldest] = findings.keys();
  if (findings.size > maxFindings && oldest !== undefined) findings.delete(oldest);
}

function keyOf({ root }: Workspace, { name }: Tool, input: unknown): string {
  return JSON.stringify([root, name, input ?? null]);
}
