import { openWorkspace } from "../workspace/open-workspace.ts";
import { createBrowsers } from "./create-browsers.ts";
import { browserDefaults } from "./settings.ts";

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
