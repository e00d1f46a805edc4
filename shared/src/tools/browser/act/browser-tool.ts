import type * as z from "zod";
import type { Effect } from "../../../core/runs/run.ts";
import { openWeb } from "../../../core/taken-in.ts";
import { defineTool } from "../../../core/tools/define-tool.ts";
import type { Reach } from "../../../core/tools/reach.ts";
import type { ToolContext, ToolResult } from "../../../core/tools/tool.ts";
import { onInput } from "../../../core/tools/tool-input.ts";
import type { Browsers, Browsing } from "../../../machine/browser/browser.ts";
import type { Secrets } from "../../../machine/secrets/secrets.ts";
import { noteBetween } from "../../observation/between-acts.ts";
import type { SnapshotState, SnapshotStates } from "../../observation/elements/snapshot-state.ts";
import type { Judgement, Situation } from "../../risk/acts.ts";
import type { PageTool } from "../../risk/page-tool.ts";
import { keepAtItsSites } from "../secrets/keep-at-sites.ts";

/** What the browser's tools need. */
export type BrowserDeps = {
  readonly browsers: Browsers;
  readonly looks: SnapshotStates;
  /** The secrets that the settings name; left out if they name none. */
  readonly secrets?: Secrets | undefined;
};

/** What one call works with: the conversation's browsing and what was seen of it. */
export type BrowserCall = {
  readonly browsing: Browsing;
  readonly looks: SnapshotState;
  readonly context: ToolContext;
  readonly secrets: Secrets | undefined;
};

/** Playwright appends a log of what it did, with the signs by which a terminal colours it. */
export function withoutLog(error: unknown): unknown {
  const [said, log] = error instanceof Error ? error.message.split("\nCall log:") : [];
  return log === undefined ? error : new Error(said, { cause: error });
}

/**
 * A tool of the browser. It starts the conversation's browsing when there is none, and closes it
 * when the task is canceled.
 */
export function browserTool<Input extends z.ZodObject>(
  { browsers, looks, secrets }: BrowserDeps,
  spec: {
    readonly name: string;
    readonly description: string;
    readonly input: Input;
    readonly effect?: Effect;
    /** Defaults to `browser`. */
    readonly family?: string;
    readonly opens?: string;
    readonly reach?: Reach<z.output<Input>>;
    /** As `Tool.sameKind`, with the parsed input; by default a call can only be allowed once. */
    readonly sameKind?: (input: z.output<Input>, risk: string | undefined) => string | undefined;
    /** As `Tool.setsPart`, with the parsed input. */
    readonly setsPart?: (input: z.output<Input>) => boolean;
    /** As `OnPage.judge`, with the parsed input. */
    readonly judge?: (input: z.output<Input>, situation: Situation) => Promise<Judgement>;
    readonly answersDialog?: boolean;
    readonly run: (input: z.output<Input>, call: BrowserCall) => Promise<string | ToolResult>;
  },
): PageTool {
  const { judge, answersDialog = false, ...rest } = spec;
  const tool = defineTool({
    effect: "once",
    family: "browser",
    actsOn: "page",
    // What input points at depends on the page.
    sameKind: () => undefined,
    ...rest,
    brings: [openWeb],
    release: (workspace) => browsers.release(workspace),
    async run(input, context) {
      const browsing = await browsers.open(context.workspace, context.signal);
      if (secrets !== undefined) await keepAtItsSites(browsing, secrets);
      const call = { browsing, looks: looks.of(browsing), context, secrets };
      if (spec.effect !== "pure") await noteBetween(browsing, call.looks, context.signal);
      try {
        return await spec.run(input, call);
      } catch (error) {
        throw withoutLog(error);
      }
    },
  });
  const act = judge && onInput(spec.name, spec.input, judge, Promise.resolve({}));
  return { ...tool, onPage: { answersDialog, ...(act && { judge: act }) } };
}
