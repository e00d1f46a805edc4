import { randomBytes } from "node:crypto";
import { join } from "node:path";
import * as z from "zod";
import { localCaller } from "../../../core/caller.ts";
import { AppError } from "../../../core/errors.ts";
import type { KeptText } from "../../../core/text/kept-text.ts";
import { sealedText } from "../../../core/text/sealed-text.ts";
import { ownSecret } from "../../../machine/own-secret.ts";
import { keptFile } from "../../../machine/workspace/own-files/kept-file.ts";
import type { RemoteServer } from "../servers/server-config.ts";

/** What signing in to a server leaves: tokens, and the client they were issued to. */
const credentials = z.strictObject({
  tokens: z.looseObject({ access_token: z.string(), token_type: z.string(), scope: z.string().optional() }).optional(),
  client: z.looseObject({ client_id: z.string() }).optional(),
  /** The scope the server requires beyond that of the tokens. */
  wanted: z.string().optional(),
});
const stored = z.record(z.string(), credentials);

/** What signing in to one server has left. */
export type ServerCredentials = z.output<typeof credentials>;

/**
 * One principal's credentials of servers, each stored by name and URL, so that they are never sent
 * to another server.
 */
export interface CredentialStore {
  read(server: RemoteServer): Promise<ServerCredentials | undefined>;
  /** Stores the credentials, or deletes them if undefined. */
  write(server: RemoteServer, next: ServerCredentials | undefined): Promise<void>;
  /** Runs `work`, which renews a server's tokens, while nobody else does. */
  renew<T>(server: RemoteServer, work: () => Promise<T>): Promise<T>;
}

/**
 * Where a home keeps credentials: in `mcp-credentials`, sealed; the key is beside them in
 * `mcp-key`, which only the owner can read.
 */
export function credentialsFile(home: string): KeptText {
  return sealedText(keptFile(join(home, "mcp-credentials"), "latin1"), {
    keys: async () => [await ownSecret(join(home, "mcp-key"), () => randomBytes(32))],
    encoding: "latin1",
  });
}

/** A principal's credentials in a sealed text. */
export function createCredentialStore(kept: KeptText, principal = localCaller.principal): CredentialStore {
  return {
    async read(server) {
      return parsed(await kept.read().catch(unreadable))[keyOf(server, principal)];
    },
    write: (server, next) =>
      kept
        .change((text) => {
          const { [keyOf(server, principal)]: _, ...rest } = parsed(text);
          return JSON.stringify(next === undefined ? rest : { ...rest, [keyOf(server, principal)]: next });
        })
        .catch(unreadable),
    renew: (server, work) => kept.alone(keyOf(server, principal), work),
  };
}

function parsed(text: string | undefined) {
  return text === undefined ? {} : stored.parse(JSON.parse(text));
}

function unreadable(cause: unknown): never {
  if (cause instanceof AppError) throw cause;
  throw new AppError(
    "config_invalid",
    "The credentials of MCP servers cannot be read with their key: mcp-key beside mcp-credentials in the home, or engine.secret_key. Restore the key, or remove the credentials and sign in anew.",
    { cause },
  );
}

/** Entries of "local" have the key they had when there were no other principals. */
function keyOf({ name, url }: RemoteServer, principal: string): string {
  const owner = principal === localCaller.principal ? [] : [principal];
  return JSON.stringify([name, new URL(url).href, ...owner]);
}
