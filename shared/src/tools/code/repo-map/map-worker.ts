import { extname } from "node:path";
import { Language, Parser } from "@vscode/tree-sitter-wasm";
import { grammarOf } from "./grammars.ts";
import { type MappedFile, type MappedSymbol, mapReply, mapRequest } from "./map-protocol.ts";
import { scoreFiles } from "./score-files.ts";
import { symbolsOf } from "./symbols-of.ts";

/**
 * Started by `repo_map` for one map: parses the files it reads from standard input and writes their
 * definitions.
 */

const oneFileMs = 2000;
const maxMemoryBytes = 1.5 * 2 ** 30;

await Parser.init();
const parser = new Parser();
const languages = new Map<string, Language>();

const { files, timeoutMs } = mapRequest.parse(await Bun.stdin.json());
const read: { path: string; text: string; symbols: MappedSymbol[] }[] = [];
for (const { path, text } of files) {
  if (performance.now() > timeoutMs || process.memoryUsage.rss() > maxMemoryBytes) break;
  read.push({ path, text, symbols: await symbolsIn(path, text) });
}
const scores = scoreFiles(read);
const mapped: MappedFile[] = read.map(({ path, symbols }, index) => ({ path, symbols, score: scores[index] ?? 0 }));
process.stdout.write(JSON.stringify(mapReply.parse({ files: mapped })));

async function symbolsIn(path: string, text: string): Promise<MappedSymbol[]> {
  const grammar = grammarOf[extname(path).toLowerCase()];
  if (grammar === undefined) return [];
  const language = languages.get(grammar) ?? (await Language.load(grammarFile(grammar)));
  languages.set(grammar, language);
  parser.setLanguage(language);
  const deadline = performance.now() + oneFileMs;
  const tree = parser.parse(text, null, { progressCallback: () => performance.now() > deadline });
  if (tree === null) {
    parser.reset();
    return [];
  }
  try {
    return symbolsOf(tree.rootNode, text);
  } finally {
    tree.delete();
  }
}

function grammarFile(grammar: string): string {
  return Bun.fileURLToPath(import.meta.resolve(`@vscode/tree-sitter-wasm/wasm/tree-sitter-${grammar}.wasm`));
}
