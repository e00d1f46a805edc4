import type { AuthStore } from "manyhands/internal/auth/auth-store";
import { tokenName } from "manyhands/internal/auth/token-name";
import { type Scope, scopes } from "manyhands/internal/core/caller";
import { AppError } from "manyhands/internal/core/errors";
import { ownCommand } from "manyhands/internal/core/release";
import type { CliContext } from "../session/context.ts";
import { exitCodes } from "../terminal/exit-code.ts";

/** Options of every `tokens` command. */
export type TokensOptions = { readonly json?: boolean; readonly config?: string };

const units = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A duration such as `30d`, in milliseconds; undefined if it is not one. */
export function lifeOf(text: string): number | undefined {
  const [, count, unit] = /^([1-9]\d{0,5})([mhd])$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * units[unit as keyof typeof units];
}

/** The scopes of a list with commas; undefined if one is unknown. */
export function scopesOf(text: string): Scope[] | undefined {
  const named = text.split(",").map((one) => one.trim());
  return named.every((one) => scopes.some((scope) => scope === one)) ? (named as Scope[]) : undefined;
}

/** Makes a token and prints its secret, this once. */
export async function addToken(
  name: string,
  options: TokensOptions & {
    readonly principal?: string;
    readonly scopes: readonly Scope[];
    readonly expires?: number;
  },
  context: CliContext,
): Promise<number> {
  if (!tokenName.test(name))
    throw new AppError("invalid_input", "A token's name has up to 100 letters, digits and . _ - @.");
  return withStore(options, context, async (store, hasToken) => {
    const { principal = name, scopes, expires: lifeMs } = options;
    const secret = await store.add({ name, principal, scopes, ...(lifeMs !== undefined && { lifeMs }) });
    const { terminal } = context;
    if (options.json) terminal.out(`${JSON.stringify({ name, principal, scopes, secret })}\n`);
    else {
      terminal.out(`${secret}\n`);
      terminal.say(`This is ${principal}'s token (${scopes.join(", ")}). It is not shown again.`);
    }
    if (!hasToken)
      terminal.say("It has no effect yet: without MANYHANDS_TOKEN (or [server] token) servers ask nobody for a token.");
  });
}

/** Lists the tokens, without their secrets. */
export async function listTokens(options: TokensOptions, context: CliContext): Promise<number> {
  return withStore(options, context, async (store) => {
    const tokens = (await store.list()).map(({ createdAt, expiresAt, usedAt, ...token }) => ({
      ...token,
      createdAt: dated(createdAt),
      ...(expiresAt !== undefined && { expiresAt: dated(expiresAt) }),
      ...(usedAt !== undefined && { usedAt: dated(usedAt) }),
    }));
    if (options.json) return context.terminal.out(`${JSON.stringify(tokens, undefined, 2)}\n`);
    if (tokens.length === 0)
      return context.terminal.out(`There are no tokens. Make one: ${ownCommand} tokens add NAME\n`);
    for (const { name, principal, scopes, expiresAt = "never", usedAt = "never" } of tokens)
      context.terminal.out(
        `${name}  ·  ${principal}  ·  ${scopes.join(",")}  ·  expires ${expiresAt}  ·  used ${usedAt}\n`,
      );
  });
}

/** Revokes a token, for every server of the home at once. */
export async function revokeToken(name: string, options: TokensOptions, context: CliContext): Promise<number> {
  return withStore(options, context, async (store) => {
    const revoked = (await store.list()).find((token) => token.name === name);
    await store.revoke(name);
    context.terminal.say(`Revoked ${name}.`);
    if (revoked === undefined || !mayStart(revoked)) return;
    const { principal } = revoked;
    if ((await store.list()).some((token) => token.principal === principal && mayStart(token))) return;
    context.terminal.say(`${principal} has no token left that may start runs: schedules added with one start nothing.`);
  });
}

function mayStart({ scopes }: { readonly scopes: readonly string[] }): boolean {
  return scopes.some((scope) => scope !== "read");
}

async function withStore(
  { config: file }: TokensOptions,
  context: CliContext,
  act: (store: AuthStore, hasToken: boolean) => Promise<unknown>,
): Promise<number> {
  const config = await context.configure(file);
  const { openTokens } = await import("manyhands/internal/server/storage/open-shared");
  const store = await openTokens(config);
  try {
    await act(store, config.server.token !== undefined);
    return exitCodes.ok;
  } finally {
    await store.close();
  }
}

function dated(at: number): string {
  return new Date(at).toISOString();
}
