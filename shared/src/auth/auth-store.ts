import { Database } from "bun:sqlite";
import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { type Caller, callerNamed, principalName, type Scope, scopes } from "../core/caller.ts";
import { AppError } from "../core/errors.ts";
import { sha256Bytes } from "../core/text/sha256.ts";

/** A token as `manyhands tokens list` shows it: everything but its secret, which is not kept. */
export type ListedToken = {
  readonly name: string;
  readonly principal: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: number;
  readonly expiresAt?: number;
  /** To the minute; undefined if it was never used. */
  readonly usedAt?: number;
};

/** A token to be made. */
export type NewToken = Pick<ListedToken, "name" | "principal" | "scopes"> & { readonly lifeMs?: number };

/**
 * The tokens and signed-in sessions of a system, by the hash of their secret. Every process reads
 * the same file, or the same table, for each request, so a token counts from the moment it is
 * added, and no longer than it is there.
 */
export type AuthStore = {
  /** The secret, which nothing shows again. Rejects with `conflict` for a name that is taken. */
  add(token: NewToken): Promise<string>;
  list(): Promise<readonly ListedToken[]>;
  /** Rejects with `not_found`. */
  revoke(name: string): Promise<void>;
  /** The caller of a token's secret, unless it has expired. */
  find(secret: string): Promise<Caller | undefined>;
  /** Signs a caller in for a time; resolves with the session's secret. */
  signIn(caller: Caller, lifeMs: number): Promise<string>;
  /** The caller of a session's secret, unless it has expired. */
  session(secret: string): Promise<Caller | undefined>;
  /** Ends a session; harmless if there is none. */
  signOut(secret: string): Promise<void>;
  close(): Promise<void>;
};

/** How exactly the last use is known, so that a request rarely writes. */
export const useMs = 60_000;

/** How long a statement waits for another process that writes. */
const busyMs = 1_000;

/** A token as it is stored, without its hash. */
export type TokenRow = {
  readonly name: string;
  readonly principal: string;
  readonly scopes: string;
  readonly created: number;
  readonly expires: number | null;
  readonly used: number | null;
};

/** The error for a name that is taken. */
export function nameTaken(name: string): AppError {
  return new AppError(
    "conflict",
    `There is a token ${JSON.stringify(name)} already. Revoke it, or choose another name.`,
  );
}

/** The error for a name that no token has. */
export function noToken(name: string): AppError {
  return new AppError("not_found", `There is no token ${JSON.stringify(name)}.`);
}

/** Opens the file, creating it readable only by its owner. */
export function openAuthStore(path: string, now: () => number = Date.now): AuthStore {
  mkdirSync(dirname(path), { recursive: true });
  // Closing a file takes away the locks that this process has on it.
  if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
  const db = new Database(path, { strict: true });
  db.run(`PRAGMA busy_timeout = ${busyMs}`);
  db.run("PRAGMA journal_mode = WAL");
  db.run(`CREATE TABLE IF NOT EXISTS tokens (
    hash BLOB PRIMARY KEY, name TEXT NOT NULL UNIQUE, principal TEXT NOT NULL, scopes TEXT NOT NULL,
    created INTEGER NOT NULL, expires INTEGER, used INTEGER) WITHOUT ROWID`);
  db.run(`CREATE TABLE IF NOT EXISTS sessions (
    hash BLOB PRIMARY KEY, principal TEXT NOT NULL, scopes TEXT NOT NULL, expires INTEGER NOT NULL) WITHOUT ROWID`);
  const sessionOf = db.query<Pick<TokenRow, "principal" | "scopes">, [Uint8Array, number]>(
    "SELECT principal, scopes FROM sessions WHERE hash = ? AND expires > ?",
  );
  const tokenOf = db.query<TokenRow, [Uint8Array]>("SELECT * FROM tokens WHERE hash = ?");
  const use = db.query("UPDATE tokens SET used = ? WHERE hash = ?");
  return {
    async add({ name, principal, scopes, lifeMs }) {
      const secret = newSecret();
      const at = now();
      const expires = lifeMs === undefined ? null : at + lifeMs;
      // In one statement, since another process may be adding one of that name.
      const insert = db.query(`INSERT INTO tokens (hash, name, principal, scopes, created, expires)
        VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING`);
      const { changes } = insert.run(sha256Bytes(secret), name, assignable(principal), scopes.join(" "), at, expires);
      if (changes === 0) throw nameTaken(name);
      return secret;
    },
    list: async () => db.query<TokenRow, []>("SELECT * FROM tokens ORDER BY name").all().map(listed),
    async revoke(name) {
      const { changes } = db.query("DELETE FROM tokens WHERE name = ?").run(name);
      if (changes === 0) throw noToken(name);
    },
    async find(secret) {
      const hash = sha256Bytes(secret);
      const token = tokenOf.get(hash);
      const at = now();
      if (token === null || (token.expires ?? Number.POSITIVE_INFINITY) <= at) return undefined;
      if (at - (token.used ?? 0) >= useMs) use.run(at, hash);
      return callerNamed(token.principal, scopesOf(token));
    },
    async signIn({ principal, scopes }, lifeMs) {
      const secret = newSecret();
      const at = now();
      db.query("DELETE FROM sessions WHERE expires <= ?").run(at);
      const insert = "INSERT INTO sessions (hash, principal, scopes, expires) VALUES (?, ?, ?, ?)";
      db.query(insert).run(sha256Bytes(secret), assignable(principal), [...scopes].join(" "), at + lifeMs);
      return secret;
    },
    async session(secret) {
      const found = sessionOf.get(sha256Bytes(secret), now());
      return found === null ? undefined : callerNamed(found.principal, scopesOf(found));
    },
    signOut: async (secret) => void db.query("DELETE FROM sessions WHERE hash = ?").run(sha256Bytes(secret)),
    close: async () => db.close(),
  };
}

/**
 * A principal that may be given to somebody else. Throws `invalid_input` for the operator's own
 * name.
 */
export function assignable(name: string): string {
  if (name !== "local") return principalName(name);
  throw new AppError("invalid_input", "The principal `local` is the operator, with MANYHANDS_TOKEN. Choose another.");
}

/** What `list` shows of it. */
export function listed(row: TokenRow): ListedToken {
  return {
    name: row.name,
    principal: row.principal,
    scopes: scopesOf(row),
    createdAt: row.created,
    ...(row.expires !== null && { expiresAt: row.expires }),
    ...(row.used !== null && { usedAt: row.used }),
  };
}

/** The scopes it names. */
export function scopesOf({ scopes: text }: Pick<TokenRow, "scopes">): Scope[] {
  const named = new Set(text.split(" "));
  return scopes.filter((scope) => named.has(scope));
}

/**
 * 256 random bits: nothing to guess, so a plain hash keeps them. `kind` tells what it opens: `mh`,
 * or `mhs` for a link to a run.
 */
export function newSecret(kind: "mh" | "mhs" = "mh"): string {
  const bits = crypto.getRandomValues(new Uint8Array(32));
  return `${kind}_${bits.toBase64({ alphabet: "base64url", omitPadding: true })}`;
}
