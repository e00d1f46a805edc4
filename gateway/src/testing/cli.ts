import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Credentials } from "manyhands/internal/a2a/client/credentials";
import { loadConfig } from "manyhands/internal/config/config";
import { runCli } from "../cli/run-cli.ts";
import { connectAgent } from "../tasks/a2a-agent-client.ts";
import type { AgentClient, OutgoingMessage } from "../tasks/agent-client.ts";
import type { TaskItem } from "../tasks/task-item.ts";
import type { Terminal } from "../terminal/terminal.ts";

/**
 * A command line over a scripted agent, with everything it wrote, in a folder that `await using`
 * removes.
 */
export type CliForTest = AsyncDisposable & {
  readonly cwd: string;
  readonly sent: OutgoingMessage[];
  readonly canceled: string[];
  /** The addresses it connected to, and what it showed them. */
  readonly connected: string[];
  readonly shown: (Credentials | undefined)[];
  /** How many tasks the agent was asked to list, each time. */
  readonly listed: number[];
  /** What the person was asked. */
  readonly asked: string[];
  run(...args: string[]): Promise<number>;
  out(): string;
  said(): string;
};

/**
 * Creates one. `play` is what the agent does with each message; `answers` is what the person types;
 * if left out, nobody is there.
 */
export async function cliForTest(options: {
  readonly play?: (
    message: OutgoingMessage,
    client: { canceled: string[]; signal: AbortSignal },
  ) => AsyncIterable<TaskItem>;
  readonly answers?: readonly string[];
  readonly interactive?: boolean;
  /** The content of standard input; if left out, a terminal. */
  readonly piped?: string;
  readonly env?: Readonly<Record<string, string>>;
  /**
   * The checkout of this command line, which is also its working directory. Left out: this one,
   * with its gateway and first agent up.
   */
  readonly root?: string;
  /**
   * Whether it talks to the gateway that its settings name, instead of to the scripted agent.
   */
  readonly reallyConnects?: boolean;
}): Promise<CliForTest> {
  const made = await mkdtemp(join(tmpdir(), "manyhands-cli-"));
  const cwd = options.root ?? made;
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => Response.json({ agent: "manus" }) });
  const url = server.url.href.replace(/\/$/, "");
  const fake = options.root === undefined && options.reallyConnects !== true;
  const up = fake ? { MANUS_URL: url, GATEWAY_PORT: String(server.port) } : {};
  const env = { ...up, ...options.env };
  const sent: OutgoingMessage[] = [];
  const canceled: string[] = [];
  const connected: string[] = [];
  const shown: (Credentials | undefined)[] = [];
  const listed: number[] = [];
  const terminal = scriptedTerminal(options);
  const client: AgentClient = {
    url,
    facts: { title: "Manus", model: { name: "rehearsal", provider: "rehearsal" }, sandbox: "bwrap" },
    send(message, { signal }) {
      sent.push(message);
      if (options.play === undefined) throw new Error("nothing to play");
      return options.play(message, { canceled, signal });
    },
    watch: () => {
      throw new Error("not scripted");
    },
    async cancel(taskId) {
      canceled.push(taskId);
    },
    async list({ limit }) {
      listed.push(limit);
      return [{ id: "t1", contextId: "c1", state: "completed", updatedAt: 0, title: "a \x1b[2Jtask" }];
    },
    file: async (part) => new TextEncoder().encode(`content of ${part.name}`),
  };
  const context = {
    root: options.root ?? resolve(import.meta.dir, "../../.."),
    cwd,
    env,
    terminal: terminal.terminal,
    configure: (file: string | undefined) => loadConfig({ cwd, file, env }),
    async connect(address: string, credentials: Credentials | undefined, publicUrl?: string) {
      connected.push(address);
      shown.push(credentials);
      return options.reallyConnects ? connectAgent(address, credentials, publicUrl) : client;
    },
  };
  return {
    cwd,
    sent,
    canceled,
    connected,
    shown,
    listed,
    asked: terminal.asked,
    run: (...args) => runCli(args, context),
    out: terminal.out,
    said: terminal.said,
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      await rm(made, { recursive: true });
    },
  };
}

/** A terminal where a person types `answers`, with all that it showed. */
function scriptedTerminal(options: {
  readonly answers?: readonly string[];
  readonly interactive?: boolean;
  readonly piped?: string;
}) {
  const answers = [...(options.answers ?? [])];
  const asked: string[] = [];
  let out = "";
  let said = "";
  const terminal: Terminal = {
    style: { color: false, columns: 80 },
    interactive: options.interactive ?? false,
    out(text) {
      out += text;
    },
    say(line) {
      said += `${line}\n`;
    },
    onEscape: () => () => undefined,
    async ask(question) {
      asked.push(question);
      return answers.shift();
    },
    read: async () => (options.piped === undefined ? undefined : new TextEncoder().encode(options.piped)),
  };
  return { terminal, asked, out: () => out, said: () => said };
}
