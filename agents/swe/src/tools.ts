import { createKeyedQueue } from "@manyhands/shared/core/keyed-queue";
import type { Tool } from "@manyhands/shared/core/tool";
import type { Egress } from "@manyhands/shared/machine/egress/egress";
import type { Sandbox } from "@manyhands/shared/machine/sandbox/sandbox";
import { codeTools } from "@manyhands/shared/tools/code/code-tools";
import { seeImage } from "@manyhands/shared/tools/files/see-image";
import { createStrReplaceEditor } from "@manyhands/shared/tools/files/str-replace-editor";
import { askHuman } from "@manyhands/shared/tools/human/ask-human";
import { terminate } from "@manyhands/shared/tools/human/terminate";
import { createPlanning } from "@manyhands/shared/tools/planning/planning";

/** What the tools are made of. `shell` are those that run code, none where no sandbox could be had. */
export type SweDeps = {
  readonly shell: readonly Tool[];
  readonly sandbox: Sandbox;
  /** The way out for fetching repositories; undefined where the web is switched off. */
  readonly egress: Egress | undefined;
  /** The tool, its calls judged by where they send data. */
  guarded(tool: Tool): Tool;
};

/** The tools of SWE. */
export function sweTools({ shell, sandbox, egress, guarded }: SweDeps): readonly Tool[] {
  const edits = createKeyedQueue();
  const code = codeTools({ sandbox, runsCode: shell.length > 0, egress, guarded, edits });
  return [
    createPlanning(),
    ...shell.map(code.saved),
    code.checkedEditor(createStrReplaceEditor(edits)),
    ...code.tools,
    seeImage,
    askHuman(),
    terminate,
  ];
}
