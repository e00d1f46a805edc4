/** The tools that come with Manyhands, as families that an agent lists. */
export { guided } from "../tools/browser/guided.ts";
export { type ChangesPatch, changesPatches } from "../tools/code/changes-patches.ts";
export {
  archives,
  type BrowserFamilyOptions,
  browser,
  code,
  data,
  delegate,
  desktop,
  documents,
  editor,
  files,
  human as askHuman,
  images,
  planning,
  python,
  shell,
  tables,
  web,
} from "../tools/families.ts";
export type { Observe, OpenedFamily, ToolMachine } from "../tools/family.ts";
export { terminate } from "../tools/human/terminate.ts";
export { createPlan, formatPlan, markStep, type Plan, type StepStatus } from "../tools/planning/plan.ts";
