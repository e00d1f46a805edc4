import * as z from "zod";
import { counted } from "../../../core/text/counted.ts";
import type { Tool } from "../../../core/tools/tool.ts";
import type { FoundElement } from "../../observation/elements/find-element.ts";
import { findElement } from "../../observation/elements/find-element.ts";
import { readOptions } from "../../observation/in-page/outline/read-field.ts";
import { heldUp } from "../../observation/look.ts";
import { asData } from "../../page/as-data.ts";
import { judgeChoice } from "../../risk/acts.ts";
import { type BrowserDeps, browserTool } from "./browser-tool.ts";
import { chooseDrawn, drawnOptions } from "./choose-drawn.ts";
import { ref } from "./input.ts";
import { actMs, perform } from "./perform.ts";
import { chooseOption } from "./set-field.ts";

const maxListed = 300;

/** Dropdowns: `browser_get_dropdown_options`, `browser_select_dropdown_option`. */
export function dropdownTools(deps: BrowserDeps): Tool[] {
  return [
    browserTool(deps, {
      name: "browser_get_dropdown_options",
      description: "Lists the entries of a dropdown.",
      effect: "pure",
      input: z.strictObject({ ref: ref }),
      async run({ ref }, { browsing, looks, context }) {
        if (browsing.dialog() !== undefined) throw heldUp(browsing);
        const text = await browsing.act(async () => optionsText(await findElement(browsing, looks, ref)), {
          signal: context.signal,
          timeoutMs: actMs,
        });
        if (text === undefined) throw heldUp(browsing);
        return text;
      },
    }),
    browserTool(deps, {
      name: "browser_select_dropdown_option",
      description: "Chooses an entry of any dropdown by its text.",
      input: z.strictObject({
        ref: ref,
        text: z.string().min(1),
      }),
      judge: judgeChoice,
      run: ({ ref, text }, call) =>
        perform(call, { refs: [ref] }, async (_, [element], say) => {
          if (element === undefined) return;
          const chosen =
            element.self.tag === "select" ? await chooseOption(element, text) : await chooseDrawn(element, text);
          say(`Chose ${JSON.stringify(chosen)} in ${element.label}.`);
        }),
    }),
  ];
}

async function optionsText({ handle, self, seen, label }: FoundElement): Promise<string> {
  const drawn = self.tag !== "select";
  const options = drawn ? await drawnOptions(seen.frame) : await handle.evaluate(readOptions);
  if (options.length === 0)
    return drawn ? `${label} shows no entries. Click it to open it, then look.` : `${label} has no entries.`;
  const lines = options.slice(0, maxListed).map(({ text, selected, disabled }) => {
    return `- ${text}${selected ? " [selected]" : ""}${disabled ? " [disabled]" : ""}`;
  });
  if (options.length > lines.length) lines.push(`… ${options.length - lines.length} more`);
  return `${label} has ${counted(options.length, "entry", "entries")}:\n${asData(seen.frame.url(), lines.join("\n"))}`;
}
