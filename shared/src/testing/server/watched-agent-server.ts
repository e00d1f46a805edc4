import { mock, spyOn } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { defineAgent } from "../../agent/define-agent.ts";
import { type Config, loadConfig } from "../../config/config.ts";
import { startAgentServer } from "../../server/agent-server.ts";
import { type Machine, openMachine } from "../../server/machine/open-machine.ts";
import { known, noting, type Watch, watchParts } from "./watch-parts.ts";

const agent = defineAgent({
  name: "tester",
  title: "Tester",
  description: "Answers.",
  version: "1.2.3",
  skills: [],
  instructions: "",
  tools: [],
});

const settings = `home = "."
[agents.tester]
port = 19999
grpc_port = 19998
approve = ["bash"]
risky = "allow"
delegates = ["helper"]
[desktop]
enabled = true
[agents.helper]
url = "http://127.0.0.1:9"
[a2a]
dedupe = "1h"
[limits.principal]
runs_at_once = 1
`;

/**
 * Starts the server of an agent in this process, and watches of what it makes its parts. Until it
 * is disposed of, the modules that open them are watched.
 */
export async function startWatchedAgentServer() {
  const home = await mkdtemp(join(tmpdir(), "manyhands-agent-server-"));
  await Bun.write(join(home, "manyhands.toml"), settings);
  const env = { PORT: "0", MANYHANDS_TOKEN: "long-enough", SANDBOX: "off", MANYHANDS_BROWSER_ENABLED: "0" };
  const loaded = await loadConfig({ cwd: home, env, agent: "tester" });
  const server = { ...loaded.server, tls: known.tls, cors: ["https://page.example"], card: "strict" as const };
  const config = { ...loaded, server, notes: ["The settings say so."] } as unknown as Config;
  const machine = await openMachine(join(home, "workspaces"), config.sandbox);
  const watch: Watch = { closed: [], worked: [], told: [], logged: [], made: {}, stop: known.drained };
  watchParts(watch);
  const url = await start(config, machine, watch);
  return {
    ...{ ...watch, config, home, url, stop: () => watch.stop() },
    async [Symbol.asyncDispose]() {
      mock.restore();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** Starts it; its address, as it says it. */
async function start(config: Config, machine: Machine, watch: Watch): Promise<string> {
  const said: string[] = [];
  const output = spyOn(process.stdout, "write").mockImplementation((text) => {
    said.push(String(text));
    return true;
  });
  try {
    const options = { name: "tester", mcpStdio: false };
    const logger = pino({}, { write: (line: string) => void watch.logged.push(line) });
    const sandbox = noting(watch, "sandbox", { ...machine.sandbox, user: known.user });
    const given = { config, logger, machine: { ...machine, sandbox }, options };
    await startAgentServer({ name: "tester", source: agent }, given);
  } finally {
    output.mockRestore();
  }
  return /^ready (http:\S+)$/m.exec(said.join(""))?.[1] ?? "";
}
