import * as z from "zod";
import type { ToldResult } from "../../core/agent.ts";
import { sanitizeLine } from "../../core/text/sanitize.ts";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { Tool } from "../../core/tools/tool.ts";

/** The tool with which a model finds tools that are not in its prompt. */
export const findToolsName = "find_tools";

const input = z.strictObject({
  query: z.string().min(1).describe("What the tool should do, in a few words."),
  count: z.int().min(1).max(20).default(8).describe("Tools to find at most."),
});

/** Finds tools by what they do. The tools it finds are offered from the model's next turn on. */
export function findTools(tools: readonly Tool[]): Tool {
  const servers = [...new Set(tools.map(({ name }) => name.split("__")[0]))].sort();
  return defineTool({
    name: findToolsName,
    description: `Finds tools among ${tools.length} more that are not shown, of the MCP servers ${servers.join(", ").slice(0, 1_000)}. What it finds you can call from your next turn on.`,
    input,
    effect: "pure",
    brings: [],
    run: async ({ query, count }) => {
      const found = search(tools, query).slice(0, count);
      if (found.length === 0) return `No tool fits ${JSON.stringify(query)}. Try other words, or do without.`;
      return `From your next turn on you can call:\n${found.map(({ name, description }) => `- ${name}: ${sanitizeLine(description, 120)}`).join("\n")}`;
    },
  });
}

/** The tools that a task has found or called, by its results so far. */
export function foundTools(tools: readonly Tool[], told: readonly ToldResult[]): readonly Tool[] {
  const names = new Set<string>();
  for (const { name, text } of told) {
    names.add(name);
    if (name !== findToolsName) continue;
    for (const [, found] of text.matchAll(/^- ([\w-]{1,64}): /gm)) if (found !== undefined) names.add(found);
  }
  return tools.filter(({ name }) => names.has(name));
}

/**
 * A tool that scores less than this share of the best does not count as found: it matches only
 * common words of the query.
 */
const leastShare = 0.2;

/**
 * Tools that contain words of the query, best first. A rare word counts more than a common one, and
 * a word in all tools counts nothing; a name counts more than a description.
 */
function search(tools: readonly Tool[], query: string): readonly Tool[] {
  const indexed = tools.map((tool) => ({
    tool,
    name: new Set(wordsOf(tool.name)),
    all: new Set([
      ...wordsOf(tool.name),
      ...wordsOf(tool.description),
      ...Object.keys(propertiesOf(tool)).flatMap(wordsOf),
    ]),
  }));
  const words = [...new Set(wordsOf(query))];
  const weights = new Map(
    words.map((word) => {
      const holders = indexed.filter(({ all }) => hasWord(all, word)).length;
      return [word, Math.log((tools.length + 1) / (holders + 0.5))];
    }),
  );
  const score = ({ name, all }: (typeof indexed)[number]) =>
    words.reduce(
      (sum, word) => sum + (weights.get(word) ?? 0) * (hasWord(name, word) ? 2 : hasWord(all, word) ? 1 : 0),
      0,
    );
  const scored = indexed
    .map((one) => ({ tool: one.tool, score: score(one) }))
    .filter((one) => one.score > 0)
    .sort((one, other) => other.score - one.score);
  const least = (scored[0]?.score ?? 0) * leastShare;
  return scored.filter((one) => one.score >= least).map(({ tool }) => tool);
}

/** Whether the set has the word or a longer or shorter form of it: feed and feeding. */
function hasWord(words: ReadonlySet<string>, word: string): boolean {
  if (words.has(word)) return true;
  const isForm = (one: string) =>
    Math.min(one.length, word.length) > 3 && (one.startsWith(word) || word.startsWith(one));
  return [...words].some(isForm);
}

function propertiesOf({ inputSchema }: Tool): object {
  const { properties } = inputSchema;
  return typeof properties === "object" && properties !== null ? properties : {};
}

/** Words in lower case, camelCase split, without a plural's s. */
function wordsOf(text: string): string[] {
  return (
    text
      .replace(/([a-z])([A-Z])/g, "$1 $2")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  ).map((word) => (word.length > 3 ? word.replace(/s$/, "") : word));
}
