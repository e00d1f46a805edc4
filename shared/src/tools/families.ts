import type { Tool } from "../core/tool.ts";
import { dataTools } from "./data/data-tools.ts";
import type { Look, Machine, ToolFamily } from "./family.ts";
import { seeImage } from "./files/see-image.ts";
import { createStrReplaceEditor } from "./files/str-replace-editor.ts";
import { askHuman } from "./human/ask-human.ts";
import { createPlanning } from "./planning/planning.ts";

function family(name: string, tools: (machine: Machine) => readonly Tool[]): ToolFamily {
  return { family: name, open: (machine) => ({ tools: tools(machine) }) };
}

/** `planning`: plans of steps that the agent keeps and marks. */
export const planning = (): ToolFamily => family("planning", () => [createPlanning()]);

/** `bash`, in the sandbox. */
export const shell = (): ToolFamily => family("shell", ({ shell: tools }) => tools.filter(isShell));

/** `python_execute`, in the sandbox, where the machine has a Python. */
export const python = (): ToolFamily => family("python", ({ shell: tools }) => tools.filter(isPython));

/** `str_replace_editor` and `see_image`, over the files of the conversation. */
export const files = (): ToolFamily => family("files", ({ edits }) => [createStrReplaceEditor(edits), seeImage]);

/** `str_replace_editor` alone. */
export const editor = (): ToolFamily => family("files", ({ edits }) => [createStrReplaceEditor(edits)]);

/** `see_image` alone. */
export const images = (): ToolFamily => family("files", () => [seeImage]);

/** `web_search` and `web_fetch`. */
export const web = (): ToolFamily => family("web", (machine) => machine.web);

/**
 * The `browser_*` tools over a browser of the agent's own, and with them the sight of the open page, shown anew before each turn. `sight` makes
 * another sight of it, with advice of the agent's own, say.
 */
export function browser({ sight }: { readonly sight?: (look: Look) => Look } = {}): ToolFamily {
  return {
    family: "browser",
    open({ browsing: { tools, look } }) {
      return { tools, look: look && sight !== undefined ? sight(look) : look };
    },
  };
}

/** `computer_use`: a screen with programs, where that is enabled. */
export const desktop = (): ToolFamily => family("desktop", (machine) => machine.desktop);

/** SQL over the conversation's files, charts and reports. */
export const data = (): ToolFamily =>
  family("data", ({ shell: tools, databases }) => dataTools({ databases, python: tools.find(isPython) }));

/**
 * Patches, tests, a map of the code, clones, checkpoints. With it every tool that changes files is undone by checkpoints, and what an edit breaks is
 * told.
 */
export const code = (): ToolFamily => family("code", (machine) => machine.code?.tools ?? []);

/** `ask_human`. */
export const human = (): ToolFamily => family("human", () => [askHuman()]);

/** `delegate`: gives a part of the task to another agent, where this one may ask any. */
export const delegate = (): ToolFamily => family("delegate", (machine) => machine.delegate);

function isShell({ name }: Tool): boolean {
  return name === "bash";
}

function isPython({ name }: Tool): boolean {
  return name === "python_execute";
}

/** Every family that `[agents.NAME] tools` can name: the one list. */
export const families: readonly ToolFamily[] = [
  planning(),
  shell(),
  python(),
  files(),
  web(),
  data(),
  code(),
  human(),
  delegate(),
  desktop(),
  browser(),
];
