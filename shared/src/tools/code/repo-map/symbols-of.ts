import type { Node } from "@vscode/tree-sitter-wasm";
import { containers, leaves, wrappers } from "./grammars.ts";
import type { MappedSymbol } from "./map-protocol.ts";

const deepest = 12;
const maxSymbols = 2000;
const longestText = 100;

/**
 * The definitions of a parsed file in order: classes and their members, functions, types, exported
 * values.
 */
export function symbolsOf(root: Node, text: string): MappedSymbol[] {
  const lines = text.split("\n");
  const found: MappedSymbol[] = [];
  const add = (name: Node, depth: number) => {
    const { row } = name.startPosition;
    found.push({ line: row + 1, depth, name: name.text.slice(0, longestText), text: shown(lines[row] ?? "", name) });
  };
  const visit = (node: Node, level: number, depth: number, exported: boolean) => {
    if (level > deepest || found.length >= maxSymbols) return;
    const name = nameOf(node, exported);
    if (name !== undefined) add(name, depth);
    const isContainer = containers.has(node.type);
    if (level > 0 && !isContainer && !wrappers.has(node.type)) return;
    const inner = name === undefined ? depth : depth + 1;
    const out = node.type === "export_statement" || (exported && node.type === "lexical_declaration");
    const body = isContainer ? node.childForFieldName("body") : undefined;
    for (const child of (body ?? node).namedChildren)
      if (child !== null) visit(child, level + 1, isContainer ? inner : depth, out);
  };
  visit(root, 0, 0, false);
  return found;
}

function nameOf(node: Node, exported: boolean): Node | undefined {
  if (node.type === "variable_declarator") {
    const isFunction = /function/.test(node.childForFieldName("value")?.type ?? "");
    return exported || isFunction ? (node.childForFieldName("name") ?? undefined) : undefined;
  }
  if (!containers.has(node.type) && !leaves.has(node.type)) return undefined;
  if (node.type === "impl_item") return node.childForFieldName("type") ?? undefined;
  if (/_specifier$/.test(node.type) && node.childForFieldName("body") === null) return undefined;
  return node.childForFieldName("name") ?? declared(node.childForFieldName("declarator"));
}

/** The name inside C's nested declarators. */
function declared(declarator: Node | null): Node | undefined {
  let node = declarator;
  for (let level = 0; node !== null && level < deepest; level++) {
    const inner: Node | null = node.childForFieldName("declarator");
    if (inner === null) return node;
    node = inner;
  }
  return undefined;
}

/** The line that contains the name, or the name alone when the text is not in usable lines. */
function shown(line: string, name: Node): string {
  const text = line.trim().replace(/\s*[{:(]$/, "");
  return text.length <= longestText ? text : `… ${name.text.slice(0, longestText)} …`;
}
