import { createBrowsers } from "../../machine/browser/create-browsers.ts";
import { browserDefaults } from "../../machine/browser-process/settings.ts";
import { openWorkspace } from "../../machine/workspace/open-workspace.ts";

/** A server that opens its browser with the given Chromium arguments, and reports the outcome. */
const [home = "", ...extraArgs] = Bun.argv.slice(2);
const policy = { allow: [], deny: [], only: [] };
const browsers = createBrowsers({ ...browserDefaults, folder: `${home}/browser`, policy, extraArgs });
const workspace = await openWorkspace({ home, principal: "alice", contextId: "tried" });
try {
  await browsers.open(workspace, new AbortController().signal);
  process.stdout.write(`sandbox: ${browsers.describe().sandbox}\n`);
} catch (error) {
  process.stdout.write(`${error instanceof Error ? error.message : String(error)}\n`);
}
await browsers.close();
