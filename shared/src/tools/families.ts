import type { Tool } from "../core/tools/tool.ts";
import type { Observe, ToolFamily, ToolMachine } from "./family.ts";

function family(
  name: string,
  toolNames: readonly string[],
  tools: (machine: ToolMachine) => readonly Tool[],
): ToolFamily {
  return { family: name, toolNames, open: (machine) => ({ tools: tools(machine) }) };
}

/** `planning`: plans whose items the agent marks as it works. */
export const planning = (): ToolFamily => family("planning", ["planning"], (machine) => [machine.planning]);

/** `bash`, in the sandbox. */
export const shell = (): ToolFamily =>
  family("shell", ["bash"], ({ shell: tools }) => tools.filter(({ family }) => family === "shell"));

/** `python_execute`, in the sandbox, if the machine has a Python. */
export const python = (): ToolFamily =>
  family("python", ["python_execute"], ({ shell: tools }) => tools.filter(isPython));

/** `str_replace_editor` and `see_image`, over the files of the conversation. */
export const files = (): ToolFamily =>
  family("files", ["str_replace_editor", "see_image"], (machine) => [machine.editor, machine.seeImage]);

/** `str_replace_editor` alone. */
export const editor = (): ToolFamily => family("files", ["str_replace_editor"], (machine) => [machine.editor]);

/** `see_image` alone. */
export const images = (): ToolFamily => family("files", ["see_image"], (machine) => [machine.seeImage]);

/** `read_document` and `write_document`, offered once the conversation speaks of a document. */
export const documents = (): ToolFamily =>
  family("documents", ["read_document", "write_document"], (machine) => machine.documents);

/** `unpack`, offered once the conversation speaks of an archive. */
export const archives = (): ToolFamily => family("archives", ["unpack"], (machine) => machine.archives);

/** `web_search` and `web_fetch`. */
export const web = (): ToolFamily => family("web", ["web_search", "web_fetch"], (machine) => machine.web);

/**
 * The `browser_*` tools over the agent's own browser. The model sees the open page before each
 * turn; `observe` can change what it sees, for example by adding advice. Of the tools it sees
 * `browser_go_to_url` until it has called one; `atOnce` shows all from the start, for an agent that
 * always browses.
 */
export function browser({ observe, atOnce = false }: BrowserFamilyOptions = {}): ToolFamily {
  return {
    family: "browser",
    toolNames: browserToolNames,
    isEssential: atOnce,
    open({ browser: { tools, look } }) {
      return {
        tools: atOnce ? tools.map(({ opens: _, ...tool }) => tool) : tools,
        look: look && observe !== undefined ? observe(look) : look,
      };
    },
  };
}

/** Options of the family `browser`. */
export type BrowserFamilyOptions = {
  readonly observe?: (look: Observe) => Observe;
  readonly atOnce?: boolean;
};

const browserToolNames = [
  "browser_snapshot",
  "browser_go_to_url",
  "browser_go_back",
  "browser_go_forward",
  "browser_refresh",
  "browser_web_search",
  "browser_click_element",
  "browser_click_at",
  "browser_hover",
  "browser_drag",
  "browser_input_text",
  "browser_fill_form",
  "browser_send_keys",
  "browser_type_secret",
  "browser_get_dropdown_options",
  "browser_select_dropdown_option",
  "browser_scroll_down",
  "browser_scroll_up",
  "browser_scroll_to_text",
  "browser_wait",
  "browser_open_tab",
  "browser_switch_tab",
  "browser_close_tab",
  "browser_handle_dialog",
  "browser_upload",
  "browser_download",
  "browser_screenshot",
  "browser_pdf",
  "browser_extract_content",
];

/** `computer_use`: a screen with programs, if it is enabled. */
export const desktop = (): ToolFamily => family("desktop", ["computer_use"], (machine) => machine.desktop);

/** SQL over the conversation's files, charts and reports. */
export const data = (): ToolFamily =>
  family(
    "data",
    ["sql_query", "statistics", "describe_data", "visualization_preparation", "data_visualization", "write_report"],
    (machine) => machine.data,
  );

/**
 * `sql_query` alone, over the conversation's files and no database of the settings, offered once
 * the conversation speaks of a table or has downloaded one: for an agent that runs no code.
 */
export const tables = (): ToolFamily => family("tables", ["sql_query"], (machine) => machine.tables);

/**
 * Patches, tests, a map of the code, clones, checkpoints. With this family, checkpoints undo every
 * change of files, whichever tool made it, and an edit's result reports what the edit broke.
 */
export const code = (): ToolFamily =>
  family(
    "code",
    [
      "clone_repository",
      "repo_map",
      "search",
      "glob",
      "apply_patch",
      "run_tests",
      "language_server",
      "checkpoints",
      "read_issue",
      "push_branch",
    ],
    (machine) => machine.code,
  );

/** `ask_human`. */
export const human = (): ToolFamily => family("human", ["ask_human"], (machine) => [machine.askHuman]);

/** `delegate`: gives part of the task to another agent, if this one may ask others. */
export const delegate = (): ToolFamily => family("delegate", ["delegate"], (machine) => machine.delegate);

function isPython({ family }: Tool): boolean {
  return family === "python";
}

/** Every family that `[agents.NAME] tools` can name. */
export const families: readonly ToolFamily[] = [
  planning(),
  shell(),
  python(),
  files(),
  documents(),
  archives(),
  web(),
  data(),
  code(),
  human(),
  delegate(),
  desktop(),
  browser(),
];
