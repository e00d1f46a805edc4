import type { Tool } from "../../core/tools/tool.ts";
import type { BrowserDeps } from "./act/browser-tool.ts";
import { captureTools } from "./act/capture.ts";
import { dialogTool } from "./act/dialog.ts";
import { dropdownTools } from "./act/dropdown.ts";
import { fileTools } from "./act/files.ts";
import { keyboardTools } from "./act/keyboard.ts";
import { mouseTools } from "./act/mouse.ts";
import { navigationTools } from "./act/navigate.ts";
import { scrollTools } from "./act/scroll.ts";
import { snapshotTool } from "./act/snapshot.ts";
import { tabTools } from "./act/tabs.ts";
import { waitTool } from "./act/wait.ts";
import { type BrowserSearch, webSearchTool } from "./act/web-search.ts";
import { typeSecretTool } from "./type-secret.ts";

/**
 * The tools that look at pages and act on them. `looks` must be the one that observations are made
 * with, because it holds the refs; without `search` there is no `browser_web_search`.
 */
export function browserTools({
  search,
  ...deps
}: BrowserDeps & { readonly search?: BrowserSearch | undefined }): Tool[] {
  return [
    snapshotTool(deps),
    ...navigationTools(deps),
    ...(search === undefined ? [] : [webSearchTool(deps, search)]),
    ...mouseTools(deps),
    ...keyboardTools(deps),
    ...(deps.secrets === undefined ? [] : [typeSecretTool(deps, deps.secrets)]),
    ...dropdownTools(deps),
    ...scrollTools(deps),
    waitTool(deps),
    ...tabTools(deps),
    dialogTool(deps),
    ...fileTools(deps),
    ...captureTools(deps),
  ];
}
