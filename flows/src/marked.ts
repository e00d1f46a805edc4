/**
 * A text that others wrote, between marks of this name, for a model to read as what it is. The same marks within it are made harmless, so that it cannot
 * end itself or begin another.
 */
export function marked(mark: string, text: string, about: Readonly<Record<string, string | number>> = {}): string {
  const facts = Object.entries(about).map(
    ([name, value]) => ` ${name}="${String(value).replaceAll(/["<>\s]+/g, " ")}"`,
  );
  const harmless = text.replaceAll(new RegExp(`<(?=\\s*/?\\s*${mark}\\b)`, "gi"), "&lt;");
  return `<${mark}${facts.join("")}>\n${harmless}\n</${mark}>`;
}
