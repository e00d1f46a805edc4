import { join } from "node:path";
import { type KeyTexts, keyFiles } from "../../a2a/signing/home-keys.ts";
import { type AuthStore, openAuthStore } from "../../auth/auth-store.ts";
import type { SecretText } from "../../cluster/shared-rows.ts";
import type { Config } from "../../config/config.ts";
import { AppError } from "../../core/errors.ts";
import { type Log, silentLog } from "../../core/runs/engine.ts";
import type { KeptText, KeptTexts } from "../../core/text/kept-text.ts";
import { storageFailure } from "../../durable/sqlite/disk/storage-error.ts";
import { profileFiles } from "../../machine/browser-profile/profile-files.ts";
import { keptFile } from "../../machine/workspace/own-files/kept-file.ts";
import { credentialsFile } from "../../mcp/client/oauth/credential-store.ts";
import type { MemoryRows } from "../../memory/memory-rows.ts";
import { sqliteRows } from "../../memory/sqlite-rows.ts";
import type { ModelOptions } from "../../models/create-model.ts";
import type { RequestCounter } from "../../runs/quotas.ts";

/**
 * What the servers of a system share beside their runs: in files of their home, or, for several
 * machines, in the database of the runs.
 */
export type Shared = {
  /** The registered agents. */
  readonly agents: KeptText;
  /** What this home, or all that share a database, sign cards and notifications with. */
  readonly signing: KeyTexts;
  /** The key that allows changes of `mcp.json`, and the one by which notifications are known. */
  readonly mountKey: KeptText;
  readonly pushCallbackKey: KeptText;
  /** The links to runs, by the hashes of their secrets. */
  readonly shares: KeptText;
  /** The schedules that were added, and where all of them stand. */
  readonly schedules: KeptText;
  /** What MCP servers may offer, and the credentials for them. */
  readonly pins: KeptText;
  /** Which skills are approved. */
  readonly skillPins: KeptText;
  readonly credentials: KeptText;
  /** What the browsers of principals keep. */
  readonly profiles: KeptTexts;
  /** The tokens and sessions of callers. */
  tokens(): AuthStore;
  /** What is remembered for principals; whoever opens it closes it. */
  memory(): MemoryRows;
  /** Left out where each process counts its own requests and holds its own limits. */
  readonly requests?: RequestCounter;
  readonly shareLimits?: NonNullable<ModelOptions["shareLimits"]>;
  /**
   * Seals what is secret with the current key; the names of it. Left out where nothing is shared.
   */
  reseal?(): Promise<string[]>;
  /** A warning for the operator, if there is one. */
  readonly note?: string;
  close(): Promise<void>;
};

type SharedConfig = Pick<Config, "home" | "engine">;

/**
 * Opens it. Rejects with `storage_unavailable` if a database cannot be reached, and with
 * `config_invalid` if what is sealed in it does not open.
 */
export async function openShared({ home, engine }: SharedConfig, log: Log = silentLog): Promise<Shared> {
  const files = {
    agents: keptFile(join(home, "agents.json")),
    shares: keptFile(join(home, "shares.json")),
    schedules: keptFile(join(home, "schedules.json")),
    pins: keptFile(join(home, "mcp-pins.json")),
    skillPins: keptFile(join(home, "skill-pins.json")),
    credentials: credentialsFile(home),
    profiles: profileFiles(home),
    signing: keyFiles(home),
    mountKey: keptFile(join(home, mountKeyFile)),
    pushCallbackKey: keptFile(join(home, "doorbell-key")),
    tokens: () => opened(authFile(home), openAuthStore),
    memory: () => opened(memoryFile(home), sqliteRows),
    close: async () => undefined,
  };
  if (engine.kind === "embedded") return files;
  const { openSharedRows } = await import("../../cluster/shared-rows.ts");
  const rows = await openSharedRows({ ...engine, log });
  const kept = async (name: SecretText, file: KeptText) => begun(rows.secretText(name), file);
  try {
    const [current, former, mountKey, pushCallbackKey] = await Promise.all([
      kept("card-key", files.signing.current),
      kept("former-card-keys", files.signing.former),
      kept("mcp-mount-key", files.mountKey),
      kept("doorbell-key", files.pushCallbackKey),
    ]);
    return {
      agents: rows.secretText("agents") ?? files.agents,
      shares: rows.text("shares"),
      schedules: rows.text("schedules"),
      pins: rows.text("mcp-pins"),
      skillPins: rows.text("skill-pins"),
      credentials: rows.secretText("mcp-credentials") ?? files.credentials,
      profiles: rows.profiles ?? files.profiles,
      signing: { current, former },
      mountKey,
      pushCallbackKey,
      tokens: () => rows.tokens,
      memory: () => rows.memory,
      requests: rows.requests,
      shareLimits: rows.shareLimits,
      ...(engine.secretKey === undefined ? { note: keyMissing } : { reseal: rows.reseal }),
      close: rows.close,
    };
  } catch (error) {
    await rows.close();
    throw error;
  }
}

/** The shared text, which begins as the file of the first home that has one. */
async function begun(shared: KeptText | undefined, file: KeptText): Promise<KeptText> {
  if (shared === undefined) return file;
  if ((await shared.read()) === undefined) {
    const mine = await file.read();
    if (mine !== undefined) await shared.change((now) => now ?? mine);
  }
  return shared;
}

/** The file of a home that has the key which allows changes of `mcp.json`. */
export const mountKeyFile = "mcp-mount-key";

const keyMissing =
  "engine.secret_key is not set: registered agents, the credentials of MCP servers, browser profiles and the keys of cards and notifications stay in each home. Set MANYHANDS_ENGINE_SECRET_KEY to the same long secret everywhere (`openssl rand -base64 32`) to share them.";

/** What a model needs of it. */
export function limitsOf({ shareLimits }: Shared): Pick<ModelOptions, "shareLimits"> {
  return shareLimits === undefined ? {} : { shareLimits };
}

/** Whether there is a note. */
export function isSaid(note: string | undefined): note is string {
  return note !== undefined;
}

/** The tokens of a system, for changing them. The caller closes them. */
export async function openTokens(config: SharedConfig): Promise<AuthStore> {
  const shared = await openShared(config);
  const tokens = shared.tokens();
  return { ...tokens, close: () => tokens.close().finally(shared.close) };
}

/** A database of a home. Throws `unavailable` if the file or its disk refuses. */
function opened<T>(path: string, open: (path: string) => T): T {
  try {
    return open(path);
  } catch (error) {
    const reason = storageFailure(error);
    if (reason === undefined) throw error;
    const text = `${path} cannot be used: ${reason}. If it is damaged, put the one of a backup in its place.`;
    throw new AppError("unavailable", text, { cause: error });
  }
}

/** Where a home keeps its tokens. */
export function authFile(home: string): string {
  return join(home, "auth.db");
}

/** Where a home keeps what is remembered. */
export function memoryFile(home: string): string {
  return join(home, "memory.db");
}
