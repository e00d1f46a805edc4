import { AppError } from "../../../core/errors.ts";
import type { Egress } from "../../../machine/egress/egress.ts";
import type { EgressResponse } from "../../../machine/egress/fetch-within.ts";

/** A ref of a repository. `branch` is the ref that HEAD points to. */
type RemoteRef = { readonly oid: string; readonly name: string; readonly branch?: string };

/** Objects as the server packed them, and the commits whose parents it left out. */
export type FetchedPack = {
  readonly chunks: readonly Uint8Array[];
  readonly bytes: number;
  readonly shallow: readonly string[];
};

/** A repository that is read over https, by version 2 of git's protocol. */
export interface RemoteRepository {
  /** HEAD, and the branch and tag with this name. */
  refs(name: string | undefined): Promise<readonly RemoteRef[]>;
  /** The objects of a commit or tag and its last `depth` commits. */
  fetch(oid: string, depth: number): Promise<FetchedPack>;
}

const askMs = 30_000;
const fetchMs = 180_000;
const mostAnswer = 5 * 1024 ** 2;
const mostPack = 100 * 1024 ** 2;
/** They become arguments of a command, and bubblewrap accepts 9,000. */
const mostShallow = 5_000;
const version = { "user-agent": "git/2.0 (manyhands)", "git-protocol": "version=2" };
const advertisement = "/info/refs?service=git-upload-pack";

/**
 * Finds the repository at an address, with each request subject to the egress policy and over
 * https. Rejects with `not_found` when there is no public one, with `unsupported` for a server that
 * does not speak the protocol, and as `Egress.fetch` does.
 */
export async function remoteRepository(
  address: string,
  { egress, signal }: { readonly egress: Egress; readonly signal: AbortSignal },
): Promise<RemoteRepository> {
  const request = { headers: version, signal, timeoutMs: askMs, maxBytes: mostAnswer, admit: onlyHttps };
  let found = await egress.fetch({ ...request, url: `${address}${advertisement}` });
  // A server of another origin has not yet received the protocol version.
  if (found.url.origin !== new URL(address).origin) found = await egress.fetch({ ...request, url: found.url });
  checkAdvertisement(found, address);
  const base = found.url.href.slice(0, -advertisement.length);
  const ask = async (command: string, args: readonly string[], bounds: { timeoutMs: number; maxBytes: number }) => {
    const headers = { ...version, "content-type": "application/x-git-upload-pack-request" };
    const body = commandText(command, args);
    const answer = await egress.fetch({ ...request, ...bounds, headers, body, url: `${base}/git-upload-pack` });
    if (answer.status !== 200) throw new AppError("unavailable", `${base} answered with status ${answer.status}.`);
    return answer.body;
  };
  return {
    async refs(name) {
      const prefixes = ["HEAD", ...(name === undefined ? [] : [`refs/heads/${name}`, `refs/tags/${name}`])];
      const args = ["symrefs", ...prefixes.map((prefix) => `ref-prefix ${prefix}`)];
      return readRefs(await ask("ls-refs", args, { timeoutMs: askMs, maxBytes: mostAnswer }));
    },
    async fetch(oid, depth) {
      const args = ["no-progress", "ofs-delta", `deepen ${depth}`, `want ${oid}`, "done"];
      return readPack(await ask("fetch", args, { timeoutMs: fetchMs, maxBytes: mostPack }));
    },
  };
}

async function onlyHttps({ protocol, origin }: URL): Promise<void> {
  if (protocol !== "https:") throw new AppError("forbidden", `The address leads to ${origin}, which is not https.`);
}

function checkAdvertisement({ status, headers, body, url }: EgressResponse, address: string): void {
  const none = new AppError("not_found", `There is no public repository at ${address} (status ${status}).`);
  if ([401, 403, 404, 410].includes(status)) throw none;
  if (status !== 200) throw new AppError("unavailable", `${address} answered with status ${status}.`);
  const isGit = headers["content-type"]?.startsWith("application/x-git-upload-pack-advertisement");
  if (!isGit || !url.href.endsWith(advertisement)) throw none;
  const lines = [...packetsOf(body)].flatMap((packet) => (typeof packet === "string" ? [] : packetText(packet)));
  const fetches = lines.find((line) => line === "fetch" || line.startsWith("fetch="));
  if (!lines.includes("version 2") || !fetches?.includes("shallow"))
    throw new AppError("unsupported", `${address} does not speak version 2 of git's protocol.`);
  if (lines.some((line) => line.startsWith("object-format=") && line !== "object-format=sha1"))
    throw new AppError("unsupported", `${address} names its objects otherwise than by SHA-1.`);
}

