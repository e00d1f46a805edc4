import { type KeyAlgorithm, type KeyRing, openHomeKeys, rotateHomeKey } from "manyhands/internal/a2a/signing/home-keys";
import type { CliContext } from "../session/context.ts";
import { exitCodes } from "../terminal/exit-code.ts";

/** Options of every `keys` command. */
export type KeysOptions = { readonly json?: boolean; readonly config?: string };

/** Shows the public keys with which this home signs cards and notifications. */
export async function listKeys(options: KeysOptions, context: CliContext): Promise<number> {
  const { home } = await context.configure(options.config);
  const keys = await openHomeKeys(home);
  return show(await keys.ring(), options, context);
}

/** Replaces the current key; servers that run sign with the new one at once. */
export async function rotateKeys(
  options: KeysOptions & { readonly algorithm?: KeyAlgorithm; readonly dropFormer?: boolean },
  context: CliContext,
): Promise<number> {
  const { home } = await context.configure(options.config);
  const { algorithm, dropFormer } = options;
  return show(
    await rotateHomeKey(home, { ...(algorithm && { algorithm }), ...(dropFormer && { dropFormer }) }),
    options,
    context,
  );
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
