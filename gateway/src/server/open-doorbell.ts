import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { createDoorbell, type Doorbell } from "manyhands/internal/a2a/ask/doorbell";
import { ownSecret } from "manyhands/internal/machine/own-secret";

/** The path below the gateway's address where agents ring. */
export const doorbellPath = "/doorbell";

/** Where agents elsewhere ring, for a gateway that was told where it is reached from outside; nobody could find one that was not. */
export async function openDoorbell(home: string, publicUrl: string | undefined): Promise<Doorbell | undefined> {
  if (publicUrl === undefined) return undefined;
  const url = `${publicUrl.replace(/\/+$/, "")}${doorbellPath}`;
  const secret = await ownSecret(join(home, "doorbell-key"), () => Buffer.from(randomBytes(32).toString("base64url")));
  return createDoorbell({ url, secret: secret.toString() });
}
