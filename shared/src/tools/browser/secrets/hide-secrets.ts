import type { Frame } from "playwright";
import { within } from "../../../core/async/within.ts";
import type { Observation, RiskContext, Shown, Tool, ToolContext } from "../../../core/tools/tool.ts";
import type { Workspace } from "../../../core/workspace.ts";
import type { Browsing } from "../../../machine/browser/browser.ts";
import type { Secrets } from "../../../machine/secrets/secrets.ts";
import { wordsIn } from "../../observation/looking.ts";
import { type ObservationOptions, observe } from "../../observation/observe.ts";
import { originOf } from "../../page/as-data.ts";

/**
 * The tool, with what a model would read or a file would keep of a typed secret replaced by its
 * name: in results, in what it asks the model, in output shown while it runs.
 */
export function hidingSecrets(tool: Tool, secrets: Secrets): Tool {
  return {
    ...tool,
    // May change when it describes other agents.
    get description() {
      return tool.description;
    },
    // A risk quotes the page.
    ...(tool.risk && {
      risk: async (input: unknown, context: RiskContext) => {
        const risk = await tool.risk?.(input, context);
        return risk === undefined ? undefined : secrets.redact(risk);
      },
    }),
    async call(input, context) {
      const { text, shows, end, ...rest } = await tool.call(input, hidden(context, secrets));
      return {
        ...rest,
        text: secrets.redact(text),
        ...(shows && { shows: hiddenStandIns(shows, secrets) }),
        ...(end && { end: { ...end, summary: secrets.redact(end.summary) } }),
      };
    },
  };
}

/** What a model reads in place of a result, once that is out of date or told again. */
function hiddenStandIns({ brief, again, ...rest }: Shown, { redact }: Secrets): Shown {
  return {
    ...rest,
    ...(brief !== undefined && { brief: redact(brief) }),
    ...(again !== undefined && { again: redact(again) }),
  };
}

function hidden(context: ToolContext, secrets: Secrets): ToolContext {
  const { redact } = secrets;
  return {
    ...context,
    workspace: hiddenIn(context.workspace, secrets),
    progress: (text) => context.progress(redact(text)),
    ask: (inquiry) => context.ask({ ...inquiry, text: redact(inquiry.text) }),
  };
}

function hiddenIn(workspace: Workspace, { redact }: Secrets): Workspace {
  return {
    ...workspace,
    spill: (name, content) => workspace.spill(name, typeof content === "string" ? redact(content) : content),
  };
}

/**
 * What a model sees of the page, the same way, with the names of the secrets for its site. No
 * picture is taken of a page that shows one.
 */
export async function lookWithSecrets(
  browsing: Browsing,
  options: ObservationOptions,
  { secrets, workspace }: { readonly secrets: Secrets; readonly workspace: Workspace },
): Promise<Observation | undefined> {
  const vision = options.vision && (await secretShown(browsing, secrets)) === undefined;
  const here = secrets.at(workspace.principal, originOf(browsing.active().page.url()));
  const names = here.map(({ name, kind }) => `${name} (${kindWords[kind]})`).join(", ");
  const about = names === "" ? [] : [`Secrets of this site, for browser_type_secret: ${names}`];
  const seen = await observe(browsing, { ...options, vision, about });
  if (seen === undefined) return undefined;
  const { text, brief, ...rest } = seen;
  return { ...rest, text: secrets.redact(text), ...(brief !== undefined && { brief: secrets.redact(brief) }) };
}

const kindWords = { password: "password", totp: "one-time code", text: "text" } as const;

const wordsMs = 3_000;

/**
 * The name of a secret that the active page shows as words, where a picture would show it too.
 * Undefined if it shows none; a page that does not answer counts as one that may.
 */
export async function secretShown(browsing: Browsing, secrets: Secrets): Promise<string | undefined> {
  if (!secrets.hasTyped()) return undefined;
  const frames = browsing.active().page.frames();
  const shown = await Promise.all(frames.map((frame) => shownIn(frame, secrets)));
  return shown.find((name) => name !== undefined);
}

async function shownIn(frame: Frame, secrets: Secrets): Promise<string | undefined> {
  if (frame.isDetached()) return undefined;
  const words = await within(wordsMs, wordsIn(frame, wordsMs));
  return words === undefined ? "(the page did not answer)" : secrets.heldIn(words);
}
