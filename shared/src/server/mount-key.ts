import { randomBytes, timingSafeEqual } from "node:crypto";
import { join } from "node:path";
import { AppError } from "../core/errors.ts";
import { ownSecret } from "../machine/own-secret.ts";

/** The header that a request to change the servers carries the key in. */
const mountKeyHeader = "Manyhands-Mount-Key";

const name = "mcp-mount-key";

/** The key of those who may change `mcp.json`, made when there is none: a line in a file of the home that only the owner reads. */
export async function mountKey(home: string): Promise<string> {
  const key = await ownSecret(join(home, name), () => Buffer.from(`${randomBytes(32).toString("base64url")}\n`));
  return key.toString().trim();
}

/** Rejects with `forbidden` unless the request carries the key. */
export async function requireMountKey(request: Request, home: string): Promise<void> {
  const given = request.headers.get(mountKeyHeader);
  const key = await mountKey(home);
  if (given !== null && timingSafeEqual(digest(given), digest(key))) return;
  throw new AppError(
    "forbidden",
    `Changing the MCP servers takes the key in the file ${name} of this agent's home: send it as \`${mountKeyHeader}\`.`,
  );
}

function digest(text: string): Uint8Array {
  return new Bun.CryptoHasher("sha256").update(text).digest();
}
