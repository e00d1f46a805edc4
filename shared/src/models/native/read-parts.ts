import type { LanguageModelV4StreamPart, LanguageModelV4Usage, SharedV4ProviderMetadata } from "@ai-sdk/provider";
import type { Carried, ToolCall } from "../../core/model.ts";
import type { CountedTokens, Delta, ProtocolAnswer } from "../chat/protocol.ts";
import { ModelFailure } from "../model-failure.ts";
import { refusalAtEnd, refusalIn } from "./refusals.ts";

/**
 * One part of an answer as it goes back to its provider. The text and the calls are the answer's
 * own: a part of its text has a length, a call its place among the calls.
 */
export type CarriedPart =
  | { readonly type: "reasoning"; readonly text: string; readonly options?: SharedV4ProviderMetadata }
  | { readonly type: "text"; readonly length: number; readonly options?: SharedV4ProviderMetadata }
  | { readonly type: "call"; readonly options?: SharedV4ProviderMetadata };

type Finish = Extract<LanguageModelV4StreamPart, { type: "finish" }>;

type Block = {
  readonly type: "text" | "reasoning" | "call";
  readonly id: string;
  text: string;
  name: string;
  metadata?: SharedV4ProviderMetadata;
};

/** Reads an answer to its end, yielding each piece as it arrives. `of` names who gets it back. */
export async function* readParts(
  source: AsyncIterable<LanguageModelV4StreamPart>,
  of: string,
): AsyncGenerator<Delta, ProtocolAnswer> {
  const blocks: Block[] = [];
  let end: Finish | undefined;
  let refusal = "";
  for await (const part of source) {
    if (part.type === "error") throw part.error;
    if (part.type === "finish") end = part;
    const refused = refusalIn(part);
    refusal += refused ?? "";
    const delta = refused === undefined ? take(part, blocks) : said(refused, blocks);
    if (delta !== undefined) yield delta;
  }
  if (end?.finishReason.unified === "error")
    throw new ModelFailure(
      "unavailable",
      `the answer ended in an error (${end.finishReason.raw ?? "no reason given"})`,
    );
  const about = { reasoning: textOf(blocks, "reasoning"), usage: countedIn(end?.usage) };
  const text = textOf(blocks, "text");
  const why = refusalAtEnd(end, text);
  if (why !== undefined) {
    const delta = said(text.trim() === "" || why === "" ? why : `\n\n${why}`, blocks);
    if (delta !== undefined) yield delta;
    // What it had begun is not to be done.
    return { ...about, text: textOf(blocks, "text"), toolCalls: [], refused: true, finish: "stop" };
  }
  const carried = carriedOf(blocks, of);
  return {
    ...about,
    text,
    toolCalls: callsOf(blocks),
    ...(refusal !== "" && refusal === text && { refused: true }),
    finish: finishOf(end),
    ...(carried !== undefined && { carried }),
  };
}

/** More of the last text, or a first one. */
function said(text: string, blocks: Block[]): Delta | undefined {
  const id = blocks.findLast(({ type }) => type === "text")?.id ?? "said";
  return grown({ type: "text-delta", id, delta: text }, "text", blocks);
}

/** Whether a part carries some of the answer, not just metadata. */
export function saysSomething(part: LanguageModelV4StreamPart): boolean {
  return /^(text|reasoning|tool)/.test(part.type) || refusalIn(part) !== undefined;
}

