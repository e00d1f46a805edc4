import type { KeptText } from "./kept-text.ts";

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
