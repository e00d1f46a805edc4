import type { IconName } from "../../parts/icons/icon.tsx";

/** How the tools of our agents are drawn, by what their names begin with. */
const byName: readonly (readonly [RegExp, IconName])[] = [
  [/^(bash|python_execute|run_tests|shell|run_command)/, "terminal"],
  [/^(sql_query|statistics|describe_data|visualization_preparation)/, "table"],
  [/^(data_visualization|browser_screenshot|see_image)/, "image"],
  [/^(str_replace_editor|apply_patch|browser_(fill|input|select|send))/, "pen"],
  [/^(browser_(click|drag|hover|scroll)|computer)/, "pointer"],
  [/^(browser_|web_)/, "web"],
  [/^(ask_human|create_chat_completion)/, "message"],
  [/^(unpack|clone|mcp)/, "package"],
  [/^(planning|terminate)/, "check"],
  [/^(delegate|ask_agent)/, "flow"],
  [/^(checkpoints|repo_map|search)/, "branch"],
];

/** The drawing of a tool. */
export function toolIcon(name: string): IconName {
  return byName.find(([pattern]) => pattern.test(name))?.[1] ?? "plug";
}
