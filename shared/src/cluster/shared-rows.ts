import { hkdfSync } from "node:crypto";
import type { AuthStore } from "../auth/auth-store.ts";
import { AppError } from "../core/errors.ts";
import { type Log, silentLog } from "../core/runs/engine.ts";
import type { KeptText, KeptTexts } from "../core/text/kept-text.ts";
import { type SealingKeys, sealedText } from "../core/text/sealed-text.ts";
import { Database } from "../durable/postgres/database.ts";
import { migrate } from "../durable/postgres/schema/migrate.ts";
import type { MemoryRows } from "../memory/memory-rows.ts";
import type { EndpointLimits, Limiter } from "../models/limiter.ts";
import type { RequestCounter } from "../runs/quotas.ts";
import { authRows } from "./auth-rows.ts";
import { keptRow, removeRow, rowNames } from "./kept-row.ts";
import { memoryTable } from "./memory-table.ts";
import { requestRows } from "./request-rows.ts";
import { sharedLimiter } from "./shared-limiter.ts";

/** Which database, and the key that seals secrets in it. */
export type SharedRowsOptions = {
  readonly url: string;
  readonly schema: string;
  readonly log: Log;
  readonly secretKey?: string | undefined;
  /** Other keys that open what is sealed, while one replaces the other. */
  readonly otherSecretKeys?: readonly string[];
};

/** What is stored sealed. */
const secretTexts = [
  "agents",
  "mcp-credentials",
  "card-key",
  "former-card-keys",
  "mcp-mount-key",
  "doorbell-key",
] as const;

/** The name of such a text. */
export type SecretText = (typeof secretTexts)[number];

/** What the processes of a system share beside their runs, wherever their homes are. */
export type SharedRows = {
  text(name: string): KeptText;
  /**
   * A text that is stored sealed; undefined without a key. Rejects with `config_invalid` for
   * another key.
   */
  secretText(name: SecretText): KeptText | undefined;
  /** The browser profiles of principals, stored sealed; undefined without a key. */
  readonly profiles: KeptTexts | undefined;
  /** Seals with the current key what is sealed with another; the names of these texts. */
  reseal(): Promise<string[]>;
  readonly tokens: AuthStore;
  readonly memory: MemoryRows;
  readonly requests: RequestCounter;
  shareLimits(limits: EndpointLimits, own: Limiter): Limiter;
  close(): Promise<void>;
};

const profilesPrefix = "browser-profiles/";
const connections = 4;

/** Opens the rows in the schema of the run store, which is made or brought up to date first. */
export async function openSharedRows(options: SharedRowsOptions): Promise<SharedRows> {
  const { url, schema, log, secretKey, otherSecretKeys = [] } = options;
  const database = new Database({ url, schema, connections, log });
  try {
    await migrate(database);
  } catch (error) {
    await database.close();
    throw error;
  }
  const sealed = secretKey === undefined ? undefined : sealer(database, secretKey, otherSecretKeys);
  return {
    text: (name) => keptRow(database, name),
    secretText: (name) => sealed?.(name),
    profiles: sealed && {
      names: async (prefix) =>
        (await rowNames(database, profilesPrefix + prefix)).map((name) => name.slice(profilesPrefix.length)),
      text: (name) => sealed(profilesPrefix + name),
      remove: (name) => removeRow(database, profilesPrefix + name),
    },
    async reseal() {
      const done: string[] = [];
      for (const name of [...secretTexts, ...(await rowNames(database, profilesPrefix))]) {
        const text = sealed?.(name);
        const now = await text?.read();
        if (text === undefined || now === undefined) continue;
        await text.change((newest) => newest ?? now);
        done.push(name);
      }
      return done;
    },
    tokens: authRows(database, log),
    memory: memoryTable(database),
    requests: requestRows(database),
    shareLimits: (limits, own) => sharedLimiter(limits, own, { database, log }),
    close: () => database.close(),
  };
}

/** Profiles may be large, and one key seals them all. */
const profilesLookedAt = 5;

/**
 * Rejects with `config_invalid` if what is sealed in the database opens with none of the keys. It
 * changes nothing.
 */
export async function checkSealed(options: Omit<SharedRowsOptions, "log">): Promise<void> {
  const { url, schema, secretKey, otherSecretKeys = [] } = options;
  if (secretKey === undefined) return;
  const database = new Database({ url, schema, connections: 1, log: silentLog });
  try {
    const [table] = await database.query<{ isMade: boolean }>(
      `SELECT to_regclass('kept_texts') IS NOT NULL AS "isMade"`,
    );
    if (table?.isMade !== true) return;
    const profiles = await rowNames(database, profilesPrefix);
    const sealed = sealer(database, secretKey, otherSecretKeys);
    for (const name of [...secretTexts, ...profiles.slice(0, profilesLookedAt)]) await sealed(name).read();
  } finally {
    await database.close();
  }
}

function sealer(database: Database, secretKey: string, others: readonly string[]) {
  const keyOf = (secret: string) => new Uint8Array(hkdfSync("sha256", secret, "", "manyhands kept texts", 32));
  const keys: SealingKeys = [keyOf(secretKey), ...others.map(keyOf)];
  return (name: string): KeptText =>
    sealedText(keptRow(database, name), {
      keys: () => keys,
      encoding: "base64",
      purpose: name,
      unopened: (cause) =>
        new AppError(
          "config_invalid",
          `What the database keeps as "${name}" was sealed with another key than engine.secret_key. Set MANYHANDS_ENGINE_SECRET_KEY as it is on the other servers, or name the key it was sealed with in MANYHANDS_ENGINE_OTHER_SECRET_KEYS.`,
          { cause },
        ),
    });
}
