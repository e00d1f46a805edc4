import { newSecret } from "manyhands/internal/auth/auth-store";
import { AppError } from "manyhands/internal/core/errors";
import { damagedText, type KeptText } from "manyhands/internal/core/text/kept-text";
import { sha256Of } from "manyhands/internal/core/text/sha256";
import * as z from "zod";

const kept = z.strictObject({
  shares: z.array(
    z.strictObject({
      id: z.string(),
      /** SHA-256 of the secret, in hexadecimal. */
      hash: z.string(),
      runId: z.string(),
      principal: z.string(),
      createdAt: z.number(),
      expiresAt: z.number(),
    }),
  ),
});

/** A link to a run that anybody who has it may read with, until it expires. */
export type Share = Omit<z.output<typeof kept>["shares"][number], "hash">;

/**
 * The links to runs, by the hash of their secret. Every gateway of a system reads the same text for
 * each request, so a link counts no longer than it is there.
 */
export type ShareStore = {
  /**
   * The link and its secret, which nothing shows again. Rejects with `conflict` if there are too
   * many.
   */
  add(share: Pick<Share, "runId" | "principal"> & { readonly lifeMs: number }): Promise<Share & { secret: string }>;
  /** The links of a principal that count, the newest first. */
  list(principal: string): Promise<readonly Share[]>;
  /** Rejects with `not_found`, also for another principal's. */
  revoke(id: string, principal: string): Promise<void>;
  /** The link with this secret, unless it has expired or was revoked. */
  find(secret: string): Promise<Share | undefined>;
};

/** Links a principal may have at once. */
const maxShares = 200;

/** Opens the links in a text; what has expired goes with the next change. */
export function openShares(text: KeptText, now: () => number = Date.now): ShareStore {
  const counting = (stored: string | undefined) => sharesIn(stored).filter(({ expiresAt }) => expiresAt > now());
  return {
    async add({ runId, principal, lifeMs }) {
      const secret = newSecret("mhs");
      const at = now();
      const share = { id: crypto.randomUUID(), runId, principal, createdAt: at, expiresAt: at + lifeMs };
      await text.change((stored) => {
        const shares = counting(stored);
        if (shares.filter((one) => one.principal === principal).length >= maxShares)
          throw new AppError("conflict", `You have ${maxShares} links to runs. Revoke one that is no longer needed.`);
        return JSON.stringify({ shares: [...shares, { ...share, hash: sha256Of(secret) }] });
      });
      return { ...share, secret };
    },
    async list(principal) {
      const own = counting(await text.read()).filter((one) => one.principal === principal);
      return own.toReversed().map(({ hash: _, ...share }) => share);
    },
    async revoke(id, principal) {
      await text.change((stored) => {
        const shares = counting(stored);
        const left = shares.filter((one) => one.id !== id || one.principal !== principal);
        if (left.length === shares.length) throw new AppError("not_found", `There is no link ${id}.`);
        return JSON.stringify({ shares: left });
      });
    },
    async find(secret) {
      const hash = sha256Of(secret);
      const found = counting(await text.read()).find((one) => one.hash === hash);
      if (found === undefined) return undefined;
      const { hash: _, ...share } = found;
      return share;
    },
  };
}

function sharesIn(stored: string | undefined): z.output<typeof kept>["shares"] {
  if (stored === undefined) return [];
  try {
    return kept.parse(JSON.parse(stored)).shares;
  } catch (cause) {
    throw damagedText("shares.json", "all links to runs stop working then", cause);
  }
}
