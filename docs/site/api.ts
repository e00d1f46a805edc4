import { basename, join } from "node:path";
import type { Node } from "typescript/unstable/ast";
import {
  isClassDeclaration,
  isFunctionDeclaration,
  isTypeAliasDeclaration,
  isVariableDeclaration,
} from "typescript/unstable/ast/is";
import {
  API,
  type Checker,
  NodeBuilderFlags,
  type Project,
  type Symbol as TsSymbol,
  type Type,
} from "typescript/unstable/async";

import { slug } from "./slug.ts";
import { wrapped } from "./wrap.ts";

const root = join(import.meta.dir, "../..");
const folder = join(root, "shared/src/public");
/** In the order in which a reader needs them. */
const entries = ["manyhands", "tools", "flows", "testing", "a2a", "mcp", "models", "durable"];

/**
 * An export of a public entry: its doc sentences and its declaration as TypeScript, without bodies.
 */
export type Export = { readonly name: string; readonly doc: string; readonly declaration: string; readonly id: string };

/** A public entry: its name in an import, what it is for, and its exports. */
export type Entry = { readonly name: string; readonly about: string; readonly exports: readonly Export[] };

/** Every public entry, as the compiler sees it. */
export async function readEntries(): Promise<Entry[]> {
  const files = [...new Bun.Glob("*.ts").scanSync({ cwd: folder })].map((name) => basename(name, ".ts"));
  const unlisted = files.filter((name) => !entries.includes(name));
  if (unlisted.length > 0) throw new Error(`The reference knows no entry ${unlisted.join(", ")}.`);
  const api = new API({ cwd: root });
  try {
    const snapshot = await api.updateSnapshot({ openProjects: [join(import.meta.dir, "tsconfig.json")] });
    const [project] = snapshot.getProjects();
    if (project === undefined) throw new Error("The compiler opened no project.");
    const found: Entry[] = [];
    for (const name of entries) found.push(await readEntry(name, project));
    return await laidOut(found);
  } finally {
    await api.close();
  }
}

async function readEntry(name: string, project: Project): Promise<Entry> {
  const { checker, program } = project;
  const file = await program.getSourceFile(join(folder, `${name}.ts`));
  const module = file && (await checker.getSymbolAtLocation(file));
  if (file === undefined || module === undefined) throw new Error(`The compiler does not know ${name}.ts.`);
  const exported = await checker.getExportsOfModule(module);
  const comment = /^\/\*\*([\s\S]*?)\*\//.exec(file.text)?.[1] ?? "";
  const about = comment.replaceAll(/\s*\n \* ?/g, " ").trim();
  const exports: Export[] = [];
  for (const symbol of exported.toSorted((one, other) => one.name.localeCompare(other.name)))
    exports.push(await readExport(symbol, checker));
  return { name: name === "manyhands" ? name : `manyhands/${name}`, about, exports };
}

async function readExport(symbol: TsSymbol, checker: Checker): Promise<Export> {
  const real = await checker.getAliasedSymbol(symbol);
  const [handle] = real.declarations;
  const node = await handle?.resolve();
  if (handle === undefined || node === undefined) throw new Error(`${symbol.name} is declared nowhere.`);
  const doc = await checker.getDocumentationCommentOfSymbol(real);
  return {
    name: symbol.name,
    doc: doc.replaceAll(/\s*\n\s*/g, " ").trim(),
    declaration: renamed(await declarationOf(node, real, checker), real.name, symbol.name),
    id: `${handle.path}#${real.name}`,
  };
}

/**
 * The declaration as it is written, without bodies. A type that is computed from a value or a
 * schema is shown as its result.
 */
async function declarationOf(node: Node, symbol: TsSymbol, checker: Checker): Promise<string> {
  const text = node.getText().replace(/^export (?:async )?/, "");
  if (isVariableDeclaration(node)) {
    if (node.type !== undefined) return `const ${symbol.name}: ${node.type.getText()}`;
    const type = await checker.getTypeOfSymbol(symbol);
    return `const ${symbol.name}: ${type && (await shown(type, checker))}`;
  }
  if (isFunctionDeclaration(node)) return upTo(node.body, node);
  if (isClassDeclaration(node)) {
    const members = node.members.map(
      (member) => `  ${upTo("body" in member ? (member.body as Node) : undefined, member)};`,
    );
    return `${text.slice(0, text.indexOf("{"))}{\n${members.join("\n").replaceAll(";;", ";")}\n}`;
  }
  if (
    isTypeAliasDeclaration(node) &&
    /^(?:Readonly<)?\(?(?:(?:keyof )?typeof |z\.(?:infer|input|output)<|EventOf<)/.test(node.type.getText())
  )
    return `type ${symbol.name} = ${await shown(await checker.getDeclaredTypeOfSymbol(symbol), checker)}`;
  return text;
}

function upTo(body: Node | undefined, node: Node): string {
  const text = node.getText();
  const own = body === undefined ? text : text.slice(0, body.getStart() - node.getStart());
  return own.replace(/^export (?:async )?/, "").trimEnd();
}

function shown(type: Type, checker: Checker): Promise<string> {
  return checker.typeToString(type, undefined, NodeBuilderFlags.NoTruncation | NodeBuilderFlags.InTypeAlias);
}

/** Lays out declarations that are too wide, as the sources are: computed types come on one line. */
async function laidOut(entries: readonly Entry[]): Promise<Entry[]> {
  const between = "\n// next\n";
  const isWide = ({ declaration }: Export) => declaration.split("\n").some((line) => line.length > 120);
  const wide = entries.flatMap((entry) => entry.exports).filter(isWide);
  const format = [join(root, "node_modules/.bin/biome"), "format", "--stdin-file-path=declarations.d.ts"];
  const stdin = new Blob([wide.map(({ declaration }) => declaration).join(between)]);
  const child = Bun.spawn(format, { cwd: root, stdin, stderr: "pipe" });
  const [text, fault] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  if ((await child.exited) !== 0) throw new Error(fault);
  const narrow = new Map(text.split(between).map((declaration, at) => [wide[at], declaration.trim()]));
  return entries.map((entry) => ({
    ...entry,
    exports: entry.exports.map((one) => ({ ...one, declaration: narrow.get(one) ?? one.declaration })),
  }));
}

function renamed(declaration: string, name: string, as: string): string {
  return name === as ? declaration : declaration.replace(new RegExp(`\\b${name}\\b`), as);
}

/** The reference of the public entries, as Markdown. */
export function apiPage(entries: readonly Entry[]): string {
  const first = new Map<string, string>();
  const sections = entries.map((entry) => {
    const exports = entry.exports.map((one) => {
      const from = first.get(one.id);
      first.set(one.id, from ?? entry.name);
      return `### ${one.name}\n\n${from === undefined ? described(one) : `As in [${from}](#${slug(from)}).`}`;
    });
    const names = entry.exports.map(({ name }) => `\`${name}\``).join(", ");
    return `## ${entry.name}\n\n${wrapped(`${entry.about} ${names}.`)}\n\n${exports.join("\n\n")}`;
  });
  return `${head}\n\n${sections.join("\n\n")}\n`;
}

const head = `# API

The public entries of the package \`manyhands\`, from the sources: each export with its declaration
and its doc sentences. \`bun docs/site/write.ts\` writes this page.`;

function described({ doc, declaration }: Export): string {
  return `${wrapped(doc)}\n\n\`\`\`ts\n${declaration}\n\`\`\``;
}