function readRefs(answer: Uint8Array): RemoteRef[] {
  return [...packetsOf(answer)].flatMap((packet) => {
    if (typeof packet === "string") return [];
    const [oid = "", name = "", ...attributes] = packetText(packet).split(" ");
    if (!/^[0-9a-f]{40}$/.test(oid)) return [];
    const branch = attributes
      .map((each) => /^symref-target:(refs\/heads\/[\p{L}\p{N}._/+@#-]+)$/u.exec(each)?.[1])
      .find(Boolean);
    return [{ oid, name, ...(branch !== undefined && { branch }) }];
  });
}

/** The stream of a response that a packet belongs to, by its first byte. */
const [packStream, errorStream] = [1, 3];

function readPack(answer: Uint8Array): FetchedPack {
  const shallow: string[] = [];
  const chunks: Uint8Array[] = [];
  let inPack = false;
  for (const packet of packetsOf(answer)) {
    if (typeof packet === "string") continue;
    if (inPack && packet[0] === packStream) chunks.push(packet.subarray(1));
    else if (inPack && packet[0] === errorStream)
      throw new AppError("unavailable", `The server says: ${packetText(packet.subarray(1)).slice(0, 300)}`);
    else if (!inPack) {
      inPack = packetText(packet) === "packfile";
      const commit = /^shallow ([0-9a-f]{40})$/.exec(packetText(packet))?.[1];
      if (commit !== undefined) shallow.push(commit);
    }
  }
  if (shallow.length > mostShallow)
    throw new AppError("too_large", "So much of its history is more than can be cloned. Give a smaller depth.");
  const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
  if (bytes === 0) throw new AppError("unavailable", "The server's answer has no objects in it.");
  return { chunks, bytes, shallow };
}

/** What to check out: an object, with the full name of its branch or tag if it has one. */
export type ChosenRef = { readonly oid: string; readonly name?: string };

/**
 * The ref that a name means, or HEAD without a name: a branch before a tag before a commit. Throws
 * `not_found`.
 */
export function chooseRef(refs: readonly RemoteRef[], wanted: string | undefined): ChosenRef {
  if (wanted === undefined) {
    const head = refs.find(({ name }) => name === "HEAD");
    if (head === undefined) throw new AppError("not_found", "There is no commit in that repository.");
    return { oid: head.oid, ...(head.branch !== undefined && { name: head.branch }) };
  }
  for (const name of [`refs/heads/${wanted}`, `refs/tags/${wanted}`]) {
    const ref = refs.find((each) => each.name === name);
    if (ref !== undefined) return { oid: ref.oid, name };
  }
  if (/^[0-9a-f]{40}$/.test(wanted)) return { oid: wanted };
  throw new AppError("not_found", `There is no branch or tag ${wanted} there. A commit is named by all its 40 digits.`);
}

/**
 * A packet of git's protocol: its bytes, or the mark that ends a section (`delimiter`) or a message
 * (`flush`).
 */
export type Packet = Uint8Array | "flush" | "delimiter";

const headBytes = 4;

/**
 * A message of lines in two sections, the command with its capabilities and its arguments, as
 * version 2 of the protocol specifies.
 */
function commandText(command: string, args: readonly string[]): string {
  const line = (text: string) => `${(text.length + headBytes + 1).toString(16).padStart(headBytes, "0")}${text}\n`;
  return `${line(`command=${command}`)}0001${args.map(line).join("")}0000`;
}

/**
 * The packets of a response, one after the other. Throws `unavailable` when the response is cut
 * off, malformed, or the server's error message.
 */
function* packetsOf(bytes: Uint8Array): Generator<Packet> {
  for (let at = 0; at < bytes.length; ) {
    const head = Buffer.from(bytes.subarray(at, at + headBytes)).toString("latin1");
    const length = /^[0-9a-f]{4}$/i.test(head) ? Number.parseInt(head, 16) : Number.NaN;
    if (length === 0 || length === 1) {
      at += headBytes;
      yield length === 0 ? "flush" : "delimiter";
      continue;
    }
    const packet = bytes.subarray(at + headBytes, at + length);
    if (!(length >= headBytes) || packet.length !== length - headBytes)
      throw new AppError("unavailable", "The server's answer is cut off, or is not git's.");
    at += length;
    if (packetText(packet).startsWith("ERR "))
      throw new AppError("unavailable", `The server says: ${packetText(packet).slice(4, 304)}`);
    yield packet;
  }
}

/** A packet's text on one line, without its line ending; of a long text only the beginning. */
function packetText(packet: Uint8Array): string {
  return Buffer.from(packet.subarray(0, 2000))
    .toString("utf8")
    .replace(/\n$/, "")
    .replaceAll(/\p{Cc}/gu, " ");
}
