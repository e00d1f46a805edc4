/**
 * Entry point of the command line; `gateway/src/main.ts` starts it once all packages are installed.
 */
import { resolve } from "node:path";
import { processTerminal } from "../terminal/terminal.ts";
import { endWithLauncher } from "./launcher-watch.ts";
import { runCli } from "./run-cli.ts";

// A command ends before compiling what it runs would have saved any time.
Bun.unsafe.setJITPolicy(10);
const { env } = process;
endWithLauncher(env);
const cwd = process.cwd();
const exitCode = await runCli(process.argv.slice(2), {
  root: resolve(import.meta.dir, "../../.."),
  cwd,
  env,
  terminal: processTerminal(env),
  async configure(file) {
    const { loadConfig } = await import("manyhands/internal/config/config");
    const { checkNamedFiles } = await import("manyhands/internal/config/named-agent");
    const config = await loadConfig({ cwd, file, env });
    await checkNamedFiles(config);
    return config;
  },
  connect: async (...address) => (await import("../tasks/a2a-agent-client.ts")).connectAgent(...address),
});
process.exit(exitCode);
