const keyLike =
  /\b(?:sk|pk|rk|gsk|xai|key)[-_][\w*.-]{6,}|\bBearer\s+[^\s"']+|\bAIza[\w-]{10,}|([?&](?:api[-_]?key|key)=)[^&\s"]+/gi;

/** A text without the given key, and without anything that looks like one: providers quote keys, or parts of them, in errors. */
export function redactKeys(text: string, apiKey: string | undefined): string {
  const known = apiKey === undefined ? text : text.replaceAll(apiKey, "[key]");
  return known.replace(keyLike, (_, query: string | undefined) => `${query ?? ""}[key]`);
}
