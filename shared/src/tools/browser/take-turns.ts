import { failure, type Observation, type Tool } from "../../core/tools/tool.ts";
import type { Holds } from "../../machine/live/holds.ts";
import type { Observe } from "../family.ts";
import { isPageTool } from "../risk/page-tool.ts";

const waitingText = "A person has the page. The call waits until they hand it back.\n";
const usedText =
  "Not done: a person used the page meanwhile, so it may not be as you saw it. It is shown to you next; decide anew.";
const heldText = "[A person has the browser's page. It is shown to you when they hand it back.]";

/**
 * The tool, whose calls wait while a person holds the page. A call that would change a page which a
 * person used since the agent saw it is not made.
 */
export function takingTurns(tool: Tool, holds: Holds): Tool {
  if (!isPageTool(tool)) return tool;
  return {
    ...tool,
    ...(tool.risk && {
      risk: (input, context) =>
        holds.turn(context.workspace, context.signal, async () => await tool.risk?.(input, context)),
    }),
    call(input, context) {
      const { workspace, signal } = context;
      if (holds.isHeld(workspace)) context.progress(waitingText);
      return holds.turn(workspace, signal, async (wasUsed) => {
        holds.seen(workspace);
        if (wasUsed && tool.effect(input) !== "pure") return failure(usedText);
        return await tool.call(input, context);
      });
    },
  };
}

/** Looking at the page, which shows nothing of it while a person holds it. */
export function lookingInTurn(look: Observe, holds: Holds): Observe {
  return async (workspace, options) => {
    const { since, signal } = options;
    if (holds.isHeld(workspace)) return { text: heldText, ...(since !== undefined && { since }) } satisfies Observation;
    return await holds.turn(workspace, signal, async () => {
      const seen = await look(workspace, options);
      holds.seen(workspace);
      return seen;
    });
  };
}
