import { type KeyRing, openHomeKeys, rotateHomeKey } from "manyhands/internal/a2a/signing/home-keys";
import type { KeyAlgorithm } from "manyhands/internal/a2a/signing/key-algorithms";
import { AppError } from "manyhands/internal/core/errors";
import { openShared, type Shared } from "manyhands/internal/server/storage/open-shared";
import type { CliContext } from "../session/context.ts";
import { exitCodes } from "../terminal/exit-code.ts";

/** Options of every `keys` command. */
export type KeysOptions = { readonly json?: boolean; readonly config?: string };

/**
 * Shows the public keys with which this home, or all machines that share one, signs cards and
 * notifications.
 */
export async function listKeys(options: KeysOptions, context: CliContext): Promise<number> {
  return withShared(options, context, async ({ signing }) => {
    const keys = await openHomeKeys(signing);
    return show(await keys.ring(), options, context);
  });
}

/** Replaces the current key; servers that run sign with the new one at once. */
export async function rotateKeys(
  options: KeysOptions & { readonly algorithm?: KeyAlgorithm; readonly dropFormer?: boolean },
  context: CliContext,
): Promise<number> {
  const { algorithm, dropFormer } = options;
  return withShared(options, context, async ({ signing }) => {
    const ring = await rotateHomeKey(signing, { ...(algorithm && { algorithm }), ...(dropFormer && { dropFormer }) });
    return show(ring, options, context);
  });
}

/** Seals with `engine.secret_key` what the database keeps sealed, with whichever key it was. */
export async function resealKeys(options: KeysOptions, context: CliContext): Promise<number> {
  return withShared(options, context, async ({ reseal }) => {
    const resealed = await reseal?.();
    if (resealed === undefined)
      throw new AppError("config_invalid", "Nothing is sealed: engine.secret_key is not set.");
    if (options.json) context.terminal.out(`${JSON.stringify({ resealed }, undefined, 2)}\n`);
    else context.terminal.out(`Sealed with engine.secret_key: ${resealed.join(", ") || "nothing yet"}.\n`);
    return exitCodes.ok;
  });
}

async function withShared(
  { config }: KeysOptions,
  context: CliContext,
  work: (shared: Shared) => Promise<number>,
): Promise<number> {
  const shared = await openShared(await context.configure(config));
  try {
    return await work(shared);
  } finally {
    await shared.close();
  }
}

function show(ring: KeyRing, { json }: KeysOptions, { terminal }: CliContext): number {
  const keys = ring.map(({ publicKey }) => publicKey);
  if (json) terminal.out(`${JSON.stringify({ keys }, undefined, 2)}\n`);
  else
    for (const { kid, alg, exp } of keys) {
      const until = exp === undefined ? "current" : `until ${new Date(exp * 1000).toISOString()}`;
      terminal.out(`${kid}  ·  ${alg}  ·  ${until}\n`);
    }
  return exitCodes.ok;
}
