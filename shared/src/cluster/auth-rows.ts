import {
  type AuthStore,
  assignable,
  listed,
  nameTaken,
  newSecret,
  noToken,
  scopesOf,
  type TokenRow,
  useMs,
} from "../auth/auth-store.ts";
import { logBug } from "../core/async/log-bug.ts";
import { callerNamed } from "../core/caller.ts";
import type { Log } from "../core/runs/engine.ts";
import { sha256Bytes } from "../core/text/sha256.ts";
import type { Database } from "../durable/postgres/database.ts";

type Stored = { readonly [Key in keyof TokenRow]: TokenRow[Key] extends string ? string : string | null };

/**
 * The tokens and sessions of all processes with this database, each looked up when it is used.
 * `close` leaves the database open.
 */
export function authRows(database: Pick<Database, "query">, log: Pick<Log, "error">): AuthStore {
  return {
    async add({ name, principal, scopes, lifeMs }) {
      const secret = newSecret();
      const added = await database.query(
        `INSERT INTO tokens SELECT $1::bytea, $2::text, $3::text, $4::text, t, t + $5::bigint
           FROM now_ms() AS t ON CONFLICT (name) DO NOTHING RETURNING name`,
        [sha256Bytes(secret), name, assignable(principal), scopes.join(" "), lifeMs ?? null],
      );
      if (added.length === 0) throw nameTaken(name);
      return secret;
    },
    list: async () =>
      (await database.query<Stored>("SELECT * FROM tokens ORDER BY name")).map((row) => listed(read(row))),
    async revoke(name) {
      const gone = await database.query("DELETE FROM tokens WHERE name = $1 RETURNING name", [name]);
      if (gone.length === 0) throw noToken(name);
    },
    async find(secret) {
      const hash = sha256Bytes(secret);
      const [row] = await database.query<Stored & { is_due: boolean }>(
        `SELECT *, now_ms() - coalesce(used, 0) >= $2::bigint AS is_due FROM tokens
         WHERE hash = $1::bytea AND coalesce(expires > now_ms(), true)`,
        [hash, useMs],
      );
      if (row === undefined) return undefined;
      // Nobody waits for the time of use.
      if (row.is_due)
        database
          .query("UPDATE tokens SET used = now_ms() WHERE hash = $1::bytea", [hash])
          .catch(logBug(log, "When a token was used could not be stored."));
      return callerNamed(row.principal, scopesOf(row));
    },
    async signIn({ principal, scopes }, lifeMs) {
      const secret = newSecret();
      const name = assignable(principal);
      await database.query("DELETE FROM sessions WHERE expires <= now_ms()");
      await database.query("INSERT INTO sessions VALUES ($1::bytea, $2, $3, now_ms() + $4::bigint)", [
        ...[sha256Bytes(secret), name, [...scopes].join(" "), lifeMs],
      ]);
      return secret;
    },
    async session(secret) {
      const [row] = await database.query<Pick<TokenRow, "principal" | "scopes">>(
        "SELECT principal, scopes FROM sessions WHERE hash = $1::bytea AND expires > now_ms()",
        [sha256Bytes(secret)],
      );
      return row && callerNamed(row.principal, scopesOf(row));
    },
    async signOut(secret) {
      await database.query("DELETE FROM sessions WHERE hash = $1::bytea", [sha256Bytes(secret)]);
    },
    close: async () => undefined,
  };
}

/** PostgreSQL sends its large integers as text. */
function read({ created, expires, used, ...row }: Stored): TokenRow {
  const number = (text: string | null) => (text === null ? null : Number(text));
  return { ...row, created: Number(created), expires: number(expires), used: number(used) };
}
