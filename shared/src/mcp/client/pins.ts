import type { Tool as Definition } from "@modelcontextprotocol/client";
import * as z from "zod";
import { AppError } from "../../core/errors.ts";
import type { KeptText } from "../../core/text/kept-text.ts";
import { sha256Of } from "../../core/text/sha256.ts";
import type { ServerConfig } from "./servers/server-config.ts";

/**
 * By the name of a tool. A record of the library would leave out `__proto__`, which then counts as
 * new.
 */
const hashes = z.custom<Readonly<Record<string, string>>>(
  (value) =>
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((hash) => typeof hash === "string"),
);

/** By server: its command or URL when it was approved, and the hash of each tool's definition. */
const pinsSchema = z.record(z.string(), z.strictObject({ server: z.string(), tools: hashes }));
type PinnedServers = z.output<typeof pinsSchema>;

/** The approved definitions. */
export interface ToolPins {
  /**
   * The tools among these whose definition is not the approved one. Tools seen for the first time
   * are approved, because the entry names their server; another command or URL under the same name
   * counts as another server.
   */
  changed(server: ServerConfig, definitions: readonly Definition[]): Promise<ReadonlySet<string>>;
  /** The definitions among these that are exactly the approved ones. */
  approved(server: ServerConfig, definitions: readonly Definition[]): Promise<readonly Definition[]>;
  /** Changes when the file changes. */
  version(): Promise<string>;
  /** Approves these definitions and forgets the server's others. */
  approve(server: ServerConfig, definitions: readonly Definition[]): Promise<void>;
}

/**
 * The pins in this text, which several processes may use. An unreadable text is an error: without
 * it every tool would count as new.
 */
export function createPins(kept: KeptText): ToolPins {
  let cached: { readonly version: string; readonly pins: PinnedServers } | undefined;
  const read = async (): Promise<PinnedServers> => {
    const version = await kept.version();
    if (cached?.version === version) return cached.pins;
    const pins = parsePins(await kept.read());
    cached = { version, pins };
    return pins;
  };
  const change = (name: string, next: (now: PinnedServers[string] | undefined) => PinnedServers[string]) =>
    kept.change((text) => {
      const { [name]: now, ...rest } = parsePins(text);
      return `${JSON.stringify({ ...rest, [name]: next(now) }, undefined, 2)}\n`;
    });
  return {
    version: kept.version,
    async changed(server, definitions) {
      const hashes = hashesOf(definitions);
      const known = (await read())[server.name];
      const pinned = known?.server === server.shown ? known.tools : {};
      const isPinned = ({ name }: Definition) => Object.hasOwn(pinned, name);
      const changed = definitions.filter((one) => isPinned(one) && pinned[one.name] !== hashes[one.name]);
      if (!definitions.every(isPinned))
        await change(server.name, (now) => {
          const before = now?.server === server.shown ? now.tools : {};
          return { server: server.shown, tools: { ...hashes, ...before } };
        });
      return new Set(changed.map(({ name }) => name));
    },
    async approved(server, definitions) {
      const known = (await read())[server.name];
      if (known?.server !== server.shown) return [];
      return definitions.filter((definition) => known.tools[definition.name] === definitionHash(definition));
    },
    approve: (server, definitions) =>
      change(server.name, () => ({ server: server.shown, tools: hashesOf(definitions) })),
  };
}

function parsePins(text: string | undefined): PinnedServers {
  if (text === undefined) return {};
  try {
    return pinsSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new AppError(
      "config_invalid",
      "What MCP servers may offer (mcp-pins.json in the home, or its row in the database) cannot be read. Remove it to approve everything anew.",
      { cause },
    );
  }
}

function hashesOf(definitions: readonly Definition[]): Record<string, string> {
  return Object.fromEntries(definitions.map((definition) => [definition.name, definitionHash(definition)]));
}

/**
 * The hash of everything a model or a policy relies on: name, texts, schemas, annotations. The
 * order of keys does not matter.
 */
function definitionHash({ name, title, description, inputSchema, outputSchema, annotations }: Definition): string {
  const text = JSON.stringify(sorted({ name, title, description, inputSchema, outputSchema, annotations }));
  return sha256Of(text);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, one]) => [key, sorted(one)]));
}
