import { failure, type Tool } from "../../../core/tools/tool.ts";
import type { SharedScreens } from "./shared-screens.ts";

const waitingText = "A person has the screen. The call waits until they hand it back.\n";

/**
 * `computer_use`, whose calls wait while a person has the screen. An action on a screen that a
 * person used since the agent saw it is not done: the agent is to look first.
 */
export function screenInTurn(tool: Tool, { holds, usedText }: SharedScreens): Tool {
  return {
    ...tool,
    call(input, context) {
      const { workspace, signal } = context;
      if (holds.isHeld(workspace)) context.progress(waitingText);
      return holds.turn(workspace, signal, async (wasUsed) => {
        const told = wasUsed ? usedText(workspace) : "";
        const isLook = actionOf(input) === "screenshot";
        if (wasUsed && tool.effect(input) !== "idempotent")
          return failure(`Not done: ${told} It may not be as you saw it. Take a screenshot, then decide anew.`);
        const result = await tool.call(input, context);
        if (!isLook || result.isError) return result;
        holds.seen(workspace);
        return told === "" ? result : { ...result, text: `${told}\n${result.text}` };
      });
    },
  };
}

function actionOf(input: unknown): unknown {
  return typeof input === "object" && input !== null && "action" in input ? input.action : undefined;
}