/** Adds a part to the blocks, and returns what is new of the answer. */
function take(part: LanguageModelV4StreamPart, blocks: Block[]): Delta | undefined {
  switch (part.type) {
    case "text-start":
    case "text-delta":
    case "text-end":
      return grown(part, "text", blocks);
    case "reasoning-start":
    case "reasoning-delta":
    case "reasoning-end":
      return grown(part, "reasoning", blocks);
    case "tool-input-start": {
      const block = blockOf(blocks, "call", part.id);
      block.name = part.toolName;
      noted(block, part.providerMetadata);
      return { type: "tool-call-delta", index: indexOf(block, blocks), name: block.name, arguments: "" };
    }
    case "tool-input-delta": {
      const block = blockOf(blocks, "call", part.id);
      block.text += part.delta;
      noted(block, part.providerMetadata);
      return { type: "tool-call-delta", index: indexOf(block, blocks), name: block.name, arguments: part.delta };
    }
    case "tool-call": {
      const block = blockOf(blocks, "call", part.toolCallId);
      const rest = block.text === "" ? part.input : "";
      Object.assign(block, { name: part.toolName, text: part.input });
      noted(block, part.providerMetadata);
      return rest === ""
        ? undefined
        : { type: "tool-call-delta", index: indexOf(block, blocks), name: block.name, arguments: rest };
    }
    default:
      return undefined;
  }
}

type Growing = Extract<LanguageModelV4StreamPart, { type: `${"text" | "reasoning"}-${"start" | "delta" | "end"}` }>;

function grown(part: Growing, type: "text" | "reasoning", blocks: Block[]): Delta | undefined {
  // A provider may use an id again once its block has ended.
  const block = part.type.endsWith("-start") ? opened(blocks, type, part.id) : blockOf(blocks, type, part.id);
  noted(block, part.providerMetadata);
  if (!("delta" in part) || part.delta === "") return undefined;
  block.text += part.delta;
  return { type: `${type}-delta`, text: part.delta };
}

function blockOf(blocks: Block[], type: Block["type"], id: string): Block {
  return blocks.findLast((block) => block.type === type && block.id === id) ?? opened(blocks, type, id);
}

function opened(blocks: Block[], type: Block["type"], id: string): Block {
  const block: Block = { type, id, text: "", name: "" };
  blocks.push(block);
  return block;
}

function noted(block: Block, metadata: SharedV4ProviderMetadata | undefined): void {
  if (metadata === undefined) return;
  const merged = { ...block.metadata };
  for (const [provider, values] of Object.entries(metadata)) {
    // The former name of the same provider, with the same values.
    if (provider === "bedrock") continue;
    const known = Object.entries(values).filter(([, value]) => value !== undefined && value !== null);
    if (known.length > 0) merged[provider] = { ...merged[provider], ...Object.fromEntries(known) };
  }
  if (Object.keys(merged).length > 0) block.metadata = merged;
}

function indexOf(block: Block, blocks: readonly Block[]): number {
  return blocks.filter(({ type }) => type === "call").indexOf(block);
}

function textOf(blocks: readonly Block[], wanted: Block["type"]): string {
  return blocks.map(({ type, text }) => (type === wanted ? text : "")).join("");
}

function callsOf(blocks: readonly Block[]): readonly ToolCall[] {
  return blocks.filter(({ type }) => type === "call").map(({ id, name, text }) => ({ id, name, arguments: text }));
}

/** What the provider wants back: nothing, if it signed nothing. */
function carriedOf(blocks: readonly Block[], of: string): Carried | undefined {
  if (blocks.every(({ metadata }) => metadata === undefined)) return undefined;
  const parts = blocks.flatMap(({ type, text, metadata }): CarriedPart[] => {
    const options = metadata === undefined ? {} : { options: metadata };
    if (type === "text") return [{ type, length: text.length, ...options }];
    if (type === "call") return [{ type, ...options }];
    // Thinking that nobody signed cannot be sent back.
    return metadata === undefined ? [] : [{ type, text, ...options }];
  });
  return { of, parts: parts as Carried["parts"] };
}

/** An answer broke off if its provider said nothing of its end. */
function finishOf(end: Finish | undefined): ProtocolAnswer["finish"] {
  const { unified, raw } = end?.finishReason ?? { unified: "other", raw: undefined };
  if (unified === "other" && raw === undefined) return undefined;
  return unified === "length" || unified === "content-filter" ? unified : "stop";
}

function countedIn(usage: LanguageModelV4Usage | undefined): CountedTokens {
  return {
    input: usage?.inputTokens.total,
    cached: usage?.inputTokens.cacheRead,
    cacheWrite: usage?.inputTokens.cacheWrite,
    output: usage?.outputTokens.total,
  };
}
