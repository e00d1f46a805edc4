import { basename } from "node:path";
import * as z from "zod";
import { AppError } from "../../../core/errors.ts";
import { sanitizeLine } from "../../../core/text/sanitize.ts";
import { sha256Of } from "../../../core/text/sha256.ts";
import { bytesInWords } from "../../../machine/sandbox/limits.ts";
import type { ArchiveEntry } from "../archive/archive-entry.ts";
import { runGit } from "./run-git.ts";
import type { RemoteDeps } from "./upload-pack.ts";

/**
 * The entries of a clone with the content of its Git LFS files in place of their pointers, as far
 * as the server gives it out. The rest is known once all entries were read.
 */
export type LfsClone = {
  readonly entries: AsyncIterable<ArchiveEntry>;
  /** The sizes of the files whose content came, by their paths in the clone. */
  readonly fetched: ReadonlyMap<string, number>;
  /** Why the others have a pointer still, by their paths in the clone. */
  readonly missing: ReadonlyMap<string, string>;
  /** How many bytes came. */
  bytes(): number;
};

const maxFiles = 200;
const maxTotalBytes = 200 * 1024 ** 2;
const maxBatch = 2 * 1024 ** 2;
const askMs = 30_000;
const fetchMs = 180_000;
/** By the specification a pointer is shorter than this. */
const longestPointer = 1024;
const longestAttributes = 100_000;
const agent = { "user-agent": "git-lfs/3.0 (manyhands)", "accept-encoding": "identity" };
const media = "application/vnd.git-lfs+json";

/** https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md; without extensions. */
const pointer = /^version https:\/\/git-lfs\.github\.com\/spec\/v1\noid sha256:([0-9a-f]{64})\nsize (\d{1,12})\n$/;

const download = z.looseObject({
  href: z.string().max(8_000),
  header: z.record(z.string().regex(/^[\w-]{1,100}$/), z.string().max(8_000)).optional(),
});
/** https://github.com/git-lfs/git-lfs/blob/main/docs/api/batch.md */
const batch = z.looseObject({
  objects: z.array(
    z.looseObject({
      oid: z.string(),
      error: z.looseObject({ message: z.string().optional() }).optional(),
      actions: z.looseObject({ download: download.optional() }).optional(),
    }),
  ),
});

type Held = {
  readonly entry: ArchiveEntry;
  readonly path: string;
  readonly pointer: Uint8Array;
  readonly oid: string;
  readonly size: number;
};
type Place = { readonly href: string; readonly headers: Readonly<Record<string, string>> };

/**
 * Takes the pointers out of a clone's entries and asks the repository's server for what they stand
 * for, each request subject to the egress policy. Content that is not what its pointer says is
 * dropped. What cannot be fetched is no reason to refuse the clone.
 */
export function lfsCloneOf(entries: AsyncIterable<ArchiveEntry>, address: string, deps: RemoteDeps): LfsClone {
  const fetched = new Map<string, number>();
  const missing = new Map<string, string>();
  let bytes = 0;

  async function* replaced(): AsyncGenerator<ArchiveEntry> {
    const held: Held[] = [];
    let isUsed = false;
    for await (const entry of entries) {
      if (entry.kind !== "file" || /(?:^|\/)\.git\//.test(entry.path)) {
        yield entry;
        continue;
      }
      const isAttributes = basename(entry.path) === ".gitattributes";
      const { beginning, rest } = await begun(entry, isAttributes ? longestAttributes : longestPointer);
      const text = Buffer.from(beginning).toString("latin1");
      isUsed ||= isAttributes && text.includes("filter=lfs");
      const [, oid, size = ""] = (isAttributes ? null : pointer.exec(text)) ?? [];
      const path = entry.path.slice(entry.path.indexOf("/") + 1);
      if (oid !== undefined) held.push({ entry, path, pointer: beginning, oid, size: Number(size) });
      else yield { ...entry, content: () => joined(beginning, rest) };
    }
    const places = isUsed ? await placesOf(held.slice(0, maxFiles), address, deps) : new Map<string, Place | string>();
    for (const { entry, path, pointer, oid, size } of held) {
      const place = places.get(oid) ?? `more than ${maxFiles} files`;
      const content = isUsed ? await contentAt(place, { oid, size, left: maxTotalBytes - bytes }, deps) : undefined;
      if (content instanceof Uint8Array) {
        bytes += content.length;
        fetched.set(path, content.length);
      } else if (content !== undefined) missing.set(path, content);
      const kept = content instanceof Uint8Array ? content : pointer;
      yield { ...entry, content: () => joined(kept) };
    }
  }

  return { entries: replaced(), fetched, missing, bytes: () => bytes };
}

