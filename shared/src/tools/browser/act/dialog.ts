import * as z from "zod";
import { AppError } from "../../../core/errors.ts";
import type { Tool } from "../../../core/tools/tool.ts";
import { judgeDialog } from "../../risk/acts.ts";
import { type BrowserDeps, browserTool } from "./browser-tool.ts";
import { followUp, placeOf } from "./follow-up.ts";

/** `browser_handle_dialog`: answers the dialog that blocks the page. */
export function dialogTool(deps: BrowserDeps): Tool {
  return browserTool(deps, {
    name: "browser_handle_dialog",
    description: "Answers the dialog that blocks the page.",
    input: z.strictObject({ accept: z.boolean(), text: z.string().max(10_000).optional() }),
    reach: { writes: ({ text = "" }) => text },
    judge: judgeDialog,
    answersDialog: true,
    async run({ accept, text }, call) {
      const { browsing, looks } = call;
      const dialog = browsing.dialog();
      if (dialog === undefined) throw new AppError("conflict", "No dialog is open. Look at the page.");
      const before = placeOf(browsing);
      looks.restless = true;
      await dialog.answer(accept, text);
      const said = `${accept ? "Accepted" : "Dismissed"} the ${dialog.kind} dialog.`;
      return [said, ...(await followUp(call, before, undefined))].join(" ");
    },
  });
}
