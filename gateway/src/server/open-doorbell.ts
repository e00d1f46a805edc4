import { randomBytes } from "node:crypto";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "@manyhands/shared/errno";
import { createDoorbell, type Doorbell } from "@manyhands/shared/peers/doorbell";

/** The path below the gateway's address where agents ring. */
export const doorbellPath = "/doorbell";

/** Where agents elsewhere ring, for a gateway that was told where it is reached from outside; nobody could find one that was not. */
export async function openDoorbell(home: string, publicUrl: string | undefined): Promise<Doorbell | undefined> {
  if (publicUrl === undefined) return undefined;
  const url = `${publicUrl.replace(/\/+$/, "")}${doorbellPath}`;
  return createDoorbell({ url, secret: await keptSecret(join(home, "doorbell.key")) });
}

/** The secret of this home, made by whichever of its gateways comes first; readable by this user alone. */
async function keptSecret(path: string): Promise<string> {
  try {
    await using file = await open(path, "wx", 0o600);
    const secret = randomBytes(32).toString("base64url");
    await file.writeFile(secret);
    await file.sync();
    return secret;
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
    return readFile(path, "utf8");
  }
}
