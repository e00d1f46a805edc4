/**
 * Entry point of the command line; `gateway/src/main.ts` starts it once all packages are installed.
 */
import { resolve } from "node:path";
import { checkNamedFiles } from "manyhands/internal/config/agents/named-agent";
import { loadConfig } from "manyhands/internal/config/config";
import { connectAgent } from "../tasks/a2a-agent-client.ts";
import { processTerminal } from "../terminal/terminal.ts";
import { endWithLauncher } from "./launcher-watch.ts";
import { runCli } from "./run-cli.ts";

const { env } = process;
endWithLauncher(env);
const cwd = process.cwd();
const exitCode = await runCli(process.argv.slice(2), {
  root: resolve(import.meta.dir, "../../.."),
  cwd,
  env,
  terminal: processTerminal(env),
  async configure(file) {
    const config = await loadConfig({ cwd, file, env });
    await checkNamedFiles(config);
    return config;
  },
  connect: connectAgent,
});
process.exit(exitCode);
