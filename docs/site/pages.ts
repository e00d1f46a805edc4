import { join } from "node:path";

const folder = join(import.meta.dir, "..");

/** A page: its address on the site, its title, and its first sentences. */
export type Page = { readonly path: string; readonly title: string; readonly about: string };

/**
 * A part of the documentation, with the pages that come first in their order and the others by
 * name. The folders of `groups` in it have titles of their own.
 */
export type Part = {
  readonly title: string;
  readonly folder: string;
  readonly first: readonly [string, ...string[]];
  readonly groups?: Readonly<Record<string, string>>;
};

/** The parts, in the order in which a reader needs them. */
export const parts: readonly Part[] = [
  {
    title: "Tutorial",
    folder: "tutorial",
    first: ["first-task", "first-agent", "first-tool", "first-flow", "first-mcp-server"],
  },
  {
    title: "How-to",
    folder: "how-to",
    first: ["providers", "pull-requests", "deploy", "secure", "watch", "keep", "debug"],
  },
  {
    title: "Reference",
    folder: "reference",
    first: [
      "configuration",
      "command-line",
      "tools",
      "flows",
      "gateway",
      "a2a",
      "mcp",
      "skills",
      "memory",
      "events",
      "api",
      "recovery",
      "figures",
    ],
  },
  {
    title: "Decisions",
    folder: "decisions",
    first: ["durability/own-durable-engine"],
    groups: {
      durability: "Runs that last",
      safety: "Safety",
      agents: "Agents and models",
      protocols: "Protocols",
      project: "The project",
    },
  },
];

/** The pages of a part, those of its groups included. */
export async function pagesOf({ folder: part, first }: Part): Promise<Page[]> {
  const names = [...new Bun.Glob("**/*.md").scanSync({ cwd: join(folder, part) })].map((name) => name.slice(0, -3));
  const rest = names.filter((name) => !first.includes(name)).toSorted();
  return Promise.all([...first, ...rest].map((name) => readPage(`${part}/${name}`)));
}

async function readPage(path: string): Promise<Page> {
  const text = await Bun.file(join(folder, `${path}.md`)).text();
  const [, title = "", opening = ""] = /^# (.+)\n+([\s\S]*?)(?=\n\n|\n#|$)/.exec(text) ?? [];
  return { path, title, about: firstSentence(opening) };
}

/** The first sentence, without Markdown's links and marks. */
function firstSentence(text: string): string {
  const plain = text
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll("**", "")
    .replaceAll(/\s+/g, " ")
    .replace(/^(?:Decided: |- )/, "");
  const sentence = /^.*?[.:](?= |$)/.exec(plain)?.[0].replace(/:$/, ".") ?? plain;
  return sentence.slice(0, 1).toUpperCase() + sentence.slice(1);
}

/** `llms.txt`: what a language model reads first (llmstxt.org). */
export async function llmsText(): Promise<string> {
  const sections = await Promise.all(
    parts.map(async (part) => {
      const pages = await pagesOf(part);
      const lines = pages.map(({ path, title, about }) => `- [${title}](${path}.md): ${about}`);
      return `## ${part.title}\n\n${lines.join("\n")}`;
    }),
  );
  return `${head}\n\n${sections.join("\n\n")}\n`;
}

const head = `# Manyhands

> AI agents that plan, use tools and finish tasks, and flows that put several of them to work. Each
> agent is a server that speaks A2A; every task is a durable run; tools run in a sandbox. Written in
> TypeScript for Bun; the public package is \`manyhands\`.`;
