import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { AppError } from "../../core/errors.ts";
import { type KeptText, madeOnce } from "../../core/text/kept-text.ts";
import { sameSecret } from "../../core/text/same-secret.ts";
import { keptFile } from "../../machine/workspace/own-files/kept-file.ts";
import { mountKeyFile } from "../storage/open-shared.ts";

/** The header for the key of a request that changes the servers. */
const mountKeyHeader = "Manyhands-Mount-Key";

/** The key that allows changes of `mcp.json`. It is made if there is none. */
async function keyOfMounting(kept: KeptText): Promise<string> {
  return (await madeOnce(kept, () => `${randomBytes(32).toString("base64url")}\n`)).trim();
}

/** Writes the key into its file of the home, where those who may use it find it. */
export async function showMountKey(home: string, kept: KeptText): Promise<void> {
  const key = `${await keyOfMounting(kept)}\n`;
  const file = keptFile(join(home, mountKeyFile));
  if ((await file.read()) !== key) await file.change(() => key);
}

/** Rejects with `forbidden` unless the request carries the key. */
export async function requireMountKey(request: Request, kept: KeptText): Promise<void> {
  const given = request.headers.get(mountKeyHeader);
  const key = await keyOfMounting(kept);
  if (given !== null && sameSecret(given, key)) return;
  throw new AppError(
    "forbidden",
    `Changing the MCP servers takes the key in the file ${mountKeyFile} of this agent's home: send it as \`${mountKeyHeader}\`.`,
  );
}
