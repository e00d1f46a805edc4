/** A text with its percent-encoded characters decoded; as it is where they are no text. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
