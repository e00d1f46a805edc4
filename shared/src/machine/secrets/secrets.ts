import { sleep } from "../../core/async/sleep.ts";
import { AppError, errnoOf } from "../../core/errors.ts";
import type { KeptText } from "../../core/text/kept-text.ts";
import { readSecret, type SecretSource } from "./secret-source.ts";
import { oneTimeCode } from "./totp.ts";
import { patternOf } from "./value-pattern.ts";

/** `totp`: the source has a seed, of which the present code is typed, or the code itself. */
export type SecretKind = "password" | "totp" | "text";

/** A secret that the settings name. */
export type NamedSecret = {
  readonly name: string;
  readonly kind: SecretKind;
  /** The origins that it may be typed at, such as `https://shop.example`. */
  readonly sites: readonly string[];
  readonly source: SecretSource;
  /** Who may have it typed; `*` means every principal. */
  readonly principals: readonly string[];
  /** Whether a person decides each time. */
  readonly ask: boolean;
};

/** A value to type now; a one-time code counts for so many seconds more. */
export type RevealedSecret = { readonly value: string; readonly seconds?: number };

/**
 * The secrets of a process. Their values are read when they are typed, and from then on replaced in
 * whatever a model is to read.
 */
export interface Secrets {
  /** Those that a principal may have typed at this origin. */
  at(principal: string, origin: string): readonly NamedSecret[];
  named(name: string): NamedSecret | undefined;
  /**
   * Reads the value. Where a one-time code counts for less than `leastSeconds`, it is the next one.
   * Rejects with an AppError that does not quote it, or the signal's reason.
   */
  reveal(secret: NamedSecret, signal: AbortSignal, leastSeconds?: number): Promise<RevealedSecret>;
  /**
   * Reads what is at hand without asking anybody (variables and files), and from programs what has
   * been typed before, so that a page that shows what was typed before a restart tells no model.
   * Never rejects: resolves with what could not be read, and so cannot be hidden, in sentences.
   */
  recollect(signal: AbortSignal): Promise<readonly string[]>;
  /** Whether any value was read. */
  hasTyped(): boolean;
  /** The text with every value that was read replaced by its name. */
  redact(text: string): string;
  /**
   * The name of a secret whose value is in the text, if it was read; with `unlessAt`, only if it
   * may not be at that origin.
   */
  heldIn(text: string, unlessAt?: string): string | undefined;
}

const shortest = 4;
const longest = 4_096;
const maxKnown = 200;
/** A code that counts for less than this would be refused by the time it is sent. */
const shortestLife = 3;

type Known = Pick<NamedSecret, "name" | "sites"> & { readonly pattern: RegExp };

/**
 * The secrets of these settings. `typed` keeps the names of those from programs that have been
 * typed, never a value.
 */
export function createSecrets(all: readonly NamedSecret[], typed?: KeptText): Secrets {
  const known = new Map<string, Known>();
  const remember = ({ name, sites }: NamedSecret, value: string): void => {
    known.delete(value);
    known.set(value, { name, sites, pattern: patternOf(value) });
    const [oldest] = known.keys();
    if (known.size > maxKnown && oldest !== undefined) known.delete(oldest);
  };
  return {
    at: (principal, origin) =>
      all.filter(
        ({ principals, sites }) =>
          sites.includes(origin) && (principals.includes(principal) || principals.includes("*")),
      ),
    named: (name) => all.find((secret) => secret.name === name),
    async reveal(secret, signal, leastSeconds = shortestLife) {
      const read = await readSecret(secret.name, secret.source, signal);
      const revealed = secret.kind === "totp" ? await codeOf(read, leastSeconds, signal) : { value: read };
      checkLength(secret, revealed.value);
      if (secret.kind !== "totp" && !isAtHand(secret.source))
        await typed?.change((names) => withName(names, secret.name));
      remember(secret, revealed.value);
      return revealed;
    },
    async recollect(signal) {
      const unread: string[] = [];
      const names = namesIn(
        await typed?.read().catch((error: unknown) => {
          unread.push(`Which programs' secrets were typed before cannot be read (${errnoOf(error) ?? String(error)}).`);
          return undefined;
        }),
      );
      // A code that was typed before has expired.
      const wanted = all.filter(
        ({ kind, source, name }) => kind !== "totp" && (isAtHand(source) || names.includes(name)),
      );
      const recollected = wanted.map(async (secret) => {
        const value = await readSecret(secret.name, secret.source, signal);
        checkLength(secret, value);
        remember(secret, value);
      });
      for (const read of await Promise.allSettled(recollected))
        if (read.status === "rejected")
          unread.push(read.reason instanceof AppError ? read.reason.message : String(read.reason));
      return unread;
    },
    hasTyped: () => known.size > 0,
    redact(text) {
      let shown = text;
      for (const { name, pattern } of known.values()) shown = shown.replace(pattern, `[secret ${name}]`);
      return shown;
    },
    heldIn(text, unlessAt) {
      for (const { name, sites, pattern } of known.values())
        if (!(unlessAt !== undefined && sites.includes(unlessAt)) && text.search(pattern) !== -1) return name;
      return undefined;
    },
  };
}

/** The names of a list, one a line. */
function namesIn(list: string | undefined): readonly string[] {
  return (list ?? "").split("\n").filter((name) => name !== "");
}

function withName(list: string | undefined, name: string): string {
  return [...new Set([...namesIn(list), name])].join("\n");
}

/** Programs may ask a person to unlock something, or cost. */
function isAtHand(source: SecretSource): boolean {
  return "env" in source || "file" in source;
}

/** The code now, or the next one where this one ends too soon. */
async function codeOf(read: string, leastSeconds: number, signal: AbortSignal): Promise<RevealedSecret> {
  if (/^\d{6,8}$/.test(read)) return { value: read };
  const now = oneTimeCode(read, Date.now());
  if (now.seconds >= leastSeconds) return { value: now.code, seconds: now.seconds };
  await sleep(now.seconds * 1000 + 50, signal);
  const next = oneTimeCode(read, Date.now());
  return { value: next.code, seconds: next.seconds };
}

/** A shorter value could not be told from other words, and so not be hidden. */
function checkLength({ name }: NamedSecret, { length }: string): void {
  if (length >= shortest && length <= longest) return;
  throw new AppError(
    "config_invalid",
    `The secret ${name} must have ${shortest} to ${longest} characters to be typed and hidden.`,
  );
}
