import { openWorkspace } from "../../machine/workspace/open-workspace.ts";
import { createStrReplaceEditor } from "../../tools/files/str-replace-editor.ts";
import { contextForTest } from "../tool-context.ts";

/* Run as a process of its own: one call of the editor, with the home folder, the input as JSON and the call's key as arguments. */
const [home = "", input = "", key = ""] = process.argv.slice(2);
const workspace = await openWorkspace({ home, principal: "alice", contextId: "c1" });
const { text } = await createStrReplaceEditor().call(JSON.parse(input), contextForTest(workspace, { key }));
process.stdout.write(text);
