import * as z from "zod";

const text = z.string().min(1);
const names = z.array(text);
const headers = z.record(text, z.string());

/** `*`, a host, or `*.host` for the names below it, with or without a port. */
const networkEntry = /^(?:\*|(?:(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?|\[[0-9a-f:.]+\])(?::\d{1,5})?)$/i;

/** Settings of every server, whatever its transport. */
const common = {
  /** While true, the server is ignored. */
  disabled: z.boolean().default(false),
  /**
   * Milliseconds a call may be silent. Each progress report restarts the time; the whole call may
   * take ten times as long.
   */
  timeout: z.int().min(100).max(3_600_000).default(60_000),
  start: z.enum(["lazy", "eager"]).default("lazy"),
  /**
   * Tools by the server's own names; a trailing `*` matches any ending. Tools in `deny` are never
   * mounted.
   */
  tools: z.strictObject({ allow: names.optional(), deny: names.default([]) }).prefault({}),
  /** Which calls a person decides about, based on the tools' annotations. */
  approve: z.enum(["never", "destructive", "writes", "always"]).default("destructive"),
  /** Whether to mount tools that read its resources and get its prompts. */
  resources: z.boolean().default(false),
  prompts: z.boolean().default(false),
  /** Whether its questions are passed on to the person the agent works for. */
  elicitation: z.boolean().default(true),
  /** Whether it may ask the agent's model, within the task's budget. */
  sampling: z.boolean().default(false),
  /** Most bytes of one message from it. */
  maxMessageBytes: z
    .int()
    .min(1024)
    .max(1024 * 2 ** 20)
    .default(10 * 2 ** 20),
};

const program = z.strictObject({
  ...common,
  type: z.literal("stdio").default("stdio"),
  command: text,
  args: z.array(z.string()).default([]),
  env: z.record(text, z.string()).default({}),
  cwd: text.optional(),
  /** `unconfined` starts it without the sandbox. */
  trust: z.enum(["sandboxed", "unconfined"]).default("sandboxed"),
  /** Paths it may read, and those it may also write. */
  read: names.default([]),
  write: names.default([]),
  /**
   * Hosts it may reach through a proxy: `host`, `host:port`, `*.host`, or `*` for all public hosts.
   * None by default, except for commands that download packages.
   */
  network: z.array(z.string().regex(networkEntry, "must be a host, with or without a port")).optional(),
});

const remote = z.strictObject({
  ...common,
  type: z.enum(["http", "streamable-http", "streamableHttp", "sse"]).optional(),
  url: z.url({ protocol: /^https?$/ }),
  headers: headers.default({}),
  /**
   * A client registered beforehand, or the https URL of its metadata. If omitted, a client is
   * registered automatically, provided the server allows that.
   */
  oauth: z
    .strictObject({ clientId: text.optional(), clientSecret: text.optional(), scope: text.optional() })
    .default({}),
});

/** The two kinds of entry of `mcpServers`. */
export const serverSchemas = { program, remote };

/** A server started as a program on this machine; `shown` is its command, for people. */
export type ProgramServer = z.output<typeof program> & { readonly name: string; readonly shown: string };
/** A server reached over HTTP; `shown` is its URL, for people. */
export type RemoteServer = z.output<typeof remote> & { readonly name: string; readonly shown: string };
/** One checked entry of `mcpServers`, with its name. */
export type ServerConfig = ProgramServer | RemoteServer;

/** Whether a server is started as a program on this machine. */
export function isProgram(server: ServerConfig): server is ProgramServer {
  return "command" in server;
}

/**
 * The command or URL for people, exactly as in the entry: variables are shown by name, so that it
 * contains no secret.
 */
export function shownCommand(entry: Readonly<Record<string, unknown>>): string {
  if (typeof entry.url === "string") return entry.url;
  const args: readonly unknown[] = Array.isArray(entry.args) ? entry.args : [];
  return [entry.command, ...args]
    .map(String)
    .map((word) => (/^[\w@%+=:,./${}-]+$/.test(word) ? word : JSON.stringify(word)))
    .join(" ");
}
