import { sleep } from "../../core/async/sleep.ts";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { Tool, ToolContext, ToolResult } from "../../core/tools/tool.ts";
import type { SessionPool } from "../shell/session-pool.ts";
import { type ComputerInput, computerInput, needed, pointOf } from "./computer-input.ts";
import { type DisplayOutput, runOnDisplay } from "./display-calls.ts";
import { pictureFile, type ScreenSize } from "./display-session.ts";
import { encodePicture, pictureBytes } from "./framebuffer.ts";
import { dragCall, xdotoolCall } from "./xdotool-call.ts";

const describe = ({ width, height }: ScreenSize) =>
  `Uses programs with windows on your own screen (${width} × ${height} pixels), empty at first and kept for the whole conversation.
- launch starts a program (command). screenshot shows you the screen and saves it below .manyhands (copy what the user should have): look before you act, and again to see the result.
- move_to, click, drag_to (left button, from where the pointer is), scroll, mouse_down and mouse_up are the mouse; all take x and y.
- typing writes text where the focus is, press is one key, hotkey several at once. wait gives a program time.
The programs are confined like the shell's, but separate from it: they share only its workspace.`;

/**
 * Calls that are safe to repeat after a crash: they look, wait, or move the pointer to a given
 * place.
 */
const repeatable: readonly ComputerInput["action"][] = ["screenshot", "wait", "move_to"];
const launchMs = 20_000;
const lookMs = 15_000;

/** What the tool needs: the conversations' displays, all of the same size. */
export type ComputerDeps = { readonly displays: SessionPool; readonly size: ScreenSize };

/**
 * The `computer_use` tool. Create it only on a tier in `displayTiers` that has the
 * `displayPrograms`.
 */
export function computerUse(deps: ComputerDeps): Tool {
  const tool = defineTool({
    name: "computer_use",
    description: describe(deps.size),
    input: computerInput,
    effect: ({ action }) => (repeatable.includes(action) ? "idempotent" : "once"),
    actsOn: "screen",
    // A point means what the screen shows there.
    sameKind: () => undefined,
    run: (input, context) => act(deps, input, context),
  });
  return { ...tool, release: (workspace) => deps.displays.release(workspace) };
}

async function act(deps: ComputerDeps, input: ComputerInput, context: ToolContext): Promise<string | ToolResult> {
  switch (input.action) {
    case "wait":
      await sleep(input.duration * 1000, context.signal);
      return `Waited ${input.duration} s.`;
    case "screenshot":
      return await screenshot(deps, context);
    case "launch":
      return await launch(deps, needed(input.command, "launch", "command"), context);
    case "drag_to": {
      const to = needed(pointOf(input, deps.size), "drag_to", "x and y");
      return await xdotool(deps, dragCall((await pointer(deps, context)).at, to), context);
    }
    default:
      return await xdotool(deps, xdotoolCall(input, deps.size), context);
  }
}

async function xdotool(
  { displays }: ComputerDeps,
  { argv, done, timeoutMs }: ReturnType<typeof xdotoolCall>,
  context: ToolContext,
): Promise<string> {
  const output = await runOnDisplay(displays, context, ["xdotool", ...argv], timeoutMs);
  return withNote(output, done);
}

async function pointer({ displays }: ComputerDeps, context: ToolContext) {
  const output = await runOnDisplay(displays, context, ["xdotool", "getmouselocation", "--shell"], lookMs);
  const told = output.stdout.toString();
  const coordinate = (name: string) => Number(new RegExp(`^${name}=(\\d+)$`, "m").exec(told)?.[1] ?? 0);
  return { at: [coordinate("X"), coordinate("Y")] as const, output };
}

async function launch({ displays }: ComputerDeps, command: string, context: ToolContext): Promise<string> {
  const script = await Bun.file(new URL("./launch.sh", import.meta.url)).text();
  const output = await runOnDisplay(displays, context, ["/bin/bash", "-c", script, "launch", command], launchMs);
  const said = output.stdout.toString().trim();
  return withNote(output, said === "" ? "Started. Take a screenshot to see it." : said);
}

async function screenshot({ displays, size }: ComputerDeps, context: ToolContext): Promise<ToolResult> {
  const { at, output } = await pointer({ displays, size }, context);
  const read = ["head", "-c", String(pictureBytes(size)), "--", pictureFile];
  const { stdout } = await runOnDisplay(displays, context, read, lookMs);
  const png = await encodePicture(stdout, size);
  // One for each look: the user gets those that the agent copies.
  const path = await context.workspace.spill("screenshot.png", png);
  const about = `The screen (${size.width} × ${size.height}, pointer at (${at.join(", ")})), saved as ${path}.`;
  const data = Buffer.from(png).toString("base64");
  return { text: withNote(output, about), isError: false, images: [{ type: "image", mediaType: "image/png", data }] };
}

function withNote({ restarted }: DisplayOutput, text: string): string {
  return restarted === undefined ? text : `[new screen, earlier programs are gone: ${restarted}]\n${text}`;
}
