import type { Json } from "../json.ts";
import type { ImagePart, ModelMessage, ModelRequest, TextPart, ToolChoice, ToolMessage, ToolSpec } from "../model.ts";

/** An image of a request, by its content. `size` in bytes. */
export type AskedImage = {
  readonly type: "image";
  readonly mediaType: string;
  readonly sha256: string;
  readonly size: number;
};

type UserMessage = Extract<ModelMessage, { role: "user" }>;

/** A message of a request, with images by their content. */
export type AskedMessage =
  | Exclude<ModelMessage, UserMessage | ToolMessage>
  | (Omit<UserMessage, "parts"> & { readonly parts: readonly (TextPart | AskedImage)[] })
  | (Omit<ToolMessage, "images"> & { readonly images?: readonly AskedImage[] });

/** A tool of a request. */
export type AskedTool = Omit<ToolSpec, "inputSchema"> & { readonly inputSchema: Json };

type Settings = {
  readonly toolChoice: ToolChoice;
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  readonly answerSchema?: Json;
};

/** What a model was asked, whole. */
export type AskedRequest = Settings & {
  readonly messages: readonly AskedMessage[];
  readonly tools: readonly AskedTool[];
};

/**
 * A list as a change to an earlier one: its first `keep` entries, then others. `marks` has a digest
 * for each of those.
 */
type ListChange<Entry> = { readonly keep: number; readonly add: readonly Entry[]; readonly marks: readonly string[] };

/**
 * What a model was asked, as the step of the call records it: by what is new since the request
 * `after` of the same run, so that a long conversation is stored once. `id` is unique in the run.
 */
export type RecordedRequest = Settings & {
  readonly id: string;
  readonly after?: string;
  readonly messages: ListChange<AskedMessage>;
  readonly tools: ListChange<AskedTool>;
};

/** A request that the next one may build on: the digests of its messages and tools. */
export type RequestMarks = { id: string; readonly messages: string[]; readonly tools: string[] };

/** Records a request by what is new since `last`, or whole without one. */
export function recordRequest(request: ModelRequest, id: string, last?: RequestMarks): RecordedRequest {
  const { messages, tools, toolChoice, maxOutputTokens, temperature, answerSchema } = request;
  const former = last && formerOf.get(last);
  if (last !== undefined) formerOf.set(last, { messages, tools });
  return {
    id,
    ...(last && { after: last.id }),
    messages: changeOf(messages, askedMessage, last?.messages, former?.messages),
    tools: changeOf(tools, askedTool, last?.tools, former?.tools),
    toolChoice,
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(answerSchema !== undefined && { answerSchema: answerSchema as Json }),
  };
}

/** The marks after a recorded request; `last`, which it changes, are those it was recorded with. */
export function marksAfter(recorded: RecordedRequest, last: RequestMarks | undefined): RequestMarks {
  const marks = last !== undefined && last.id === recorded.after ? last : { id: "", messages: [], tools: [] };
  marks.id = recorded.id;
  for (const list of ["messages", "tools"] as const) {
    marks[list].length = recorded[list].keep;
    marks[list].push(...recorded[list].marks);
  }
  return marks;
}

/** A recorded request, whole; undefined if it or one that it builds on is not among `recorded`. */
export function wholeRequest(recorded: readonly RecordedRequest[], id: string): AskedRequest | undefined {
  const byId = new Map(recorded.map((each) => [each.id, each]));
  const chain: RecordedRequest[] = [];
  for (let next: string | undefined = id; next !== undefined; ) {
    const found = byId.get(next);
    if (found === undefined || chain.length > recorded.length) return undefined;
    chain.unshift(found);
    next = found.after;
  }
  const messages: AskedMessage[] = [];
  const tools: AskedTool[] = [];
  for (const each of chain) {
    messages.splice(each.messages.keep, Number.POSITIVE_INFINITY, ...each.messages.add);
    tools.splice(each.tools.keep, Number.POSITIVE_INFINITY, ...each.tools.add);
  }
  const { id: _id, after: _after, messages: _messages, tools: _tools, ...settings } = chain.at(-1) as RecordedRequest;
  return { messages, tools, ...settings };
}

type Marked<Entry> = { readonly entry: Entry; readonly mark: string };

/**
 * The request that marks stand for, if it was made in this process: its messages and tools are the
 * same objects in the next one, which is quicker to see than that they are equal.
 */
const formerOf = new WeakMap<RequestMarks, Pick<ModelRequest, "messages" | "tools">>();

function changeOf<Item, Entry>(
  items: readonly Item[],
  mark: (item: Item) => Marked<Entry>,
  marks: readonly string[] = [],
  former: readonly Item[] = [],
): ListChange<Entry> {
  let keep = 0;
  while (keep < marks.length && keep < items.length && items[keep] === former[keep]) keep++;
  const later = items.slice(keep).map(mark);
  const same = later.findIndex((each, at) => each.mark !== marks[keep + at]);
  const added = same === -1 ? [] : later.slice(same);
  keep += later.length - added.length;
  return { keep, add: added.map(({ entry }) => entry), marks: added.map((each) => each.mark) };
}

const known = new WeakMap<ModelMessage | ToolSpec, Marked<AskedMessage> | Marked<AskedTool>>();

function askedMessage(message: ModelMessage): Marked<AskedMessage> {
  const found = known.get(message) as Marked<AskedMessage> | undefined;
  if (found !== undefined) return found;
  const marked = markedOf(withoutImages(message));
  known.set(message, marked);
  return marked;
}

function askedTool(tool: ToolSpec): Marked<AskedTool> {
  const found = known.get(tool) as Marked<AskedTool> | undefined;
  if (found !== undefined) return found;
  const { name, description, inputSchema } = tool;
  const marked = markedOf({ name, description, inputSchema: inputSchema as Json });
  known.set(tool, marked);
  return marked;
}

function markedOf<Entry>(entry: Entry): Marked<Entry> {
  return { entry, mark: digest(JSON.stringify(entry)).toString("base64url").slice(0, 22) };
}

function withoutImages(message: ModelMessage): AskedMessage {
  if (message.role === "user") {
    return { ...message, parts: message.parts.map((part) => (part.type === "image" ? askedImage(part) : part)) };
  }
  if (message.role !== "tool") return message;
  const { images, ...rest } = message;
  return { ...rest, ...(images && { images: images.map(askedImage) }) };
}

function askedImage({ mediaType, data }: ImagePart): AskedImage {
  const bytes = Buffer.from(data, "base64");
  return { type: "image", mediaType, sha256: digest(bytes).toString("hex"), size: bytes.length };
}

function digest(content: string | Uint8Array): Buffer {
  return new Bun.CryptoHasher("sha256").update(content).digest();
}
