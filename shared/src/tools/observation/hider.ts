/** Removes from texts what no person could see, and what nobody should. */
export interface Hider {
  /** The text without the hidden parts; a password becomes dots. */
  text(value: string): string;
  /**
   * A label keeps its words, because an icon's button has no other name; `unseen` says that no
   * person sees them.
   */
  label(value: string): { readonly text: string; readonly unseen: boolean };
}

/** Shorter texts occur in words by chance: they are removed only when they are the whole text. */
const leastPart = 5;

/** A hider for one document's unseen texts and its passwords. */
export function createHider(unseen: readonly string[], passwords: readonly string[]): Hider {
  const alone = new Set(unseen);
  const parts = unseen.filter((text) => text.length >= leastPart).toSorted((a, b) => b.length - a.length);
  const pattern = parts.length === 0 ? undefined : new RegExp(parts.map((part) => RegExp.escape(part)).join("|"), "g");
  // An outline reports values without leading and trailing blanks.
  const secret = new Set(passwords.map(squeezed));
  return {
    text(value) {
      const plain = value.replaceAll("\u200b", "");
      if (secret.has(squeezed(plain))) return "•••";
      if (alone.has(plain.trim())) return "";
      return pattern === undefined ? plain : plain.replace(pattern, " ").replace(/ {2,}/g, " ").trim();
    },
    label(value) {
      const rest = this.text(value);
      return rest === "" && value !== "" ? { text: value, unseen: true } : { text: rest, unseen: false };
    },
  };
}

function squeezed(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
