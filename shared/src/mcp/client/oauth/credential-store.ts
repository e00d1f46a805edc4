import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { localCaller } from "../../../core/caller.ts";
import { AppError, unlessMissing } from "../../../core/errors.ts";
import { ownSecret } from "../../../machine/own-secret.ts";
import { replaceFile } from "../../../machine/workspace/replace-file.ts";
import { underLock } from "../servers/file-lock.ts";
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
export type Credentials = z.output<typeof credentials>;

/**
 * One principal's credentials of servers, each stored by name and URL, so that they are never sent
 * to another server.
 */
export interface CredentialStore {
  read(server: RemoteServer): Promise<Credentials | undefined>;
  /** Stores the credentials, or deletes them if undefined. */
  write(server: RemoteServer, next: Credentials | undefined): Promise<void>;
}

/**
 * A principal's credentials in `mcp-credentials` in the home, sealed with AES-256-GCM; the key is
 * beside them in `mcp-key`, which only the owner can read.
 */
export function createCredentialStore(home: string, principal = localCaller.principal): CredentialStore {
  const file = join(home, "mcp-credentials");
  let writing: Promise<unknown> = Promise.resolve();
  const readAll = async () => {
    const sealed = await readFile(file).catch(unlessMissing);
    if (sealed === undefined) return {};
    try {
      return stored.parse(JSON.parse(unseal(sealed, await keyIn(home))));
    } catch (cause) {
      throw new AppError(
        "config_invalid",
        `${file} cannot be read with the key beside it. Remove it and sign in anew.`,
        { cause },
      );
    }
  };
  return {
    read: async (server) => (await readAll())[keyOf(server, principal)],
    write(server, next) {
      const work = writing.then(() =>
        underLock(file, async () => {
          const { [keyOf(server, principal)]: _, ...rest } = await readAll();
          const all = next === undefined ? rest : { ...rest, [keyOf(server, principal)]: next };
          await replaceFile(file, seal(JSON.stringify(all), await keyIn(home)));
        }),
      );
      writing = work.catch(() => undefined);
      return work;
    },
  };
}

/** Entries of "local" have the key they had when there were no other principals. */
function keyOf({ name, url }: RemoteServer, principal: string): string {
  const owner = principal === localCaller.principal ? [] : [principal];
  return JSON.stringify([name, new URL(url).href, ...owner]);
}

function keyIn(home: string): Promise<Buffer> {
  return ownSecret(join(home, "mcp-key"), () => randomBytes(32));
}

const ivBytes = 12;
const tagBytes = 16;

function seal(text: string, key: Buffer): Buffer {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv("aes-256-gcm", key, iv);
  return Buffer.concat([iv, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
}

function unseal(sealed: Buffer, key: Buffer): string {
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, ivBytes));
  decipher.setAuthTag(sealed.subarray(-tagBytes));
  return decipher.update(sealed.subarray(ivBytes, -tagBytes), undefined, "utf8") + decipher.final("utf8");
}
