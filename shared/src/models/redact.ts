const keyLike =
  /\b(?:sk|pk|rk|gsk|xai|key)[-_][\w*.-]{6,}|\bBearer\s+[^\s"']+|\bAIza[\w-]{10,}|([?&](?:api[-_]?key|key)=)[^&\s"]+/gi;

/** What servers that want no key are given ("none", "ollama") is a word like any other. */
const shortestKey = 8;

/** A text without the given key, and without anything that looks like one: providers quote keys, or parts of them, in errors. */
export function redactKeys(text: string, apiKey: string | undefined): string {
  const known = apiKey === undefined || apiKey.length < shortestKey ? text : text.replace(wholly(apiKey), "[key]");
  return known.replace(keyLike, (_, query: string | undefined) => `${query ?? ""}[key]`);
}

/** The key where it is no part of a longer word. */
function wholly(key: string): RegExp {
  return new RegExp(`(?<![\\w-])${RegExp.escape(key)}(?![\\w-])`, "g");
}
