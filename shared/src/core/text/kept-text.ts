import { AppError } from "../errors.ts";

/**
 * A text that several processes read and change: a file of a home, or a row that replicas share.
 */
export interface KeptText {
  /** Undefined if there is none. Rejects if it cannot be read. */
  read(): Promise<string | undefined>;
  /** Changes when the text does. */
  version(): Promise<string>;
  /**
   * Replaces the text by what `next` makes of it, in one step: no other change happens in between.
   * `next` may be called again with a newer text.
   */
  change(next: (now: string | undefined) => string): Promise<void>;
  /** Runs `work` while no other process that shares the text runs such work under this name. */
  alone<T>(name: string, work: () => Promise<T>): Promise<T>;
}

/** Texts that come and go, by name: files of a home, or rows that replicas share. */
export interface KeptTexts {
  /** The names of those that begin so. */
  names(prefix: string): Promise<readonly string[]>;
  text(name: string): KeptText;
  /**
   * Removes one, and whatever an interrupted change left of it, between other changes of it. False
   * if there was none.
   */
  remove(name: string): Promise<boolean>;
}

/** The text, made by `make` if there is none. If several processes make one, the first wins. */
export async function madeOnce(kept: KeptText, make: () => string): Promise<string> {
  const there = await kept.read();
  if (there !== undefined) return there;
  let text = "";
  await kept.change((now) => (text = now ?? make()));
  return text;
}

/**
 * Why a kept text cannot be used, and the ways out: a backup, or to do without, which means `lost`.
 */
export function damagedText(file: string, lost: string, cause?: unknown): AppError {
  const what = `${file} in the home, or its row in the database, is damaged.`;
  return new AppError("internal", `${what} Put the one of a backup in its place, or remove it: ${lost}.`, { cause });
}
