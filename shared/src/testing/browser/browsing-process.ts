import { createBrowsers } from "../../machine/browser/create-browsers.ts";
import { browserDefaults } from "../../machine/browser-process/settings.ts";
import { openWorkspace } from "../../machine/workspace/open-workspace.ts";

/** A server that browses and waits to be killed. */
const home = Bun.argv[2] ?? "";
const browsers = createBrowsers({
  ...browserDefaults,
  folder: `${home}/browser`,
  policy: { allow: [], deny: [], only: [] },
});
const workspace = await openWorkspace({ home, principal: "alice", contextId: "killed" });
await browsers.open(workspace, new AbortController().signal);
process.stdout.write("open\n");
setInterval(() => undefined, 1_000);
