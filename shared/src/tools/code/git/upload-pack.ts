import { AppError } from "../../../core/errors.ts";
import type { Egress } from "../../../machine/egress/egress.ts";
import type { EgressResponse } from "../../../machine/egress/fetch-within.ts";
import type { GitHosts } from "../git-host.ts";
import { packetLine, packetsOf, packetText } from "./packets.ts";

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
const maxAnswer = 5 * 1024 ** 2;
const maxPack = 100 * 1024 ** 2;
/** They become arguments of a command, and bubblewrap accepts 9,000. */
const maxShallow = 5_000;
const version = { "user-agent": "git/2.0 (manyhands)", "git-protocol": "version=2" };
const advertisement = "/info/refs?service=git-upload-pack";

/** Through what a server of repositories is asked, and what shows it who asks. */
export type RemoteDeps = { readonly egress: Egress; readonly hosts: GitHosts; readonly signal: AbortSignal };

/**
 * Finds the repository at an address, with each request subject to the egress policy and over
 * https. A token goes to the host that the address names, to no other that it leads to. Rejects
 * with `not_found` when there is none, with `unsupported` for a server that does not speak the
 * protocol, and as `Egress.fetch` does.
 */
export async function remoteRepository(
  address: string,
  { egress, hosts, signal }: RemoteDeps,
): Promise<RemoteRepository> {
  const admit = async (url: URL) => hosts.admit(url);
  const request = { headers: version, signal, timeoutMs: askMs, maxBytes: maxAnswer, admit };
  const named = { ...request, headers: { ...version, ...hosts.authorization(address) } };
  let found = await egress.fetch({ ...named, url: `${address}${advertisement}` });
  const isNamed = found.url.origin === new URL(address).origin;
  // A server of another origin has not yet received the protocol version.
  if (!isNamed) found = await egress.fetch({ ...request, url: found.url });
  checkAdvertisement(found, address);
  const base = found.url.href.slice(0, -advertisement.length);
  const known = isNamed ? hosts.authorization(base) : {};
  const ask = async (command: string, args: readonly string[], bounds: { timeoutMs: number; maxBytes: number }) => {
    const headers = { ...version, ...known, "content-type": "application/x-git-upload-pack-request" };
    const body = commandText(command, args);
    const answer = await egress.fetch({ ...request, ...bounds, headers, body, url: `${base}/git-upload-pack` });
    if (answer.status !== 200) throw new AppError("unavailable", `${base} answered with status ${answer.status}.`);
    return answer.body;
  };
  return {
    async refs(name) {
      const prefixes = ["HEAD", ...(name === undefined ? [] : [`refs/heads/${name}`, `refs/tags/${name}`])];
      const args = ["symrefs", ...prefixes.map((prefix) => `ref-prefix ${prefix}`)];
      return readRefs(await ask("ls-refs", args, { timeoutMs: askMs, maxBytes: maxAnswer }));
    },
    async fetch(oid, depth) {
      const args = ["no-progress", "ofs-delta", `deepen ${depth}`, `want ${oid}`, "done"];
      return readPack(await ask("fetch", args, { timeoutMs: fetchMs, maxBytes: maxPack }));
    },
  };
}

function checkAdvertisement({ status, headers, body, url }: EgressResponse, address: string): void {
  const none = new AppError(
    "not_found",
    `There is no public repository at ${address}, nor one that the settings give access to (status ${status}).`,
  );
  if ([401, 403, 404, 410].includes(status)) throw none;
  if (status !== 200) throw new AppError("unavailable", `${address} answered with status ${status}.`);
  const isGit = headers["content-type"]?.startsWith("application/x-git-upload-pack-advertisement");
  if (!isGit || !url.href.endsWith(advertisement)) throw none;
  const lines = [...packetsOf(body)].flatMap((packet) => (typeof packet === "string" ? [] : packetText(packet)));
  const fetches = lines.find((line) => line === "fetch" || line.startsWith("fetch="));
  if (!lines.includes("version 2") || !fetches?.includes("shallow"))
    throw new AppError("unsupported", `${address} does not speak version 2 of git's protocol.`);
  if (lines.some((line) => line.startsWith("object-format=") && line !== "object-format=sha1"))
    throw new AppError("unsupported", `${address} does not name its objects by SHA-1.`);
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
  if (shallow.length > maxShallow)
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
 * A message of lines in two sections, the command with its capabilities and its arguments, as
 * version 2 of the protocol specifies.
 */
function commandText(command: string, args: readonly string[]): string {
  return `${packetLine(`command=${command}`)}0001${args.map(packetLine).join("")}0000`;
}