/**
 * Tells git to take no notice of these files, which are not what it has: without git-lfs it would
 * commit their content in place of their pointers. False if it does not take that.
 */
export async function hideFromGit(
  folder: string,
  paths: Iterable<string>,
  { workspace, sandbox, signal }: { readonly workspace: string } & Parameters<typeof runGit>[1],
): Promise<boolean> {
  const input = [new TextEncoder().encode([...paths].map((path) => `${path}\0`).join(""))];
  const script = 'cd -- "$1" && git update-index -z --skip-worktree --stdin';
  const bounds = { workspace, timeoutMs: 20_000, maxBytes: 100_000 };
  const { exitCode } = await runGit({ ...bounds, script, args: [folder], input }, { sandbox, signal });
  return exitCode === 0;
}

/** Where the server has each object, or why it does not give it out. */
async function placesOf(
  held: readonly Held[],
  address: string,
  { egress, hosts, signal }: RemoteDeps,
): Promise<ReadonlyMap<string, Place | string>> {
  if (held.length === 0) return new Map();
  const objects = [...new Map(held.map(({ oid, size }) => [oid, { oid, size }])).values()];
  const all = (why: string) => new Map(objects.map(({ oid }) => [oid, why]));
  const own = `${address.replace(/\.git$/, "")}.git/`;
  try {
    const answer = await egress.fetch({
      url: `${own}info/lfs/objects/batch`,
      headers: { ...agent, ...hosts.authorization(address), accept: media, "content-type": media },
      body: JSON.stringify({ operation: "download", transfers: ["basic"], hash_algo: "sha256", objects }),
      ...{ signal, timeoutMs: askMs, maxBytes: maxBatch },
      admit: async (url) => hosts.admit(url),
    });
    if (answer.status !== 200) return all(`its server answers with status ${answer.status}`);
    const read = batch.safeParse(JSON.parse(Buffer.from(answer.body).toString("utf8")));
    if (!read.success) return all("its server's answer is not one of Git LFS");
    return new Map(
      read.data.objects.map(({ oid, error, actions }): [string, Place | string] => {
        const at = actions?.download;
        if (at === undefined) return [oid, sanitizeLine(error?.message ?? "its server does not have it", 200)];
        const known = at.href.startsWith(own) ? hosts.authorization(address) : {};
        return [oid, { href: at.href, headers: at.header === undefined ? known : withoutWire(at.header) }];
      }),
    );
  } catch (error) {
    return all(reasonOf(error, signal));
  }
}

const wire = ["connection", "content-length", "expect", "host", "te", "trailer", "transfer-encoding", "upgrade"];

/** Headers that a server wants to have sent, without those that say how a message is sent. */
function withoutWire(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !wire.includes(name.toLowerCase())));
}

/** The content itself, or why it did not come. */
async function contentAt(
  place: Place | string,
  { oid, size, left }: Pick<Held, "oid" | "size"> & { readonly left: number },
  { egress, hosts, signal }: RemoteDeps,
): Promise<Uint8Array | string> {
  if (typeof place === "string") return place;
  if (size > left) return `more than ${bytesInWords(maxTotalBytes)} in all`;
  try {
    const { status, body } = await egress.fetch({
      url: place.href,
      headers: { ...place.headers, ...agent },
      ...{ signal, timeoutMs: fetchMs, maxBytes: Math.max(1, size) },
      admit: async (url) => hosts.admit(url),
    });
    if (status !== 200) return `its server answers with status ${status}`;
    const isIt = body.length === size && sha256Of(body) === oid;
    return isIt ? body : "what came is not what the pointer says";
  } catch (error) {
    return reasonOf(error, signal);
  }
}

function reasonOf(error: unknown, signal: AbortSignal): string {
  signal.throwIfAborted();
  if (error instanceof AppError) return sanitizeLine(error.message, 200);
  if (error instanceof SyntaxError) return "its server's answer is not one of Git LFS";
  throw error;
}

type Rest = AsyncIterator<Uint8Array> | undefined;

/** The first bytes of a file, and the rest of it if it is longer than `most`. */
async function begun(entry: ArchiveEntry, most: number): Promise<{ beginning: Uint8Array; rest: Rest }> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const all = entry.content()[Symbol.asyncIterator]();
  while (length <= most) {
    const { done, value } = await all.next();
    if (done === true) return { beginning: Buffer.concat(chunks), rest: undefined };
    chunks.push(value.slice());
    length += value.length;
  }
  return { beginning: Buffer.concat(chunks), rest: all };
}

async function* joined(beginning: Uint8Array, rest?: Rest): AsyncGenerator<Uint8Array> {
  yield beginning;
  while (rest !== undefined) {
    const { done, value } = await rest.next();
    if (done === true) return;
    yield value;
  }
}
